// Package exact applies the lessons that are about exactly the call that is judged: a
// person, or the judge, decided about it before. The verdicts name the decider
// "lessons".
package exact

import (
	"context"
	"maps"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/memory/lesson"
)

// Settings are what the decider must know of a place.
type Settings struct {
	// Sources finds the lessons that count for an event, and what is wrong with their
	// files; nil finds none.
	Sources func(ev *cardea.Event) ([]lesson.Source, cardea.Troubles)
	// Now is the time at which the call is judged.
	Now time.Time
	// Judge gives the judge whose lessons count; nil: those of none do. It is asked where
	// there is a lesson of a judge.
	Judge func() *lesson.Judge
	// JudgeLifts lets an allow of the judge win over a defer, as one of a person does.
	JudgeLifts bool
}

// Decider is the decider "lessons".
type Decider struct{ about Settings }

// New makes the decider of a place. It reads nothing.
func New(s Settings) Decider { return Decider{s} }

// Name is "lessons".
func (Decider) Name() string { return "lessons" }

// Decide gives the opinions of the lessons about the call and its commands.
func (d Decider) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	if d.about.Sources == nil || ev.Call == nil || ev.Call.OnlyPossible {
		return nil, nil
	}
	sources, troubles := d.about.Sources(ev)
	var out []cardea.Opinion
	var keyer *lesson.Keyer
	var keys []lesson.Key
	for i := range sources {
		if ctx.Err() != nil {
			break
		}
		src := &sources[i]
		if src.Keyer != keyer { // those of one project stand side by side
			keyer, keys = src.Keyer, src.Keyer.Keys(ev)
		}
		for k := range keys {
			out = append(out, d.about.of(src, &keys[k])...)
		}
	}
	return out, troubles.Err()
}

// of are the opinions of a source's lessons under a key.
func (s *Settings) of(src *lesson.Source, key *lesson.Key) (out []cardea.Opinion) {
	var files map[string]string
	bindable, looked := false, false
	for _, f := range src.Store.Lookup(key.Subject) {
		if !f.Matches(key) || !f.InTime(s.Now, s.judge(&f.Record)) {
			continue
		}
		if f.Effect == cardea.Allow {
			if !src.Allows || !f.Counts() {
				continue
			}
			if !looked {
				var err error
				files, err = src.Keyer.Files(key)
				bindable, looked = err == nil, true
			}
			if !bindable || !maps.Equal(files, f.Files) {
				continue
			}
		}
		for _, part := range key.Parts {
			o := opinion(f, src, part)
			o.Lifts = o.Lifts && (f.By != lesson.ByJudge || s.JudgeLifts)
			out = append(out, o)
		}
	}
	return out
}

// judge is the judge that there is, nil for none and for a lesson that is not a judge's.
func (s *Settings) judge(r *lesson.Record) *lesson.Judge {
	if r.By != lesson.ByJudge || s.Judge == nil {
		return nil
	}
	return s.Judge()
}

// opinion is what a lesson says about a part. What the text of a lesson of others says
// is not told to the model.
func opinion(f *lesson.Found, src *lesson.Source, part int) cardea.Opinion {
	o := cardea.Opinion{Decider: "lessons", Rule: f.ID.Short(), Effect: f.Effect, Part: part, Scope: f.Scope, Source: f.Source(),
		Reason: Reason(&f.Record), Withheld: !f.Own || !src.Trusted}
	if f.Effect == cardea.Allow {
		o.Lifts = true
	} else {
		o.Yields = cardea.YieldsToOverride
	}
	return o
}

// Reason says who decided what, when and why.
func Reason(r *lesson.Record) string {
	words := ""
	switch r.Effect {
	case cardea.Allow:
		words = "allowed"
	case cardea.Deny:
		words = "denied"
	case cardea.Ask:
		words = "always to be asked about"
	}
	if r.Who != "" {
		words += " by " + r.Who
	}
	if r.By != "" && r.By != lesson.ByPerson {
		words += " (" + r.By + ")"
	}
	if !r.When.IsZero() {
		words += " on " + r.When.Format(time.DateOnly)
	}
	return strings.TrimSpace(words + prefixed(r.Reason))
}

func prefixed(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}
