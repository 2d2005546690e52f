package rules

import (
	"iter"
	"slices"

	"cardea.dev"
	"cardea.dev/internal/base/lists"
)

// List is a list of rules in the order of evaluation. It holds no copies. A rule of the
// program's own table stays there, and a rule of a compiled file is unpacked when a call
// reaches it.
type List []*Entry

// Entry is one rule of a list: a whole rule, or one of a compiled file. Lists share
// entries, so they must not be changed.
type Entry struct {
	whole *Rule
	file  *Compiled
	body  string
	// programs are the program bits of the rule's match, 0 if unknown.
	programs uint64
	// watches is set if the rule denies or asks because of a path that is read.
	watches bool
	// effect replaces the rule's own effect, if settings change it.
	effect *cardea.Effect
	// table is the program's own table if the rule is in it, and at is its index there. The
	// table is the same for every call.
	table []Rule
	at    int
}

// ListOf returns a list of whole rules.
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

// TableOf returns a list of rules that exist as long as the process.
func TableOf(all []Rule) List {
	out := ListOf(all)
	for i := range out {
		out[i].table, out[i].at = all, i
	}
	return out
}

// All returns the rules of a list, unpacked.
func (l List) All() []Rule {
	var out []Rule
	for i := range l {
		out = append(out, *l[i].rule())
	}
	return out
}

// AsWritten returns the rules of a list, unpacked, with the effects in their files.
func (l List) AsWritten() []Rule {
	var out []Rule
	for _, e := range l {
		own := *e
		own.effect = nil
		out = append(out, *own.rule())
	}
	return out
}

// Heads yields the fields of the rules that switches use: id, pack, scope and effect. Each
// value is valid until the next one.
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

// Scope returns the scope of the rule's file.
func (e *Entry) Scope() cardea.Scope {
	if e.whole != nil {
		return e.whole.Scope
	}
	return e.file.from.Scope
}

// rule returns the rule, unpacked, with the effect that applies.
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

// stays reports whether the rule is the same value for every call.
func (e *Entry) stays() bool { return e.table != nil && e.effect == nil }

// head returns the fields of the rule that switches use. It may store them in unpacked.
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

// Apply returns the rules that stay on, with their effects, and those that are switched
// off. Switches apply to rules of their own scope and of weaker ones. Those of a project
// apply only to its own rules, since a project may only tighten what others wrote. Only its
// own scope can switch off a halt. A rule keeps an effect that switches of a stronger scope
// gave it. unused are the switches without effect, for a warning.
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
