package cardea_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"cardea.dev"
)

// rows returns all rows that a table can have, but for reserved calls.
func rows() []cardea.Row {
	var out []cardea.Row
	for i := range 2 * 4 * 2 * 3 * 3 * 2 * 4 * 2 * 2 {
		pick := func(from ...cardea.Effect) cardea.Effect {
			e := from[i%len(from)]
			i /= len(from)
			return e
		}
		r := cardea.Row{Allow: pick(cardea.Abstain, cardea.Allow), Ask: pick(cardea.Abstain, cardea.Defer, cardea.Ask, cardea.Deny),
			Deny: pick(cardea.Abstain, cardea.Deny), Halt: pick(cardea.Abstain, cardea.Deny, cardea.Halt),
			AskUnattended: pick(cardea.Abstain, cardea.Deny, cardea.Ask)}
		r.Rewrite = pick(0, 1) == 1
		r.Context = cardea.ContextUse(pick(0, 1, 2, 3))
		r.Notice = pick(0, 1) == 1
		r.RewritesInFlow = pick(0, 1) == 1
		out = append(out, r)
	}
	return out
}

// Holds for every answer, whatever a harness can express.
func TestExpressLaws(t *testing.T) {
	call := &cardea.Call{Tool: "Bash", Parts: make([]cardea.Part, 1)}
	for _, row := range rows() {
		can := cardea.Capabilities{Harness: "h", Rows: []cardea.Row{row}}
		for _, e := range append(cardea.Effects(), cardea.Effect(99)) {
			for extras := range 4 {
				ev := &cardea.Event{Kind: cardea.PreToolUse, Mode: []cardea.Mode{"default", "auto"}[extras%2], Call: call}
				v := cardea.Verdict{Effect: e, Reason: "r", Message: "m", Context: []string{"c"}}
				if extras > 1 {
					v.Rewrite = map[string]any{"command": "x"}
				}
				before := fmt.Sprintf("%+v", v)
				a := cardea.Express(v, can, ev)
				if err := law(row, v, a); err != "" || fmt.Sprintf("%+v", v) != before || !reflect.DeepEqual(a, cardea.Express(v, can, ev)) {
					t.Fatalf("%+v, %s: %s\n%+v", row, e, err, a)
				}
			}
		}
	}
}

func law(row cardea.Row, v cardea.Verdict, a cardea.Answer) string {
	held := a.Effect == cardea.Deny || a.Effect == cardea.Halt
	can := map[cardea.Effect][]cardea.Effect{cardea.Allow: {row.Allow}, cardea.Ask: {row.Ask, row.AskUnattended},
		cardea.Deny: {row.Deny, row.Halt, row.Ask, row.AskUnattended}, cardea.Halt: {row.Halt}}[a.Effect]
	switch {
	case a.Decided != v.Effect:
		return "decided is another effect"
	case a.Effect > cardea.Halt:
		return "an effect that nobody knows"
	case a.Effect != v.Effect && v.Effect <= cardea.Halt && len(a.Limits) == 0:
		return "no reason why it differs"
	case a.Effect == cardea.Allow && v.Effect != cardea.Allow, a.Effect == cardea.Ask && v.Effect > cardea.Ask:
		return "weaker than the verdict"
	case can != nil && !slices.Contains(can, a.Effect):
		return "the row cannot express it"
	case a.Rewrite != nil && (!row.Rewrite || held || a.Effect == cardea.Defer):
		return "a rewrite that is not taken"
	case a.Rewrite != nil && a.Effect == cardea.Abstain && (!row.RewritesInFlow || v.Effect != cardea.Allow):
		return "a rewrite without an allow"
	case v.Rewrite != nil && v.Effect == cardea.Allow && a.Effect == cardea.Allow && a.Rewrite == nil:
		return "the input is allowed as it was"
	case len(a.Context) > 0 && row.Context == cardea.ContextNever:
		return "context that is not told"
	case held && (a.TellPerson || a.TellModel):
		return "told twice"
	}
	return ""
}

// A call that is reserved for a person is not allowed, whichever decider allows it.
func TestReservedCallsAreNotAllowed(t *testing.T) {
	can := cardea.Capabilities{Questions: []string{"Question"}, Protected: func(a cardea.Access) bool { return a.Path == "/protected" },
		Critical: func(a cardea.Access, _ cardea.Part, ev *cardea.Event) bool { return a.Path == ev.Home },
		Rows: []cardea.Row{{Allow: cardea.Allow, Reserved: []cardea.Shortfall{cardea.Question, cardea.NativeAsk, cardea.Unsandboxed,
			cardea.ProtectedPath, cardea.CriticalDelete}}}}
	touching := func(path string) *cardea.Event {
		return &cardea.Event{Home: "/home", Call: &cardea.Call{Tool: "Bash", Parts: []cardea.Part{{}, {CommandFacts: cardea.CommandFacts{Access: []cardea.Access{{Path: path}}}}}}}
	}
	with := func(change func(*cardea.Event)) *cardea.Event { return touching("/x").With(change) }
	for want, ev := range map[cardea.Shortfall]*cardea.Event{
		"": touching("/x"), cardea.ProtectedPath: touching("/protected"), cardea.CriticalDelete: touching("/home"),
		cardea.NativeAsk:   with(func(e *cardea.Event) { e.NativeAsk = true }),
		cardea.Question:    with(func(e *cardea.Event) { e.Call = &cardea.Call{Tool: "Question"} }),
		cardea.Unsandboxed: with(func(e *cardea.Event) { e.Call.Unsandboxed = true }),
	} {
		a := cardea.Express(cardea.Verdict{Effect: cardea.Allow}, can, ev)
		if want == "" && a.Effect == cardea.Allow && len(a.Limits) == 0 {
			continue
		}
		if a.Effect != cardea.Abstain || !slices.Equal(a.Limits, []cardea.Shortfall{want}) {
			t.Errorf("%s: %s, %v", want, a.Effect, a.Limits)
		}
	}
	rewritten := cardea.Verdict{Effect: cardea.Allow, Rewritten: touching("/protected").Call}
	if a := cardea.Express(rewritten, can, touching("/x")); a.Effect != cardea.Abstain {
		t.Error("a rewrite into what is reserved is allowed")
	}
	if a := cardea.Express(cardea.Verdict{Effect: cardea.Allow}, can, &cardea.Event{}); a.Effect == cardea.Allow {
		t.Error("what is no call is allowed")
	}
}

func TestEveryLimitIsExplained(t *testing.T) {
	for _, l := range []cardea.Shortfall{cardea.NoAllow, cardea.NoAsk, cardea.OwnPrompt, cardea.NoDeny, cardea.NoHalt, cardea.NoRewrite, cardea.UnwritableRewrite,
		cardea.NoContext, cardea.Question, cardea.NativeAsk, cardea.Unsandboxed, cardea.ProtectedPath, cardea.CriticalDelete} {
		if l.Text() == string(l) {
			t.Errorf("%s has no words", l)
		}
	}
}
