package config

import (
	"context"
	"fmt"
	"time"

	"cardea.dev"
	"cardea.dev/internal/decide/null"
	"cardea.dev/internal/decide/opaque"
	"cardea.dev/internal/decide/routes"
	"cardea.dev/internal/decide/rules"
)

// Build compiles what was loaded into a gate. analyse fills in the parts of a
// call, now is the clock of the trace, or nil.
func Build(l *Loaded, analyse func(*cardea.Event), now func() time.Time) *cardea.Gate {
	about := rules.Settings{Home: l.Where.Dirs.Home}
	return &cardea.Gate{
		Default:  l.Settings.Default,
		OnError:  l.Settings.OnError,
		Troubles: l.Troubles(),
		Analyse:  analyse,
		Now:      now,
		Stages: []cardea.Stage{{Name: cardea.Guards, Seats: []cardea.Seat{
			// First, since it costs nothing: what cannot be seen is no rule's.
			{Decider: opaque.New(l.Settings.OnError)},
			// What does nothing is allowed by itself, so that it does not keep
			// the parts beside it from being allowed.
			{Decider: null.New()},
			// The rules of packs, person and project.
			{Decider: rules.New(l.Rules, about)},
			// Denies and asks of the projects around, whose files are read
			// only when a call reaches there.
			{Decider: &surroundings{loaded: l, about: about}},
			// Last, since they are about the better tool, not about what may
			// run.
			{Decider: routes.New(l.Routes)},
		}}},
	}
}

// surroundings is the decider "rules" for the projects around the call: an
// agent that works in one project and reaches into another meets the rules of
// both. It only tightens.
type surroundings struct {
	loaded *Loaded
	about  rules.Settings
}

// Name is "rules", since that is what it is to people.
func (*surroundings) Name() string { return "rules" }

// Decide finds the projects around the folder of the call and every path that
// it accesses, and gives the opinions of their rules. Rules of a project that
// is not the session's count as those of an untrusted one.
func (s *surroundings) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	projects, complete := Surroundings(reached(ev), s.loaded.Where.Dirs.Home, s.loaded.Where.Project)
	var out []cardea.Opinion
	if !complete {
		out = append(out, cardea.Opinion{Decider: "rules", Rule: "surroundings", Effect: cardea.Defer, Part: cardea.WholeCall, Scope: cardea.ScopeBuiltin,
			Reason: fmt.Sprintf("the call reaches into more projects than are looked at (%d), so their rules are not known", MaxSurroundings)})
	}
	var broken *cardea.Trouble
	for _, project := range projects {
		from := origin(cardea.ScopeProject, false)
		from.Root = project
		list, files := readRules(below(project, ".cardea"), from, project)
		ops, err := rules.New(list, s.about).Decide(ctx, ev)
		out = append(out, ops...)
		for _, f := range files {
			for _, p := range f.Problems {
				if broken == nil && !p.Warning {
					broken = &cardea.Trouble{Failure: cardea.BrokenFile, Text: p.String(), Source: p.File}
				}
			}
		}
		if err != nil {
			return out, err
		}
	}
	if broken != nil {
		return out, broken
	}
	return out, nil
}

// reached are the folder and the paths that a call has to do with.
func reached(ev *cardea.Event) []string {
	out := []string{ev.Cwd}
	for i := range ev.Call.Parts {
		p := &ev.Call.Parts[i]
		if p.Remote {
			continue
		}
		out = append(out, p.Dir)
		for _, a := range p.Access {
			out = append(out, a.Path, a.Spelled)
		}
	}
	return out
}
