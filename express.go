package cardea

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Capabilities is what a harness can express. An adapter declares it as a table
// with a row for each kind of event.
type Capabilities struct {
	// Harness is the harness's name, for people.
	Harness string
	// Rows are the kinds of event. The first row that has a kind counts.
	Rows []Row
	// Questions are the tools that are themselves a question to the person. An
	// allow would answer it.
	Questions []string
	// Protected reports an access to a path that the harness never lets be
	// written without asking a person, Critical a deletion of the kind.
	Protected func(Access) bool
	Critical  func(Access, Part, *Event) bool
}

// Row is what an answer to events of some kinds can do.
type Row struct {
	// Kinds are the events, nil for all that no row before this one has.
	Kinds []Kind
	// Wires are the names that the harness has for the events, where events of one kind
	// differ in what they can do; nil for all.
	Wires []string
	// Allow, Ask, Deny and Halt say what becomes of a verdict with this effect:
	// the effect itself where the harness can express it, a weaker or stricter
	// one that it can express instead, or Abstain, which is silence.
	Allow, Ask, Deny, Halt Effect
	// AskUnattended takes the place of Ask where no person is sure to see the
	// question; Abstain means that Ask holds there too.
	AskUnattended Effect
	// Rewrite is set where an answer can replace the tool input.
	Rewrite bool
	// AsksRewritten is set where a question shows the person the new input. Else the
	// question is about the call as it was sent.
	AsksRewritten bool
	// RewritesInFlow is set where another input can be given without an allow: the
	// harness's own flow decides about it, where Allow is silence.
	RewritesInFlow bool
	// Context says with which answers the model can be told something more.
	Context ContextUse
	// Notice is set where the person is shown something that decides nothing.
	Notice bool
	// Shown are the modes in which the event proves that the harness shows the call to a
	// person, and that only the person can let it run.
	Shown []Mode
	// Reserved are calls that an allow is not given for, since it would answer
	// in the person's place.
	Reserved []Limit
}

// ContextUse says with which effects context reaches the model.
type ContextUse uint8

// The uses of context, each including those before it.
const (
	// ContextNever: the event has no place for context.
	ContextNever ContextUse = iota
	// ContextOnDeny: with deny and halt.
	ContextOnDeny
	// ContextOnAsk: also with ask.
	ContextOnAsk
	// ContextAlways: also with silence and allow.
	ContextAlways
)

// Limit is a reason why an answer is not all that the verdict says.
type Limit string

// The limits. Those of the harness:
const (
	// NoAllow: the harness cannot be told that a call may run.
	NoAllow Limit = "no-allow"
	// NoAsk: the harness cannot be told to ask a person.
	NoAsk Limit = "no-ask"
	// OwnPrompt: the harness asks by its own prompt where it is told nothing.
	OwnPrompt Limit = "own-prompt"
	// NoDeny: nothing can be held back on this event.
	NoDeny Limit = "no-deny"
	// NoHalt: the harness cannot be told to stop the agent.
	NoHalt Limit = "no-halt"
	// NoRewrite: the harness does not take another input.
	NoRewrite Limit = "no-rewrite"
	// UnwritableRewrite: the new input cannot be written as JSON.
	UnwritableRewrite Limit = "unwritable-rewrite"
	// NoContext: the model cannot be told something with this answer.
	NoContext Limit = "no-context"
)

// Those of calls that are reserved for a person, in [Row].Reserved:
const (
	// Question: the tool is itself a question to the person.
	Question Limit = "question"
	// NativeAsk: the harness's own lists ask about the call.
	NativeAsk Limit = "native-ask"
	// Reviewer: the harness's own reviewer decides about the call.
	Reviewer Limit = "reviewer"
	// Unsandboxed: the call asks to run outside of the harness's sandbox.
	Unsandboxed Limit = "unsandboxed"
	// ProtectedPath: the call writes where the harness always asks.
	ProtectedPath Limit = "protected-path"
	// CriticalDelete: the call deletes what the harness always asks about.
	CriticalDelete Limit = "critical-delete"
)

// limitTexts say for people what limits mean.
var limitTexts = map[Limit]string{
	NoAllow:           "this harness cannot be told that a call may run",
	NoAsk:             "this harness cannot be told to ask a person here",
	OwnPrompt:         "this harness asks by its own prompt",
	NoDeny:            "nothing can be held back on this event",
	NoHalt:            "this harness cannot be told to stop the agent here",
	NoRewrite:         "this harness takes no other input here",
	UnwritableRewrite: "the rewritten input cannot be written as JSON",
	NoContext:         "the model cannot be told something with this answer",
	Question:          "the tool is itself a question to the person",
	NativeAsk:         "the harness's own lists ask about this call",
	Reviewer:          "the harness's own reviewer decides about this call",
	Unsandboxed:       "the call asks to run outside of the sandbox, which only a person allows",
	ProtectedPath:     "the call may write to a protected path, which only a person allows",
	CriticalDelete:    "the call may delete what only a person lets be deleted",
}

// Text says for people what a limit means.
func (l Limit) Text() string { return cmp.Or(limitTexts[l], string(l)) }

// Answer is what the harness is told: the verdict, as far as the harness can
// express it.
type Answer struct {
	// Verdict is what is told. Its effect is the answer's: what the harness does
	// is what it does for this effect.
	Verdict
	// Decided is the effect that the gate decided.
	Decided Effect
	// Limits are why the answer is not all that the gate decided.
	Limits []Limit
	// TellPerson and TellModel are set where the reason is told to them although
	// the answer holds nothing back.
	TellPerson, TellModel bool
	// Foreign is set where the answer goes to another harness than the one in whose form it is
	// written, which may not know all of its fields.
	Foreign bool
}

// Express is the last step of the gate: it fits a verdict to what the harness can
// express. It is a pure function, so that an adapter only has to write down what
// comes out of it.
//
// An ask that cannot be asked is a deny, and so is a rewrite that cannot be
// written. A rewrite that the harness does not take is asked about. An allow that
// cannot be given, or that a person alone may give, is silence. What cannot hold
// an event back is told to the person and the model.
func Express(v Verdict, can Capabilities, ev *Event) Answer {
	row := can.row(ev)
	a := Answer{Verdict: v, Decided: v.Effect}
	a.expressRewrite(row, ev)
	switch a.Effect {
	case Abstain, Defer:
	case Allow:
		a.expressAllow(row, can, ev)
	case Ask:
		a.expressAsk(row, can, ev)
	case Halt:
		a.hold(row.Halt, row, NoHalt)
	default: // an effect that nobody knows is a deny
		a.hold(row.Deny, row, NoDeny)
	}
	inFlow := row.RewritesInFlow && v.Effect == Allow && slices.Contains(a.Limits, NoAllow)
	if a.Effect != Allow && (a.Effect != Ask || !row.AsksRewritten) && !inFlow {
		a.Rewrite = nil
	}
	if v.Rewrite != nil && a.Rewrite == nil && !a.Effect.Stricter(Ask) {
		a.tellRewrite(v.Rewrite, row, ev)
	}
	if len(a.Context) > 0 && !row.Context.with(a.Effect) {
		a.Context = nil
		a.limit(NoContext)
	}
	return a
}

// Tells reports whether an answer to the event can show the person a notice.
func (can Capabilities) Tells(ev *Event) bool { return can.row(ev).Notice }

// Asks reports whether the event proves that the harness asks a person about the call.
func (can Capabilities) Asks(ev *Event) bool {
	return ev.Attended() && slices.Contains(can.row(ev).Shown, ev.Mode)
}

func (can *Capabilities) row(ev *Event) Row {
	for _, r := range can.Rows {
		if (r.Wires == nil || slices.Contains(r.Wires, ev.Wire)) && (r.Kinds == nil || slices.Contains(r.Kinds, ev.Kind)) {
			return r
		}
	}
	return Row{}
}

func (a *Answer) limit(l Limit) { a.Limits = append(a.Limits, l) }

// expressRewrite takes a rewrite away that cannot be expressed.
func (a *Answer) expressRewrite(row Row, ev *Event) {
	if a.Rewrite == nil || a.Effect.Stricter(Ask) {
		return
	}
	if !row.Rewrite || ev.Call == nil || ev.Call.OneWay {
		a.Rewrite, a.Effect = nil, a.Effect.JoinPart(Ask)
		a.limit(NoRewrite)
		return
	}
	if _, err := json.Marshal(a.Rewrite); err != nil {
		a.Effect, a.Instead = Deny, ""
		a.Reason = UnwritableRewrite.Text() + ": " + err.Error()
		a.Message = a.Reason
		a.limit(UnwritableRewrite)
	}
}

// tellRewrite tells the person of a new input that the answer cannot carry: what they
// say yes to is the call as it was sent.
func (a *Answer) tellRewrite(input map[string]any, row Row, ev *Event) {
	var fields []string
	for _, name := range slices.Sorted(maps.Keys(input)) {
		if ev.Call == nil || !reflect.DeepEqual(ev.Call.Input[name], input[name]) {
			text, ok := input[name].(string)
			if !ok {
				text = fmt.Sprint(input[name])
			}
			fields = append(fields, fmt.Sprintf("%s: %q", name, text))
		}
	}
	hint := "\na yes runs the call as it was sent, not with " + strings.Join(fields, ", ")
	a.Reason, a.Message = strings.TrimPrefix(a.Reason+hint, "\n"), strings.TrimPrefix(a.Message+hint, "\n")
	a.TellPerson = a.TellPerson || row.Notice && !row.AsksRewritten
	if !slices.Contains(a.Limits, NoRewrite) {
		a.limit(NoRewrite)
	}
}

// expressAllow gives an allow, unless it would answer in the person's place.
func (a *Answer) expressAllow(row Row, can Capabilities, ev *Event) {
	for _, l := range row.Reserved {
		if (!a.Person || l == Question) && (can.reserves(l, ev) || a.Rewritten != nil && can.reserves(l, ev.WithCall(a.Rewritten))) {
			a.Effect = Abstain
			a.limit(l)
			return
		}
	}
	if a.Effect = row.Allow; row.Allow != Allow {
		a.limit(NoAllow)
	}
}

// reserves reports whether a limit holds for a call.
func (can *Capabilities) reserves(l Limit, ev *Event) bool {
	c := ev.Call
	if c == nil {
		return true
	}
	switch l {
	case Question:
		return slices.Contains(can.Questions, c.Tool)
	case NativeAsk:
		return ev.NativeAsk
	case Reviewer:
		return ev.Reviewed
	case Unsandboxed:
		return c.Unsandboxed
	case ProtectedPath:
		return c.accesses(func(a Access, _ Part) bool { return can.Protected(a) })
	case CriticalDelete:
		return c.accesses(func(a Access, p Part) bool { return can.Critical(a, p, ev) })
	}
	return true
}

func (c *Call) accesses(is func(Access, Part) bool) bool {
	return slices.ContainsFunc(c.Parts, func(p Part) bool {
		return slices.ContainsFunc(p.Access, func(a Access) bool { return is(a, p) })
	})
}

// expressAsk asks, or does what takes the place of a question.
func (a *Answer) expressAsk(row Row, can Capabilities, ev *Event) {
	to := row.Ask
	if row.AskUnattended != Abstain && !ev.Attended() {
		to = row.AskUnattended
	}
	a.Effect = to
	switch to {
	case Ask:
	case Defer:
		a.limit(OwnPrompt)
	case Deny:
		a.limit(NoAsk)
		hint := "\n(" + cmp.Or(can.Harness, "this hook") + " cannot ask a person here, so this is refused; a person can run it)"
		a.Reason, a.Message = a.Reason+hint, a.Message+hint
	default:
		a.limit(NoAsk)
		a.TellPerson = row.Notice
	}
}

// hold holds the event back as the row can. What cannot be held back is told.
func (a *Answer) hold(to Effect, row Row, l Limit) {
	if to == a.Effect || to == Deny && a.Effect > Halt {
		a.Effect = to
		return
	}
	a.Effect = to
	a.limit(l)
	if to == Abstain {
		a.TellPerson = row.Notice
		a.TellModel = row.Context == ContextAlways
	}
}

// with reports whether context is told with an effect.
func (u ContextUse) with(e Effect) bool {
	switch e {
	case Deny, Halt:
		return u >= ContextOnDeny
	case Ask:
		return u >= ContextOnAsk
	}
	return u == ContextAlways
}
