package ledger

import (
	"sort"
	"time"
	"unicode/utf8"

	"cardea.dev"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/command/redact"
)

// The limits of an entry, in bytes of text. Longer texts are cut and marked as cut. Longer lists
// lose their least important items.
const (
	maxName  = 256
	maxPath  = 1 << 10
	maxText  = 512
	maxInput = 4 << 10
	maxList  = 64
)

// Entry is one verdict as it is stored. [NewEntry] makes it.
type Entry struct {
	// ID names the entry for "cardea explain". Ids sort by time.
	ID   string
	Time time.Time
	// Harness to Project are the event's, see [cardea.Event].
	Harness, Session, Agent, AgentType redact.Text
	Event, Mode, Tool, Role            redact.Text
	Cwd, Project                       redact.Text
	// InputSummary is a summary of the call: the command, or the important fields of another tool's input.
	// It never holds the contents of files.
	Input InputSummary
	// Rewrite is the summary of the input that replaced it, nil without a rewrite.
	Rewrite *InputSummary
	// Effect is the effect of the answer.
	Effect cardea.Effect
	// Limits are the reasons why the answer differs from the decision. Decided is the effect that
	// was decided, where it differs from Effect.
	Decided redact.Text
	Limits  []redact.Text
	// By, Reason and Instead are those of the verdict.
	By, Reason, Instead redact.Text
	Parts               []Part
	Opinions            []Opinion
	// Call is the harness's id of the call. Reviewer, Review and ReviewReason are By, Effect and
	// Reason of a [cardea.Review]; Review is empty where the entry reports none.
	Call, Reviewer, Review, ReviewReason redact.Text
	// Issues are the failures that a person had to learn of.
	Issues []redact.Text
	// Omitted is the number of parts, opinions and issues that are not stored.
	Omitted int
	// Version is the version of Cardea that decided, Took the time it took, in whole microseconds.
	Version redact.Text
	Took    time.Duration
}

// InputSummary is a summary of a tool's input.
type InputSummary struct {
	Text redact.Text
	// Bytes is the length of the whole input as JSON, Digest its digest under the user's key. Two
	// calls with the same digest are the same call. Without the key, an input cannot be found by
	// guessing.
	Bytes  int
	Digest string
}

// Part is a part of the call with its effect. Index is its position in the call.
type Part struct {
	Index  int
	Text   redact.Text
	Effect cardea.Effect
}

// Opinion is the opinion of one decider. Part is the index of a part, or [cardea.WholeCall].
type Opinion struct {
	Decider, Rule           redact.Text
	Effect                  cardea.Effect
	Part                    int
	Scope, Source, Severity redact.Text
	Reason                  redact.Text
}

// Circumstances holds the contents of an entry that come from neither event nor verdict.
type Circumstances struct {
	Redactor *redact.Redactor
	// Decided and Limits are those of the [cardea.Answer].
	Decided cardea.Effect
	Limits  []cardea.Shortfall
	// Key is the user's key, for the digest of the input.
	Key []byte
	// Now is the time of the verdict, Took the time that deciding took.
	Now  time.Time
	Took time.Duration
	// Version is the version of this program.
	Version string
	// Issues are all failures, including those already reported to the person in this session. Nil
	// means the issues of the verdict.
	Issues cardea.Issues
	// Late reports whether no time is left to look for secrets. Longer texts are then left out
	// unread, so that an agent cannot keep a call out of the ledger by making it slow to read. Nil
	// means never.
	Late func() bool
}

// NewEntry returns the entry of a verdict on an event. It redacts all outside text before it cuts
// it, so that a cut never hides a secret from the redactor.
func NewEntry(ev *cardea.Event, v cardea.Verdict, c Circumstances) Entry {
	w := writing{redactor: c.Redactor, late: c.Late, done: map[string]redact.Text{}}
	// The call comes first, since its secrets must be redacted in every other text.
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
	e.Limits = append(e.Limits, lists.Of(c.Limits, func(l cardea.Shortfall) redact.Text { return w.text(string(l), maxName) })...)
	if len(c.Limits) > 0 && c.Decided != v.Effect {
		e.Decided = w.text(c.Decided.String(), maxName)
	}
	issues := c.Issues
	if issues == nil {
		issues = v.Issues
	}
	for i, t := range issues {
		if i == maxList {
			e.Omitted += len(issues) - i
			break
		}
		e.Issues = append(e.Issues, w.text(t.Error(), maxText))
	}
	return e
}

// call returns an entry with the fields about the call itself.
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

// cut shortens a text to limit bytes, at a character boundary.
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

// strictest returns the indexes of at most maxList of n items, in order. It prefers the strictest,
// so that many harmless commands cannot push a dangerous one out of the ledger.
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
