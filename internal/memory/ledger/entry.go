package ledger

import (
	"sort"
	"time"
	"unicode/utf8"

	"cardea.dev"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/command/redact"
)

// What an entry holds at most, in bytes of text. What is longer is cut, and
// says so. Lists that are longer lose what matters least.
const (
	maxName  = 256
	maxPath  = 1 << 10
	maxText  = 512
	maxInput = 4 << 10
	maxList  = 64
)

// Entry is one verdict, as it is kept. [NewEntry] makes it.
type Entry struct {
	// ID names the entry for "cardea explain". Ids sort by time.
	ID   string
	Time time.Time
	// Harness to Project are the event's, see [cardea.Event].
	Harness, Session, Agent, AgentType redact.Text
	Event, Mode, Tool, Role            redact.Text
	Cwd, Project                       redact.Text
	// Input tells what was to be done: the command, or what matters of
	// another tool's input. Content of files is never part of it.
	Input Input
	// Rewrite is the same of the input that took its place, where there is
	// one.
	Rewrite *Input
	// Effect is what was answered.
	Effect cardea.Effect
	// Limits are why the answer is not all that was decided, and Decided is the
	// effect that was decided where it is another one than Effect.
	Decided redact.Text
	Limits  []redact.Text
	// By, Reason and Instead are the verdict's.
	By, Reason, Instead redact.Text
	Parts               []Part
	Opinions            []Opinion
	// Call is the harness's id of the call. Reviewer, Review and ReviewReason are By, Effect and
	// Reason of a [cardea.Review]; Review is empty where the entry reports none.
	Call, Reviewer, Review, ReviewReason redact.Text
	// Troubles are the failures that a person had to learn of.
	Troubles []redact.Text
	// Omitted is how many parts, opinions and troubles there were beyond
	// those that are kept.
	Omitted int
	// Version is the version of Cardea that decided, Took how long that took,
	// in whole microseconds.
	Version redact.Text
	Took    time.Duration
}

// Input is a tool's input, told shortly.
type Input struct {
	Text redact.Text
	// Bytes is the length of the whole input as JSON, and Digest its digest
	// under the user's key: two calls with one digest are the same call, and
	// nobody without the key can find out what it was by trying.
	Bytes  int
	Digest string
}

// Part is a part of the call and what was decided about it. Index is its place
// in the call.
type Part struct {
	Index  int
	Text   redact.Text
	Effect cardea.Effect
}

// Opinion is what one decider said. Part is an index of a part, or
// [cardea.WholeCall].
type Opinion struct {
	Decider, Rule           redact.Text
	Effect                  cardea.Effect
	Part                    int
	Scope, Source, Severity redact.Text
	Reason                  redact.Text
}

// Circumstances are what an entry holds besides event and verdict.
type Circumstances struct {
	Redactor *redact.Redactor
	// Decided and Limits are those of the [cardea.Answer].
	Decided cardea.Effect
	Limits  []cardea.Limit
	// Key is the user's key, for the digest of the input.
	Key []byte
	// Now is when the verdict was given, Took how long that took.
	Now  time.Time
	Took time.Duration
	// Version is the version of this program.
	Version string
	// Troubles are all failures, those that the person was told earlier in
	// the session included. Nil takes the verdict's.
	Troubles cardea.Troubles
	// Late reports that there is no time left to look for secrets: texts of
	// some length are then left out unread, so that an agent cannot keep a
	// call out of the ledger by making it slow to read. Nil is never.
	Late func() bool
}

// NewEntry makes the entry of a verdict on an event. Everything that came from
// outside is redacted first and then cut, so that a cut never hides a secret
// from the redactor.
func NewEntry(ev *cardea.Event, v cardea.Verdict, c Circumstances) Entry {
	w := writing{redactor: c.Redactor, late: c.Late, done: map[string]redact.Text{}}
	// The call comes first: what is a secret there is one in every other text,
	// which may not show it.
	w.learnPath(ev.Cwd)
	w.learnPath(ev.Project)
	call := w.call(ev, v, c.Key)
	e := Entry{
		ID: newID(c.Now), Time: c.Now.UTC().Truncate(time.Microsecond),
		Harness: w.text(ev.Harness, maxName), Session: w.text(ev.Session, maxName),
		Agent: w.text(ev.Agent, maxName), AgentType: w.text(ev.AgentType, maxName),
		Event: w.text(string(ev.Kind), maxName), Mode: w.text(string(ev.Mode), maxName), Role: w.text(ev.Role, maxName),
		Cwd: w.text(ev.Cwd, maxPath), Project: w.text(ev.Project, maxPath),
		Effect: v.Effect, By: w.text(v.By, maxName), Reason: w.text(v.Reason, maxPath), Instead: w.text(v.Instead, maxPath),
		Version: w.text(c.Version, maxName), Took: c.Took.Truncate(time.Microsecond), Call: w.text(ev.CallID, maxName),
	}
	if r := ev.Review; r != nil {
		e.Reviewer, e.Review, e.ReviewReason = w.text(r.By, maxName), w.text(r.Effect.String(), maxName), w.text(r.Reason, maxPath)
	}
	e.Tool, e.Input, e.Rewrite, e.Parts, e.Omitted = call.Tool, call.Input, call.Rewrite, call.Parts, call.Omitted
	e.Opinions = w.opinions(v, &e.Omitted)
	e.Limits = append(e.Limits, lists.Of(c.Limits, func(l cardea.Limit) redact.Text { return w.text(string(l), maxName) })...)
	if len(c.Limits) > 0 && c.Decided != v.Effect {
		e.Decided = w.text(c.Decided.String(), maxName)
	}
	troubles := c.Troubles
	if troubles == nil {
		troubles = v.Troubles
	}
	for i, t := range troubles {
		if i == maxList {
			e.Omitted += len(troubles) - i
			break
		}
		e.Troubles = append(e.Troubles, w.text(t.Error(), maxText))
	}
	return e
}

// call writes what is about the call itself.
func (w *writing) call(ev *cardea.Event, v cardea.Verdict, key []byte) (e Entry) {
	if ev.Call == nil {
		return e
	}
	e.Input = w.input(ev.Call, key)
	for i := range ev.Call.Parts {
		w.learnPart(&ev.Call.Parts[i])
	}
	e.Tool = w.text(ev.Call.Tool, maxName)
	e.Parts = w.parts(ev.Call.Parts, v.Parts, &e.Omitted)
	if v.Rewrite != nil {
		call := *ev.Call
		call.Input, call.Shadowed = v.Rewrite, nil
		rewrite := w.input(&call, key)
		e.Rewrite = &rewrite
	}
	return e
}

// cut shortens a text to a number of bytes, at a character.
func cut(r *redact.Redactor, t redact.Text, limit int) redact.Text {
	s := t.String()
	if len(s) <= limit {
		return t
	}
	const more = " …"
	at := limit - len(more)
	for at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	return r.Text(s[:at] + more)
}

func (w *writing) parts(parts []cardea.Part, effects []cardea.Effect, omitted *int) []Part {
	effect := func(i int) cardea.Effect {
		if i < len(effects) {
			return effects[i]
		}
		return cardea.Abstain
	}
	return lists.Of(strictest(len(parts), effect, omitted), func(i int) Part { return Part{Index: i, Text: w.text(parts[i].Text, maxText), Effect: effect(i)} })
}

func (w *writing) opinions(v cardea.Verdict, omitted *int) []Opinion {
	var out []Opinion
	for _, i := range strictest(len(v.Opinions), func(i int) cardea.Effect { return v.Opinions[i].Effect }, omitted) {
		o := v.Opinions[i]
		out = append(out, Opinion{Decider: w.text(o.Decider, maxName), Rule: w.text(o.Rule, maxName), Effect: o.Effect, Part: o.Part,
			Scope: w.text(o.Scope.String(), maxName), Source: w.text(o.Source, maxText), Severity: w.text(string(o.Severity), maxName),
			Reason: w.text(o.Reason, maxText)})
	}
	return out
}

// strictest gives the indexes of at most maxList of n things, in order. Where
// there are more, the strictest stay: fifty harmless commands must not push the
// one that matters out of the ledger.
func strictest(n int, effect func(int) cardea.Effect, omitted *int) []int {
	at := make([]int, n)
	for i := range at {
		at[i] = i
	}
	if n <= maxList {
		return at
	}
	sort.SliceStable(at, func(i, j int) bool { return effect(at[i]).Stricter(effect(at[j])) })
	*omitted += n - maxList
	at = at[:maxList]
	sort.Ints(at)
	return at
}
