package rules

import (
	"encoding/binary"
	"slices"
	"strings"

	"cardea.dev"
)

// fewParts is how many parts are looked at one by one.
const fewParts = 16

// kinds sorts the parts of a long line by the commands that they start and the accesses
// that they make: a line of thousands of parts has few kinds of them, and most rules
// are about none.
type kinds struct {
	// of is the kind of each part, and first the first part of each kind.
	of    []int
	first []*cardea.Part
	// exact is set where the parts of a kind have equal accesses.
	exact bool
	// reach tells of each kind whether the match that is asked just now may hold on it.
	reach []reach
}

// reach says whether a match may hold on the parts of a kind, and which of its
// alternatives.
type reach struct {
	may   bool
	among anySet
	// call is set where the match may hold on a call besides its parts.
	call bool
}

// A kind with equal accesses tells more, as long as there are few. Parts with many
// accesses are seldom equal.
const (
	fewKinds    = 64
	fewAccesses = 4
)

// anySet says which of the alternatives of a match, [Match.Any], may hold on a part. It
// has no place for those behind the first 64, which count as such that may.
type anySet uint64

const everyAny = ^anySet(0)

func (s anySet) has(k int) bool { return k >= 64 || s>>k&1 != 0 }

// reached are the parts on which a match may hold, as far as that depends on their kind:
// no other part needs a look.
type reached struct {
	// parts is how many parts there are to look at, kinds says which; nil: all of them.
	parts int
	kinds *kinds
	// known are the parts' kinds where they are known from other calls, and entry is the
	// rule that is asked.
	known knownReaches
	entry *Entry
}

// at reports whether the match may hold on part i, and with which alternatives.
func (r reached) at(i int) (among anySet, may bool) {
	if r.known != nil {
		of := r.known[i].reach[r.entry.at]
		return of.among, of.may
	}
	if r.kinds == nil {
		return everyAny, true
	}
	of := r.kinds.reach[r.kinds.of[i]]
	return of.among, of.may
}

// reached are the parts on which a match may hold, until that is asked of another one.
func (c *call) reached(m *Match) reached {
	parts := c.ev.Call.Parts
	if c.known.has(c.entry) {
		return reached{parts: len(parts), known: c.known, entry: c.entry}
	}
	if len(parts) <= fewParts {
		return reached{parts: len(parts)}
	}
	if c.kinds == nil {
		if c.kinds = kindsOf(parts, true); c.kinds == nil {
			c.kinds = kindsOf(parts, false)
		}
		c.kinds.reach = make([]reach, len(c.kinds.first))
	}
	some := false
	for k, p := range c.kinds.first {
		r := &c.kinds.reach[k]
		r.may, r.among = c.mayHold(m, p)
		some = some || r.may
	}
	if !some {
		return reached{}
	}
	return reached{parts: len(parts), kinds: c.kinds}
}

// kindsOf sorts parts by all that mayHold looks at. It gives nil where there are many
// kinds with equal accesses, and exact asks for these.
func kindsOf(parts []cardea.Part, exact bool) *kinds {
	ks, known := &kinds{of: make([]int, len(parts)), exact: exact}, map[string]int{}
	var key []byte
	for i := range parts {
		p := &parts[i]
		if exact && len(p.Access) > fewAccesses {
			return nil
		}
		key = kindOf(key[:0], p, exact)
		k, found := known[string(key)]
		if !found {
			if exact && len(ks.first) == fewKinds {
				return nil
			}
			k = len(ks.first)
			known[string(key)] = k
			ks.first = append(ks.first, p)
		}
		ks.of[i] = k
	}
	return ks
}

// kindOf appends what tells the kind of a part from others.
func kindOf(key []byte, p *cardea.Part, exact bool) []byte {
	key = withLength(withLength(key, programOf(p)), p.ProgramPattern)
	for _, words := range [...][]string{p.Command, p.UsualCommand, p.Wrappers} {
		for _, word := range words {
			key = withLength(key, word)
		}
		key = append(key, '/')
	}
	key = withFlags(key, len(p.Opaque) > 0, len(p.Assigns) > 0, p.Remote)
	if exact {
		for k := range p.Access {
			key = withAccess(key, &p.Access[k])
		}
		return key
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

// withAccess appends all that an access says.
func withAccess(key []byte, a *cardea.Access) []byte {
	for _, text := range [...]string{string(a.Kind), a.Path, a.Spelled, a.Host, a.Pattern} {
		key = withLength(key, text)
	}
	return withFlags(key, a.Recursive, a.SkipsHidden, a.Glob, a.Search, a.MetadataOnly, a.HoldsKey, a.Configured, a.Redirect, a.Fresh)
}

func withFlags(key []byte, flags ...bool) []byte {
	key = append(key, '/')
	for _, set := range flags {
		if set {
			key = append(key, '1')
		} else {
			key = append(key, '0')
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

// mayHold reports whether a match may hold on a part, by what its kind and the call
// tell. Where it is false, the match holds on no part of the kind.
func (c *call) mayHold(m *Match, p *cardea.Part) (may bool, among anySet) {
	return m.mayHold(func(m *Match) bool {
		return m.fits(p) &&
			(len(m.Flows) == 0 || len(c.ev.Call.Flows) > 0) &&
			(!m.aboutAccess() || !c.kinds.exact || c.accessHolds(m, p)) &&
			(m.Pattern == "" || m.Field != "" || len(m.Needs) == 0 || c.someText(m.Needs)) &&
			(m.Field == "" || c.onField(m))
	})
}

// fits reports whether a match without its alternatives may hold on a part of a kind: by
// the command, as [leads] compares it, and by whether there is anything to look at.
func (m *Match) fits(p *cardea.Part) bool {
	switch {
	case len(m.Command) > 0 && !(m.AnyProgram && p.ProgramPattern != "") && !slices.ContainsFunc(m.Command, func(cmd []string) bool { return mayLead(cmd, p) }),
		m.Opaque && len(p.Opaque) == 0,
		len(m.Env) > 0 && len(p.Assigns) == 0,
		len(m.StartedBy) > 0 && len(p.Wrappers) == 0,
		m.aboutAccess() && !slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return len(m.Access) == 0 || slices.Contains(m.Access, a.Kind) }):
		return false
	}
	return true
}

// mayHold reports whether a match fits, with one of its alternatives where it has some, and
// with which ones.
func (m *Match) mayHold(fits func(*Match) bool) (may bool, among anySet) {
	if !fits(m) {
		return false, 0
	}
	if len(m.Any) == 0 {
		return true, everyAny
	}
	for j := range m.Any {
		switch holds, _ := m.Any[j].mayHold(fits); {
		case !holds:
		case j < 64:
			may, among = true, among|1<<j
		default:
			may = true
		}
	}
	return may, among
}

// someText reports whether one of the texts stands in that of any part.
func (c *call) someText(texts []string) bool {
	if c.texts == nil {
		var all strings.Builder
		for i := range c.ev.Call.Parts {
			for _, text := range c.spellings(i) {
				all.WriteString(text)
				all.WriteByte('\n')
			}
		}
		c.texts = newSearched(all.String())
	}
	return slices.ContainsFunc(texts, c.texts.contains)
}

// mayLead reports whether parts of a kind may begin with a command, by themselves or by
// a wrapper. Of what follows the words of [cardea.Part.Command] it says nothing.
func mayLead(cmd []string, p *cardea.Part) bool {
	if len(cmd) == 0 {
		return true
	}
	may := func(cmd []string) bool {
		if len(cmd) == 0 || sameProgram(programOf(p), cmd[0]) && agrees(cmd, p.Command) {
			return true
		}
		return p.UsualCommand != nil && sameProgram(p.UsualCommand[0], cmd[0]) && agrees(cmd, p.UsualCommand)
	}
	return may(cmd) || len(p.Wrappers) > 0 && wraps(cmd[0], p) && may(cmd[1:])
}

// agrees reports whether two commands have the same words behind the program, as far as
// both go.
func agrees(a, b []string) bool {
	n := min(len(a), len(b))
	return n == 0 || slices.Equal(a[1:n], b[1:n])
}
