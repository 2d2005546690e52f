package cardea

import (
	"cmp"
	"context"
	"fmt"
	"strings"
)

// PotentialCalls holds the potential effects of a call: each file that a part may touch and each
// command that it may run, as parts of a call of their own.
type PotentialCalls struct {
	event *Event
	// of[i] is the index of the original part of artificial part i. what[i] describes the potential
	// effect for the reason ("run git push").
	of   []int
	what []string
}

// mostNamed is the largest number of files of a part that are judged one by one, so that the reason
// names the file.
const mostNamed = 16

// manyFiles describes the files that a part may touch where there are more than mostNamed.
const manyFiles = "the files that its words name"

// PotentialCalls returns the potential effects of the event's call. It is nil where there is no
// potential effect, or no call.
func (e *Event) PotentialCalls() *PotentialCalls {
	if e.Call == nil {
		return nil
	}
	var parts []Part
	var flows []Flow
	out := &PotentialCalls{}
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
	with.Parts, with.Flows, with.Opaque, with.OnlyPotential = parts, flows, nil, true
	out.event = e.With(func(e *Event) { e.Call = &with })
	return out
}

// Opinions returns the opinions of d on the potential effects. Each is about the original part and
// one step softer: a deny asks a person, an ask stays an ask, and anything weaker is dropped
// (docs/design.md#may-touch-may-run). It leaves out what said already holds as an ask or stricter.
func (p *PotentialCalls) Opinions(ctx context.Context, d Decider, said []Opinion) ([]Opinion, error) {
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
		softer, ok := o.potentially(p.of[o.Part], p.what[o.Part])
		v := voice{softer.By(), softer.Source, softer.Part}
		if !ok || heard[v] {
			continue
		}
		heard[v] = true
		out = append(out, softer)
	}
	return out, err
}

// touching returns a copy of the part whose certain effects are the given potential accesses.
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

// potentially turns an opinion about a potential effect into one about the original part, one step
// softer. It reports false where nothing is left of the opinion.
func (o Opinion) potentially(part int, what string) (Opinion, bool) {
	switch {
	case o.Effect >= Deny:
		o.Effect, o.Person = Ask, true
	case o.Effect != Ask:
		return o, false
	}
	o.Overrides = false // a potential effect does not replace a certain one
	what = strings.Replace(what, manyFiles, cmp.Or(o.File, manyFiles), 1)
	o.Part, o.Advice, o.Reason = part, Advice{}, fmt.Sprintf("it may %s: %s", what, o.Reason)
	return o, true
}
