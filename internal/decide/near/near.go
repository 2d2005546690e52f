// Package near lets lessons count for calls that are like the ones they are about
// (docs/near.md).
//
// A lesson that allows counts where the call has the same shape (internal/memory/shape). How
// alike the two look only finds it. A lesson that denies defers: a person decides. A
// lesson that asks asks, whatever the shape.
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

// Like is a lesson that looks like a call.
type Like struct {
	Lesson *lesson.Found
	// Score says how much, from 0 to 1.
	Score float64
}

// Finder finds lessons of a source that look like what a key names, the best of each
// effect first. It need not know which of them count.
type Finder interface {
	Find(ctx context.Context, src *lesson.Source, key *lesson.Key) ([]Like, error)
}

// Settings are what the decider must know of a place.
type Settings struct {
	// Sources finds the lessons that count for an event; nil finds none. What is wrong
	// with their files is said by who applies lessons about exactly the call.
	Sources func(ev *cardea.Event) ([]lesson.Source, cardea.Troubles)
	// Finders look for similar lessons. A later one is asked where no earlier one found
	// what decides.
	Finders []Finder
	// Analyse finds the parts of the call that a lesson is about.
	Analyse func(*cardea.Event) *cardea.Event
	World   shape.World
	// Now is the time at which the call is judged.
	Now time.Time
	// Judge is the judge whose lessons count; nil: those of none do.
	Judge *lesson.Judge
}

// Decider is the decider "near".
type Decider struct{ about Settings }

// New makes the decider of a place. It reads nothing.
func New(s Settings) Decider { return Decider{s} }

// Name is "near".
func (Decider) Name() string { return "near" }

// Decide gives the opinions of lessons about similar calls. An opinion without effect is
// a hint: a lesson about a call of another shape.
func (d Decider) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	if d.about.Sources == nil || ev.Call == nil || ev.Call.OnlyPossible {
		return nil, nil
	}
	sources, _ := d.about.Sources(ev)
	if len(sources) == 0 {
		return nil, nil
	}
	look := look{Settings: d.about, event: ev, keys: map[*lesson.Keyer][]lesson.Key{}, decided: map[int]bool{}, compared: map[compared]bool{}}
	for _, f := range d.about.Finders {
		if err := look.by(ctx, f, sources); err != nil {
			return look.out, err
		}
	}
	return look.out, nil
}

// look is one look at a call.
type look struct {
	Settings
	event *cardea.Event
	keys  map[*lesson.Keyer][]lesson.Key
	out   []cardea.Opinion
	// decided are the parts about which a lesson has spoken that counts.
	decided map[int]bool
	// compared are the lessons that were compared with the call already: another finder
	// finds them again.
	compared map[compared]bool
}

// compared is a lesson and the key with which it was compared.
type compared struct {
	lesson lesson.ID
	source string
	key    *lesson.Key
}

// candidate is a similar lesson, and under which key it was found.
type candidate struct {
	Like
	source *lesson.Source
	key    *lesson.Key
	// hint is why it does not count.
	hint string
}

// by lets a finder look for lessons about what is not decided yet.
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

// maxTries is how many lessons are compared with a call word by word.
const maxTries = 8

// judge gives opinions from what was found, best first.
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

// hint gives a hint about a line as a whole, once, where a part of it has none yet.
func (l *look) hint(c candidate, spoken map[int]bool, how string) {
	if !slices.ContainsFunc(c.key.Parts, func(part int) bool { return !spoken[part] }) {
		return
	}
	for _, part := range c.key.Parts {
		spoken[part] = true
	}
	l.out = append(l.out, l.opinion(c, cardea.Abstain, cardea.WholeCall, how))
}

// concerns reports whether a lesson counts for a call like the one that a key names, as
// [lesson.Record.Matches] says it for the call itself.
func (l *look) concerns(f *lesson.Found, src *lesson.Source, key *lesson.Key) bool {
	if f.Role != lesson.AnyRole && f.Role != key.Role || !f.InTime(l.Now, l.Judge) {
		return false
	}
	same := *key
	same.Subject = f.Subject
	if f.Effect != cardea.Allow {
		return f.Matches(&same)
	}
	// What may count is seen later: the folder and the kind of a change are words of the
	// hint.
	return src.Allows && f.Counts() && f.Tool == key.Tool
}

// compare tells whether a lesson that allows counts for a call.
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
		// Behind "&&" a command does what it does alone. Other operators change more.
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
		return shape.Compare(taught, l.event, l.World)
	case len(of.Parts) != 1 || len(key.Parts) != 1:
		return refuse("it is about more than one thing")
	}
	return shape.Parts(&taught.Call.Parts[of.Parts[0]], l.event, key.Parts[0], l.World)
}

// taught is the call that a lesson is about, as it would be now, and its key. why says
// for what reason it would not count.
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
	asked := *l.event.WithCall(l.event.Call.WithInput(map[string]any{fields[0]: subject}))
	if len(info.FieldsOf(harness.Command)) > 0 {
		asked.Cwd = c.source.Keyer.Absolute(f.Dir)
	}
	ev = l.Analyse(&asked)
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

// opinion is what a lesson says about a part.
func (l *look) opinion(c candidate, effect cardea.Effect, part int, how string) cardea.Opinion {
	f := c.Lesson
	o := cardea.Opinion{Decider: "near", Rule: f.ID.Short(), Effect: effect, Part: part, Scope: f.Scope, Source: f.Source(),
		Reason: fmt.Sprintf("like `%s`, %s; %s", f.Subject, decided(&f.Record), how), Withheld: !f.Own || !c.source.Trusted}
	if effect >= cardea.Defer {
		o.Yields = cardea.YieldsToOverride
	}
	return o
}

// decided says who decided what, and when.
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
