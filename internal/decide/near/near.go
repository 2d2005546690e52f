// Package near applies lessons to calls similar to the ones that they are about
// (docs/near.md).
//
// A lesson that allows applies only if the call has the same shape (internal/memory/shape);
// the similarity of words only finds it. A lesson that denies defers the call to a person.
// A lesson that asks also asks about a similar call, whatever its shape.
package near

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"cardea.dev"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/memory/lesson"
	"cardea.dev/internal/memory/shape"
)

// Like is a lesson similar to a call.
type Like struct {
	Lesson *lesson.Found
	// Score is the similarity, from 0 to 1.
	Score float64
}

// Finder finds lessons of a source similar to a key, the best of each effect first. Its
// result may include lessons that do not apply.
type Finder interface {
	Find(ctx context.Context, src *lesson.Source, key *lesson.Key) ([]Like, error)
}

// Options configure the decider for a place.
type Options struct {
	// Sources finds the lessons that apply to an event. Nil finds none. The decider of
	// exact lessons reports the issues of their files.
	Sources func(ev *cardea.Event) ([]lesson.Source, cardea.Issues)
	// Finders look for similar lessons, in order. A finder gets only the keys with parts
	// that the earlier ones left undecided.
	Finders []Finder
	// Analyse returns the event with the parts of its call.
	Analyse func(*cardea.Event) *cardea.Event
	System  shape.Lookups
	// Now is the time of the evaluation.
	Now time.Time
	// JudgeVersion is the judge whose lessons apply. If it is nil, no judge's lessons apply.
	Judge *lesson.JudgeVersion
}

// Decider is the decider "near".
type Decider struct{ about Options }

// New makes the decider of a place. It reads nothing.
func New(s Options) Decider { return Decider{s} }

// Name returns "near".
func (Decider) Name() string { return "near" }

// Decide returns the opinions of lessons about similar calls. An opinion without effect is
// a hint: the lesson is about a call of another shape.
func (d Decider) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	if d.about.Sources == nil || ev.Call == nil || ev.Call.OnlyPotential {
		return nil, nil
	}
	sources, _ := d.about.Sources(ev)
	if len(sources) == 0 {
		return nil, nil
	}
	look := look{Options: d.about, event: ev, keys: map[*lesson.Keyer][]lesson.Key{}, decided: map[int]bool{}, compared: map[compared]bool{}}
	for _, f := range d.about.Finders {
		if err := look.by(ctx, f, sources); err != nil {
			return look.out, err
		}
	}
	return look.out, nil
}

// look is the state of deciding one call.
type look struct {
	Options
	event *cardea.Event
	keys  map[*lesson.Keyer][]lesson.Key
	out   []cardea.Opinion
	// decided holds the parts that a lesson has decided.
	decided map[int]bool
	// compared holds the lessons already compared with the call, since several finders may
	// find the same one.
	compared map[compared]bool
}

// compared is a lesson and the key with which it was compared.
type compared struct {
	lesson lesson.ID
	source string
	key    *lesson.Key
}

// candidate is a similar lesson with the key that found it.
type candidate struct {
	Like
	source *lesson.Source
	key    *lesson.Key
	// hint is the reason why the lesson does not apply.
	hint string
}

// by asks a finder for lessons about the parts that are not decided yet.
func (l *look) by(ctx context.Context, f Finder, sources []lesson.Source) error {
	var found []candidate
	for i := range sources {
		src := &sources[i]
		keys, known := l.keys[src.Keyer]
		if !known {
			keys = src.Keyer.Keys(l.event)
			l.keys[src.Keyer] = keys
		}
		for k := range keys {
			if ctx.Err() != nil {
				return nil // what was found so far may not be the strictest
			}
			if !slices.ContainsFunc(keys[k].Parts, func(p int) bool { return !l.decided[p] }) {
				continue
			}
			likes, err := f.Find(ctx, src, &keys[k])
			if err != nil {
				return fmt.Errorf("look for similar lessons: %w", err)
			}
			for _, like := range likes {
				if l.concerns(like.Lesson, src, &keys[k]) {
					found = append(found, candidate{Like: like, source: src, key: &keys[k]})
				}
			}
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.Score, a.Score) })
	l.judge(found)
	return nil
}

// maxTries is the most lessons of a finder that are compared with a call word by word.
const maxTries = 8

// judge adds the opinions of the lessons found, best first.
func (l *look) judge(found []candidate) {
	spoken := map[cardea.Effect]map[int]bool{cardea.Allow: {}, cardea.Deny: {}, cardea.Ask: {}}
	speak := func(c candidate, effect cardea.Effect, how string) {
		if effect == cardea.Abstain && c.key.Line && len(c.key.Parts) > 1 {
			l.hint(c, spoken[c.Lesson.Effect], how)
			return
		}
		for _, part := range c.key.Parts {
			if spoken[c.Lesson.Effect][part] {
				continue
			}
			spoken[c.Lesson.Effect][part] = true
			l.decided[part] = l.decided[part] || effect != cardea.Abstain
			l.out = append(l.out, l.opinion(c, effect, part, how))
		}
	}
	tries := 0
	var hints []candidate
	for _, c := range found {
		switch c.Lesson.Effect {
		case cardea.Ask:
			speak(c, cardea.Ask, "it looks alike")
		case cardea.Deny:
			speak(c, cardea.Defer, "it looks alike, so a person decides")
		case cardea.Allow:
			if tries == maxTries {
				continue
			}
			tries++
			this := compared{c.Lesson.ID, c.Lesson.Source(), c.key}
			if l.compared[this] {
				continue
			}
			l.compared[this] = true
			if like := l.compare(c); like.Same {
				speak(c, cardea.Allow, like.Words)
			} else {
				hints = append(hints, c)
				hints[len(hints)-1].hint = like.Words
			}
		}
	}
	for _, c := range hints {
		speak(c, cardea.Abstain, c.hint)
	}
}

// hint adds a hint about a whole line, once, unless all of its parts have one.
func (l *look) hint(c candidate, spoken map[int]bool, how string) {
	if !slices.ContainsFunc(c.key.Parts, func(part int) bool { return !spoken[part] }) {
		return
	}
	for _, part := range c.key.Parts {
		spoken[part] = true
	}
	l.out = append(l.out, l.opinion(c, cardea.Abstain, cardea.WholeCall, how))
}

// concerns reports whether a lesson can apply to a call similar to the key. The conditions
// are those of [lesson.Record.Matches].
func (l *look) concerns(f *lesson.Found, src *lesson.Source, key *lesson.Key) bool {
	if f.Role != lesson.AnyRole && f.Role != key.Role || !f.InTime(l.Now, l.Judge) {
		return false
	}
	same := *key
	same.Subject = f.Subject
	if f.Effect != cardea.Allow {
		return f.Matches(&same)
	}
	// compare checks the folder and the kind of a change later, since the hint names them.
	return src.Allows && f.Counts() && f.Tool == key.Tool
}

// compare compares the call of a lesson that allows with the current call.
func (l *look) compare(c candidate) shape.Result {
	f, key := c.Lesson, c.key
	refuse := func(why string) shape.Result { return shape.Result{Words: "another shape: " + why} }
	switch {
	case key.Refusal != "":
		return refuse(key.Refusal)
	case f.Unsandboxed || key.Unsandboxed:
		return refuse("one of them runs outside of the sandbox")
	case f.Dir != key.Dir:
		return refuse("that was in the folder " + f.Dir)
	case f.Kind != key.Kind:
		return refuse("the file changes in another way")
	}
	for _, part := range key.Parts {
		// After "&&" a command has the same effect as alone. Other operators change more.
		if !key.Line && slices.ContainsFunc(l.event.Call.Parts[part].Via, func(v string) bool { return v != "&&" }) {
			return refuse("other operators")
		}
	}
	taught, of, why := l.taught(c)
	if why != "" {
		return refuse(why)
	}
	switch {
	case of.Line != key.Line:
		return refuse("other operators, redirections or variables")
	case key.Line:
		return shape.Compare(taught, l.event, l.System)
	case len(of.Parts) != 1 || len(key.Parts) != 1:
		return refuse("it is about more than one thing")
	}
	return shape.Parts(&taught.Call.Parts[of.Parts[0]], l.event, key.Parts[0], l.System)
}

// taught returns the call that a lesson is about, as it would be now, and its key. If the
// lesson would not apply, why is the reason.
func (l *look) taught(c candidate) (ev *cardea.Event, key *lesson.Key, why string) {
	f := c.Lesson
	info, _ := harness.Tool(f.Tool)
	fields, subject := info.FieldsOf(harness.Command), f.Subject
	if len(fields) == 0 {
		fields, subject = info.FieldsOf(harness.FilePath), c.source.Keyer.Absolute(f.Subject)
	}
	if len(fields) == 0 {
		return nil, nil, "of this tool, two calls are never alike"
	}
	ev = l.Analyse(l.event.With(func(e *cardea.Event) {
		if e.Call = e.Call.WithInput(map[string]any{fields[0]: subject}); len(info.FieldsOf(harness.Command)) > 0 {
			e.Cwd = c.source.Keyer.Absolute(f.Dir)
		}
	}))
	keys := c.source.Keyer.Keys(ev)
	i := slices.IndexFunc(keys, func(k lesson.Key) bool { return k.Teaches && k.Subject == f.Subject })
	if i < 0 {
		return nil, nil, cmp.Or(c.source.Keyer.OtherForm(&f.Record, l.Analyse), "what was allowed cannot be read any more")
	}
	if files, err := c.source.Keyer.Files(&keys[i]); keys[i].Refusal != "" || err != nil || !maps.Equal(files, f.Files) {
		return nil, nil, "a file that the other runs has changed since"
	}
	return ev, &keys[i], ""
}

// opinion returns the opinion of a lesson about a part.
func (l *look) opinion(c candidate, effect cardea.Effect, part int, how string) cardea.Opinion {
	f := c.Lesson
	o := cardea.Opinion{Decider: "near", Rule: f.ID.Short(), Effect: effect, Part: part, Scope: f.Scope, Source: f.Source(),
		Reason: fmt.Sprintf("like `%s`, %s; %s", f.Subject, decided(&f.Record), how), Withheld: !f.Own || !c.source.Trusted}
	if effect >= cardea.Defer {
		o.Yields = cardea.YieldsToOverride
	}
	return o
}

// decided describes who made the decision, and when.
func decided(r *lesson.Record) string {
	words := map[cardea.Effect]string{cardea.Allow: "allowed", cardea.Deny: "denied", cardea.Ask: "always to be asked about"}[r.Effect]
	switch {
	case r.By == lesson.ByJudge:
		words += " by the judge"
	case r.Who != "":
		words += " by " + r.Who
	}
	if !r.When.IsZero() {
		words += " on " + r.When.Format(time.DateOnly)
	}
	return words
}
