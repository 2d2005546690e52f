package cardea

import (
	"cmp"
	"context"
	"fmt"
	"strings"
)

// Possible is what the parts of a call may do: each file that one may touch, and each
// command that it may run, as parts of a call of their own.
type Possible struct {
	event *Event
	// of is the part to which each belongs, what says what that one may do.
	of   []int
	what []string
}

// mostNamed is up to how many files of a part each is judged by itself, so that the
// reason names it.
const mostNamed = 16

// manyFiles says what a part may touch where its words name more.
const manyFiles = "the files that its words name"

// Possible is what the parts of the event's call may do, nil where that is nothing
// besides what they do for certain.
func (e *Event) Possible() *Possible {
	if e.Call == nil {
		return nil
	}
	var parts []Part
	var flows []Flow
	out := &Possible{}
	add := func(i int, may Part, what, from string) {
		if from != "" {
			what += " (" + from + ")"
		}
		parts, out.of, out.what = append(parts, may), append(out.of, i), append(out.what, what)
	}
	var addAll func(i int, p *Part, from string)
	addAll = func(i int, p *Part, from string) {
		if len(p.MayTouch) > mostNamed {
			add(i, p.touching(p.MayTouch...), "touch "+manyFiles, from)
		} else {
			for _, a := range p.MayTouch {
				add(i, p.touching(a), "touch "+cmp.Or(a.Path, a.Spelled, a.Host), from)
			}
		}
		at := make([]int, len(p.MayRun))
		for k := range p.MayRun {
			q := &p.MayRun[k]
			at[k] = len(parts)
			add(i, *q, "run "+q.Text, cmp.Or(q.From, from))
			addAll(i, q, cmp.Or(q.From, from))
		}
		for _, f := range p.MayFlow {
			flows = append(flows, Flow{Kind: f.Kind, From: at[f.From], To: at[f.To]})
		}
	}
	for i := range e.Call.Parts {
		addAll(i, &e.Call.Parts[i], "")
	}
	if len(parts) == 0 {
		return nil
	}
	with := *e.Call
	with.Parts, with.Flows, with.Opaque, with.OnlyPossible = parts, flows, nil, true
	out.event = e.WithCall(&with)
	return out
}

// Opinions are those of a decider about what the parts may do, each as one about the
// part, one step softer: what would deny asks a person, what would ask asks
// (docs/design.md#may-touch-may-run). What was said for certain is left out.
func (p *Possible) Opinions(ctx context.Context, d Decider, said []Opinion) ([]Opinion, error) {
	if p == nil {
		return nil, nil
	}
	type voice struct {
		by, source string
		part       int
	}
	heard := map[voice]bool{}
	for _, o := range said {
		if o.Effect >= Ask {
			heard[voice{o.By(), o.Source, o.Part}] = true
		}
	}
	found, err := d.Decide(ctx, p.event)
	var out []Opinion
	for _, o := range found {
		if o.Part < 0 || o.Part >= len(p.of) {
			continue // about the call, which was judged
		}
		softer, ok := o.possibly(p.of[o.Part], p.what[o.Part])
		v := voice{softer.By(), softer.Source, softer.Part}
		if !ok || heard[v] {
			continue
		}
		heard[v] = true
		out = append(out, softer)
	}
	return out, err
}

// touching is the part as one that does to files what it may do.
func (p *Part) touching(files ...Access) Part {
	with := *p
	with.MayTouch, with.MayRun, with.Opaque, with.Access = nil, nil, nil, nil
	for _, a := range files {
		if a.Kind == Read || a.Kind == Network {
			with.Access = append(with.Access, a)
			continue
		}
		read, write := a, a
		read.Kind, read.Recursive = Read, false
		write.Kind, write.Recursive = Write, false
		if a.Kind == Unknown {
			with.Access = append(with.Access, read)
		}
		a.Kind = Delete // a folder is replaced by what is put into it
		with.Access = append(with.Access, write, a)
	}
	return with
}

// possibly is an opinion about what a part may do, as one about the part: one step
// softer, and false where nothing is left of it.
func (o Opinion) possibly(part int, what string) (Opinion, bool) {
	switch {
	case o.Effect >= Deny:
		o.Effect, o.Person = Ask, true
	case o.Effect != Ask:
		return o, false
	}
	o.Overrides = false // what may be does not take the place of what is
	what = strings.Replace(what, manyFiles, cmp.Or(o.File, manyFiles), 1)
	o.Part, o.Advice, o.Reason = part, Advice{}, fmt.Sprintf("it may %s: %s", what, o.Reason)
	return o, true
}
