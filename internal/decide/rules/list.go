package rules

import (
	"iter"
	"slices"

	"cardea.dev"
	"cardea.dev/internal/base/lists"
)

// List is rules in the order in which they are asked. It holds no copies: a
// rule of the program's own table stays there, and one of a compiled file is
// unpacked when a call reaches it.
type List []*Entry

// Entry is one rule of a list: whole, or a rule of a compiled file. Lists share their
// entries, so nobody changes one.
type Entry struct {
	whole *Rule
	file  *Compiled
	body  string
	// programs are those of the rule's match, 0 for unknown.
	programs uint64
	// watches is set for a rule that denies or asks because of a path that is read.
	watches bool
	// effect is what settings want in place of the rule's own.
	effect *cardea.Effect
	// table is the program's own table, which is the same one for every call, where the rule
	// is of it, and at its place there.
	table []Rule
	at    int
}

// ListOf is a list of whole rules.
func ListOf(all []Rule) List {
	entries := make([]Entry, len(all))
	for i := range all {
		entries[i] = Entry{whole: &all[i], programs: all[i].Match.Programs, watches: all[i].watches()}
	}
	return entriesOf(entries)
}

func entriesOf(entries []Entry) List {
	out := make(List, len(entries))
	for i := range entries {
		out[i] = &entries[i]
	}
	return out
}

// TableOf is a list of rules that are there as long as the process.
func TableOf(all []Rule) List {
	out := ListOf(all)
	for i := range out {
		out[i].table, out[i].at = all, i
	}
	return out
}

// All are the rules of a list, unpacked.
func (l List) All() []Rule {
	var out []Rule
	for i := range l {
		out = append(out, *l[i].rule())
	}
	return out
}

// AsWritten are the rules of a list, unpacked, with the effects that their authors
// gave them.
func (l List) AsWritten() []Rule {
	var out []Rule
	for _, e := range l {
		own := *e
		own.effect = nil
		out = append(out, *own.rule())
	}
	return out
}

// Heads are the rules as far as switches look at them: id, pack, scope and effect.
// Each is valid until the next one.
func (l List) Heads() iter.Seq[*Rule] {
	return func(yield func(*Rule) bool) {
		var unpacked Rule
		for i := range l {
			if !yield(l[i].head(&unpacked)) {
				return
			}
		}
	}
}

// Scope is who wrote the rule.
func (e *Entry) Scope() cardea.Scope {
	if e.whole != nil {
		return e.whole.Scope
	}
	return e.file.from.Scope
}

// rule is the rule.
func (e *Entry) rule() *Rule {
	r := e.whole
	if r == nil {
		r = e.file.rule(e.body)
	}
	if e.effect != nil && *e.effect != r.Effect {
		other := *r
		other.Effect = *e.effect
		return &other
	}
	return r
}

// stays reports whether the rule is the same one for every call, in the same place.
func (e *Entry) stays() bool { return e.table != nil && e.effect == nil }

// head is the rule as far as switches look at it; unpacked is where one of a
// compiled file is put.
func (e *Entry) head(unpacked *Rule) *Rule {
	r := e.whole
	switch {
	case r == nil:
		e.file.head(e.body, unpacked)
		r = unpacked
	case e.effect != nil:
		*unpacked = *r
		r = unpacked
	}
	if e.effect != nil {
		r.Effect = *e.effect
	}
	return r
}

// Apply gives the rules that are left, with their effects, and those that are
// switched off. Switches count for rules of their own scope, and for those below; a
// project's count for its own rules only, since a project may only tighten what
// others wrote. A halt is silenced by its own scope alone. A rule that the switches
// of a stronger scope gave an effect stays as it is. unused are the switches that no
// rule was changed by, for a warning.
func (s Switches) Apply(list List, stronger ...Switches) (left, off List, unused []string) {
	used := map[string]bool{}
	var unpacked Rule
	left = make(List, 0, len(list))
	for _, e := range list {
		r := e.head(&unpacked)
		counts := s.counts(r) && !slices.ContainsFunc(stronger, func(other Switches) bool { return other.givesEffect(r) })
		if by, is := s.off(r); counts && is {
			used[by] = true
			off = append(off, e)
			continue
		}
		if effect, gives := s.Effect[r.ID]; counts && gives {
			used[r.ID] = true
			other := *e
			other.effect, e = &effect, &other
		}
		left = append(left, e)
	}
	unused = lists.Where(s.Off, func(o string) bool { return !used[o] })
	for id := range s.Effect {
		if !used[id] {
			unused = append(unused, id)
		}
	}
	slices.Sort(unused)
	return left, off, slices.Compact(unused)
}
