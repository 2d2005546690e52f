// Package exact applies the lessons about exactly this call: an earlier decision of a
// person or the judge. Its opinions name the decider "lessons".
package exact

import (
	"context"
	"maps"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/memory/lesson"
)

// Options configure the decider for a place.
type Options struct {
	// Sources finds the lessons that apply to an event, and the issues of their files. Nil
	// finds none.
	Sources func(ev *cardea.Event) ([]lesson.Source, cardea.Issues)
	// Now is the time of the evaluation.
	Now time.Time
	// JudgeVersion returns the judge whose lessons apply. If it is nil, no judge's lessons apply.
	// The decider calls it only if there is a lesson of a judge.
	Judge func() *lesson.JudgeVersion
	// JudgeLifts lets an allow of the judge win over a defer, as a person's allow does.
	JudgeLifts bool
}

// Decider is the decider "lessons".
type Decider struct{ about Options }

// New makes the decider of a place. It reads nothing.
func New(s Options) Decider { return Decider{s} }

// Name returns "lessons".
func (Decider) Name() string { return "lessons" }

// Decide returns the opinions of the lessons about the call and its commands.
func (d Decider) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	if d.about.Sources == nil || ev.Call == nil || ev.Call.OnlyPotential {
		return nil, nil
	}
	sources, issues := d.about.Sources(ev)
	var out []cardea.Opinion
	var keyer *lesson.Keyer
	var keys []lesson.Key
	for i := range sources {
		if ctx.Err() != nil {
			break
		}
		src := &sources[i]
		if src.Keyer != keyer { // the sources of a project are adjacent
			keyer, keys = src.Keyer, src.Keyer.Keys(ev)
		}
		for k := range keys {
			out = append(out, d.about.of(src, &keys[k])...)
		}
	}
	return out, issues.Err()
}

// of returns the opinions of a source's lessons for a key.
func (s *Options) of(src *lesson.Source, key *lesson.Key) (out []cardea.Opinion) {
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

// judge returns the current judge, nil without a judge. It is also nil if the lesson is not
// a judge's.
func (s *Options) judge(r *lesson.Record) *lesson.JudgeVersion {
	if r.By != lesson.ByJudge || s.Judge == nil {
		return nil
	}
	return s.Judge()
}

// opinion returns the opinion of a lesson about a part. The model does not see the text of
// a lesson written by others.
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

// Reason describes who made the decision, when and why.
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
