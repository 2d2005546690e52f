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

// Capabilities describes the answers that a harness can express, as a table with a row for each
// kind of event.
type Capabilities struct {
	// Harness is the harness's name, for people.
	Harness string
	// Rows are the kinds of event. The first row that matches an event applies.
	Rows []Row
	// Questions are the tools that are themselves a question to the person. An allow would answer
	// the question.
	Questions []string
	// Protected reports a write to a path for which the harness always asks a person. Critical
	// reports such a deletion.
	Protected func(Access) bool
	Critical  func(Access, Part, *Event) bool
}

// Row describes the effect of an answer to events of some kinds.
type Row struct {
	// Kinds are the kinds of event, nil for every kind.
	Kinds []Kind
	// Wires are the harness's names of the events, for kinds whose events differ in their
	// capabilities; nil for all names.
	Wires []string
	// Allow, Ask, Deny and Halt are the effects that replace a verdict of that effect: the same
	// effect where the harness can express it, another one that it can express, or Abstain, which
	// is silence.
	Allow, Ask, Deny, Halt Effect
	// AskUnattended replaces Ask where no person is sure to see the question. With Abstain, Ask
	// applies there as well.
	AskUnattended Effect
	// Rewrite is set where an answer can replace the tool input.
	Rewrite bool
	// AsksRewritten is set where a question shows the person the new input. Otherwise the question
	// is about the call as it was sent.
	AsksRewritten bool
	// RewritesInFlow is set where an answer can replace the input without an allow. Allow is then
	// silence, and the harness's own flow decides about the new input.
	RewritesInFlow bool
	// Context states which answers can carry context for the model.
	Context ContextUse
	// Notice is set where an answer can show the person a text that decides nothing.
	Notice bool
	// Shown are the modes in which the event proves that the harness shows the call to a person,
	// and that only the person can let it run.
	Shown []Mode
	// Reserved are the calls that are never allowed on this event, since an allow would answer in
	// the person's place.
	Reserved []Shortfall
}

// ContextUse states with which effects context reaches the model.
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

// Shortfall is a reason why an answer differs from the verdict.
type Shortfall string

// The shortfalls of the harness:
const (
	// NoAllow: an answer cannot let the call run.
	NoAllow Shortfall = "no-allow"
	// NoAsk: an answer cannot make the harness ask a person.
	NoAsk Shortfall = "no-ask"
	// OwnPrompt: without an answer, the harness shows its own prompt.
	OwnPrompt Shortfall = "own-prompt"
	// NoDeny: an answer cannot hold this event back.
	NoDeny Shortfall = "no-deny"
	// NoHalt: an answer cannot stop the agent.
	NoHalt Shortfall = "no-halt"
	// NoRewrite: an answer cannot replace the input.
	NoRewrite Shortfall = "no-rewrite"
	// UnwritableRewrite: the new input cannot be written as JSON.
	UnwritableRewrite Shortfall = "unwritable-rewrite"
	// NoContext: this answer cannot carry context for the model.
	NoContext Shortfall = "no-context"
)

// The shortfalls of calls that are reserved for a person, in [Row].Reserved:
const (
	// Question: the tool is itself a question to the person.
	Question Shortfall = "question"
	// NativeAsk: the harness's own lists ask about the call.
	NativeAsk Shortfall = "native-ask"
	// Reviewer: the harness's own reviewer decides about the call.
	Reviewer Shortfall = "reviewer"
	// Unsandboxed: the call asks to run outside of the harness's sandbox.
	Unsandboxed Shortfall = "unsandboxed"
	// ProtectedPath: the call writes where the harness always asks.
	ProtectedPath Shortfall = "protected-path"
	// CriticalDelete: the call deletes what the harness always asks about.
	CriticalDelete Shortfall = "critical-delete"
)

// limitTexts are the meanings of the shortfalls, for people.
var limitTexts = map[Shortfall]string{
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

// Text returns the meaning of the shortfall, for people.
func (l Shortfall) Text() string { return cmp.Or(limitTexts[l], string(l)) }

// Answer is the verdict in a form that the harness can express.
type Answer struct {
	// Verdict is the verdict as sent. Its effect is the one that the harness applies.
	Verdict
	// Decided is the effect that the gate decided.
	Decided Effect
	// Limits are the reasons why the answer differs from what the gate decided.
	Limits []Shortfall
	// TellPerson and TellModel are set where the person or the model gets the reason although the
	// answer holds nothing back.
	TellPerson, TellModel bool
	// Foreign is set where the answer goes to another harness than the one in whose form it is
	// written. That harness may not know all of its fields.
	Foreign bool
}

// Express returns the answer to ev that is nearest to the verdict among those the harness can
// express. It is the last step of the gate and a pure function, so that an adapter only writes the
// result down.
//
// An ask becomes a deny where the harness cannot ask, and so does a rewrite that cannot be written.
// A rewrite that the harness does not take becomes an ask. An allow becomes silence where the
// harness cannot express it or reserves it for a person. Where an event cannot be held back, the
// person and the model get the reason.
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
	default: // an unknown effect is treated as deny
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

func (a *Answer) limit(l Shortfall) { a.Limits = append(a.Limits, l) }

// expressRewrite removes a rewrite that the harness cannot express.
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

// tellRewrite adds to the reason a new input that the answer cannot carry, since a yes of the
// person then runs the call as it was sent.
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

// expressAllow sets the effect of an allow, or silence where the call is reserved for a person.
func (a *Answer) expressAllow(row Row, can Capabilities, ev *Event) {
	for _, l := range row.Reserved {
		if (!a.Person || l == Question) && (can.reserves(l, ev) || a.Rewritten != nil && can.reserves(l, ev.With(func(e *Event) { e.Call = a.Rewritten }))) {
			a.Effect = Abstain
			a.limit(l)
			return
		}
	}
	if a.Effect = row.Allow; row.Allow != Allow {
		a.limit(NoAllow)
	}
}

// reserves reports whether a shortfall applies to a call.
func (can *Capabilities) reserves(l Shortfall, ev *Event) bool {
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

// expressAsk sets the effect of an ask, or its replacement where the harness cannot ask.
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

// hold sets the effect to, which the row gives for a deny or halt. Where that is silence, the
// person and the model get the reason.
func (a *Answer) hold(to Effect, row Row, l Shortfall) {
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

// with reports whether an answer of effect e can carry context.
func (u ContextUse) with(e Effect) bool {
	switch e {
	case Deny, Halt:
		return u >= ContextOnDeny
	case Ask:
		return u >= ContextOnAsk
	}
	return u == ContextAlways
}
