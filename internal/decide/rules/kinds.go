package rules

import (
	"encoding/binary"
	"slices"
	"strings"

	"cardea.dev"
)

// fewParts is the most parts of a call that are checked one by one.
const fewParts = 16

// kinds sorts the parts of a long line by their commands and accesses. A line of thousands
// of parts has few kinds of them, and most rules apply to none.
type kinds struct {
	// of is the kind of each part, first the first part of each kind.
	of    []int
	first []*cardea.Part
	// exact is set if all parts of a kind have equal accesses.
	exact bool
	// reach holds the reach of the current match for each kind.
	reach []reach
}

// reach records whether a match may hold on the parts of a kind, and which of its
// alternatives.
type reach struct {
	may   bool
	among anySet
	// call is set if the match may hold on a call without a part.
	call bool
}

// Kinds with equal accesses say more, but only a few are useful. Parts with many accesses
// are seldom equal.
const (
	fewKinds    = 64
	fewAccesses = 4
)

// anySet is the set of alternatives of a match, [Match.Any], that may hold on a part. It
// has no bit for those after the first 64, which always may hold.
type anySet uint64

const everyAny = ^anySet(0)

func (s anySet) has(k int) bool { return k >= 64 || s>>k&1 != 0 }

// reached is the set of parts on which a match may hold by their kind. All others can be
// skipped.
type reached struct {
	// parts is the number of parts to check. If kinds is nil, all of these may match.
	parts int
	kinds *kinds
	// known are the reaches of the parts' kinds if earlier calls determined them, for the
	// rule of entry.
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

// reached returns the parts on which a match may hold. The result is valid until the next
// call.
func (c *evaluation) reached(m *Match) reached {
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

// kindsOf sorts parts by all facts that mayHold uses. If exact is set, it returns nil for
// too many kinds or accesses.
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

// kindOf appends the facts that define the kind of a part.
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

// withAccess appends all facts of an access.
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

// withLength appends a text so that different lists of texts have different bytes.
func withLength(b []byte, s string) []byte {
	return append(binary.AppendUvarint(append(b, ':'), uint64(len(s))), s...)
}

// programOf returns the program that rules compare, or "".
func programOf(p *cardea.Part) string {
	if words(p) == 0 {
		return ""
	}
	program, _ := word(p, 0)
	return program
}

// mayHold reports whether a match may hold on a part, by its kind and the call, and with
// which alternatives. If false, it holds on no part of the kind.
func (c *evaluation) mayHold(m *Match, p *cardea.Part) (may bool, among anySet) {
	return m.mayHold(func(m *Match) bool {
		return m.fits(p) &&
			(len(m.Flows) == 0 || len(c.ev.Call.Flows) > 0) &&
			(!m.aboutAccess() || !c.kinds.exact || c.accessHolds(m, p)) &&
			(m.Pattern == "" || m.Field != "" || len(m.Needs) == 0 || c.someText(m.Needs)) &&
			(m.Field == "" || c.onField(m))
	})
}

// fits reports whether a match, without its alternatives, may hold on parts of a kind. It
// compares the command as [Match.leads] does, and checks that there is something to match.
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

// mayHold reports whether a match and one of its alternatives, if it has any, fit. It also
// returns the alternatives that fit.
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

// someText reports whether the text of any part contains one of the texts.
func (c *evaluation) someText(texts []string) bool {
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

// mayLead reports whether parts of a kind may begin with a command, directly or through a
// wrapper. It does not compare words after those of [cardea.Part.Command].
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

// agrees reports whether two commands have the same words after the program, up to the
// length of the shorter one.
func agrees(a, b []string) bool {
	n := min(len(a), len(b))
	return n == 0 || slices.Equal(a[1:n], b[1:n])
}
