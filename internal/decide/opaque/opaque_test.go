package opaque_test

import (
	"context"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/decide/opaque"
)

func decide(t *testing.T, o cardea.OnError, ev *cardea.Event) []cardea.Opinion {
	t.Helper()
	d := opaque.New(o)
	ops, err := d.Decide(context.Background(), ev)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range ops {
		if op.Decider != d.Name() || op.Scope != cardea.ScopeBuiltin || op.Rule == "" {
			t.Errorf("opinion without origin: %+v", op)
		}
	}
	return ops
}

func TestPartsThatCannotBeSeen(t *testing.T) {
	spot := []cardea.Opaque{{Text: "$x", Reason: "command name from a variable"}}
	ev := &cardea.Event{Kind: cardea.PreToolUse, Call: &cardea.Call{Parts: []cardea.Part{
		{ShellFacts: cardea.ShellFacts{Text: "ls", Coverage: cardea.Complete}},
		{ShellFacts: cardea.ShellFacts{Text: "$x -rf /", Coverage: cardea.Complete, Opaque: spot}},
		{ShellFacts: cardea.ShellFacts{Text: "make", Coverage: cardea.Partial}},
	}}}
	for o, want := range map[cardea.OnError]cardea.Effect{
		cardea.OnErrorDefer: cardea.Defer, cardea.OnErrorDeny: cardea.Deny, cardea.OnErrorAllow: cardea.Defer,
	} {
		ops := decide(t, o, ev)
		if len(ops) != 2 || ops[0].Part != 1 || ops[1].Part != 2 {
			t.Fatalf("%s: %+v", o, ops)
		}
		for _, op := range ops {
			if op.Effect != want {
				t.Errorf("%s: part %d is at %s, want %s", o, op.Part, op.Effect, want)
			}
		}
		if want := `"$x": command name from a variable`; !strings.Contains(ops[0].Reason, want) {
			t.Errorf("reason %q does not name the spot", ops[0].Reason)
		}
		if want := `"make" may start programs`; !strings.Contains(ops[1].Reason, want) {
			t.Errorf("reason %q", ops[1].Reason)
		}
	}
}

func TestWholeCall(t *testing.T) {
	ev := &cardea.Event{Kind: cardea.PreToolUse,
		Faults: []cardea.Opaque{{Text: "command", Reason: "duplicate key"}},
		Call: &cardea.Call{Opaque: []cardea.Opaque{
			{Reason: "the line does not parse"}, {Text: "a\x1b[2J"}, {Text: strings.Repeat("x", 500), Reason: "long"}, {}, {}}}}
	ops := decide(t, cardea.OnErrorDefer, ev)
	if len(ops) != 2 || ops[0].Part != cardea.WholeCall || ops[1].Part != cardea.WholeCall {
		t.Fatalf("%+v", ops)
	}
	if got := ops[0].Reason; got != `the tool input cannot be read with certainty: "command": duplicate key` {
		t.Errorf("fault: %q", got)
	}
	for _, want := range []string{"the line does not parse", `"a\x1b[2J"`, "x…", "and 2 more"} {
		if !strings.Contains(ops[1].Reason, want) {
			t.Errorf("reason %q lacks %q", ops[1].Reason, want)
		}
	}
	if len(ops[1].Reason) > 400 {
		t.Error("a long spot is told whole")
	}
}

// A call beyond a limit asks, whatever part is beyond it. It is denied if no person
// attends.
func TestBeyondALimit(t *testing.T) {
	honest := cardea.Opaque{Code: cardea.OpaqueEval, Text: "eval"}
	beyond := []cardea.Opaque{honest, {Code: cardea.OpaqueTooDeep, Text: "((("}}
	for name, ev := range map[string]cardea.Event{
		"input": {Faults: beyond, Call: &cardea.Call{}},
		"call":  {Call: &cardea.Call{Opaque: beyond}},
		"part":  {Call: &cardea.Call{Parts: []cardea.Part{{ShellFacts: cardea.ShellFacts{Opaque: beyond}}}}},
	} {
		for o, want := range map[cardea.OnError][2]cardea.Effect{
			cardea.OnErrorDefer: {cardea.Ask, cardea.Deny}, cardea.OnErrorDeny: {cardea.Deny, cardea.Deny}, cardea.OnErrorAllow: {cardea.Ask, cardea.Ask},
		} {
			for i, at := range []*cardea.Event{&ev, ev.With(func(e *cardea.Event) { e.Attendance = cardea.NobodyAttends })} {
				if ops := decide(t, o, at); len(ops) != 1 || ops[0].Effect != want[i] {
					t.Errorf("%s, on_error %s: %+v", name, o, ops)
				}
			}
		}
	}
}

func TestNothingToSay(t *testing.T) {
	for _, ev := range []*cardea.Event{
		{Kind: "Stop"},
		{Kind: cardea.PreToolUse, Call: &cardea.Call{Parts: []cardea.Part{{ShellFacts: cardea.ShellFacts{Text: "ls", Coverage: cardea.Complete}}}}},
	} {
		if ops := decide(t, cardea.OnErrorDeny, ev); len(ops) != 0 {
			t.Errorf("%+v", ops)
		}
	}
}
