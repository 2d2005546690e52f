package rules

import (
	"encoding/binary"
	"iter"
	"slices"
	"strconv"

	"cardea.dev"
)

// fewParts is how many parts are looked at one by one.
const fewParts = 16

// kinds sorts the parts of a long line by the programs that they start and the accesses
// that they make: a line of thousands of parts has few kinds of them, and most rules
// are about none.
type kinds struct {
	// of is the kind of each part, and first the first part of each kind.
	of    []int
	first []*cardea.Part
}

// reached are the parts on which a match may hold, as far as that depends on their
// kind: no other part needs a look.
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
		reach[k] = c.mayHold(m, p)
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

// kindsOf sorts parts by all that mayHold looks at.
func kindsOf(parts []cardea.Part) *kinds {
	ks, known := &kinds{of: make([]int, len(parts))}, map[string]int{}
	var key []byte
	for i := range parts {
		p := &parts[i]
		key = kindOf(key[:0], p)
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

// kindOf appends what tells the kind of a part from others.
func kindOf(key []byte, p *cardea.Part) []byte {
	key = withLength(key, programOf(p))
	if p.UsualCommand != nil {
		key = withLength(key, p.UsualCommand[0])
	}
	key = append(key, '/')
	for _, w := range p.Wrappers {
		key = withLength(key, w)
	}
	for _, set := range [...]bool{len(p.Opaque) > 0, len(p.Assigns) > 0} {
		key = strconv.AppendBool(append(key, '/'), set)
	}
	var seen []cardea.AccessKind
	for k := range p.Access {
		if kind := p.Access[k].Kind; !slices.Contains(seen, kind) {
			seen = append(seen, kind)
			key = withLength(key, string(kind))
		}
	}
	return key
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

// mayHold reports whether a match may hold on a part, by what its kind tells: the
// program, as [leads] compares it, and whether there is anything to look at. Where it is
// false, the match holds on no part of the kind.
func (c *call) mayHold(m *Match, p *cardea.Part) bool {
	switch {
	case len(m.Command) > 0 && !slices.ContainsFunc(m.Command, func(cmd []string) bool { return len(cmd) == 0 || starts(cmd[0], p) }),
		m.Opaque && len(p.Opaque) == 0,
		len(m.Env) > 0 && len(p.Assigns) == 0,
		len(m.Flows) > 0 && len(c.ev.Call.Flows) == 0,
		m.aboutAccess() && !slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return len(m.Access) == 0 || slices.Contains(m.Access, a.Kind) }):
		return false
	}
	for i := range m.Any {
		if c.mayHold(&m.Any[i], p) {
			return true
		}
	}
	return len(m.Any) == 0
}

// starts reports whether a part starts a program, itself or by a wrapper.
func starts(program string, p *cardea.Part) bool {
	return sameProgram(programOf(p), program) || wraps(program, p) ||
		p.UsualCommand != nil && sameProgram(p.UsualCommand[0], program)
}
