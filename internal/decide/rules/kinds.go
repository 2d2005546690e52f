package rules

import (
	"encoding/binary"
	"iter"
	"slices"

	"cardea.dev"
)

// fewParts is how many parts are looked at one by one.
const fewParts = 16

// kinds sorts the parts of a long line by the programs that they start: a line of
// thousands of parts starts few different ones, and most rules are about none of them.
type kinds struct {
	// of is the kind of each part, and first the first part of each kind.
	of    []int
	first []*cardea.Part
}

// reached are the parts on which a match may hold, as far as that depends on the
// program: no other part needs a look.
func (c *call) reached(m *Match) iter.Seq[int] {
	parts := c.ev.Call.Parts
	if len(parts) <= fewParts {
		return allOf(len(parts))
	}
	if c.kinds == nil {
		c.kinds = kindsOf(parts)
	}
	reach, some, all := make([]bool, len(c.kinds.first)), false, true
	for k, p := range c.kinds.first {
		reach[k] = m.mayLead(p)
		some, all = some || reach[k], all && reach[k]
	}
	switch {
	case !some:
		return allOf(0)
	case all:
		return allOf(len(parts))
	}
	return func(yield func(int) bool) {
		for i, k := range c.kinds.of {
			if reach[k] && !yield(i) {
				return
			}
		}
	}
}

func allOf(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// kindsOf sorts parts by all that [Match.mayLead] looks at.
func kindsOf(parts []cardea.Part) *kinds {
	ks, known := &kinds{of: make([]int, len(parts))}, map[string]int{}
	var key []byte
	for i := range parts {
		p := &parts[i]
		key = withLength(key[:0], programOf(p))
		if p.UsualCommand != nil {
			key = withLength(key, p.UsualCommand[0])
		}
		key = append(key, '/')
		for _, w := range p.Wrappers {
			key = withLength(key, w)
		}
		k, found := known[string(key)]
		if !found {
			k = len(ks.first)
			known[string(key)] = k
			ks.first = append(ks.first, p)
		}
		ks.of[i] = k
	}
	return ks
}

// withLength appends a text so that no other texts make the same bytes.
func withLength(b []byte, s string) []byte {
	return append(binary.AppendUvarint(append(b, ':'), uint64(len(s))), s...)
}

// programOf is the program with which rules compare, "" where there is none.
func programOf(p *cardea.Part) string {
	if words(p) == 0 {
		return ""
	}
	program, _ := word(p, 0)
	return program
}

// mayLead reports whether the commands of a match name a program that a part starts,
// as [leads] compares them. Where it is false, the match holds on no part with the same
// programs.
func (m *Match) mayLead(p *cardea.Part) bool {
	if len(m.Command) > 0 && !slices.ContainsFunc(m.Command, func(cmd []string) bool { return len(cmd) == 0 || starts(cmd[0], p) }) {
		return false
	}
	return len(m.Any) == 0 || m.someMayLead(p)
}

func (m *Match) someMayLead(p *cardea.Part) bool {
	for i := range m.Any {
		if m.Any[i].mayLead(p) {
			return true
		}
	}
	return false
}

// starts reports whether a part starts a program, itself or by a wrapper.
func starts(program string, p *cardea.Part) bool {
	return sameProgram(programOf(p), program) || wraps(program, p) ||
		p.UsualCommand != nil && sameProgram(p.UsualCommand[0], program)
}
