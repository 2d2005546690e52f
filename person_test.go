package cardea

import (
	"testing"
	"time"
)

// A person's answer replaces only an ask.
func TestByPerson(t *testing.T) {
	for _, e := range Effects() {
		v := Verdict{Effect: e, By: "rules:x", Reason: "R", Rewrite: map[string]any{"command": "x"}, Rewritten: &Call{}}
		for _, answer := range Effects() {
			got := v.ByPerson(Opinion{Decider: "person", Rule: "queue", Effect: answer, Reason: "P"}, time.Second)
			switch {
			case e.Stricter(Ask):
				if got.Effect != e || got.Person || got.By != "rules:x" {
					t.Errorf("%s answered %s: %+v", e, answer, got)
				}
			case answer == Allow:
				if got.Effect != Allow || !got.Person || got.By != "person:queue" || got.Rewrite == nil {
					t.Errorf("%s answered %s: %+v", e, answer, got)
				}
			default:
				if !got.Effect.Stricter(Ask) || got.Person || got.Rewrite != nil || got.Rewritten != nil {
					t.Errorf("%s answered %s: %+v", e, answer, got)
				}
			}
		}
	}
}

// A person's allow covers what is reserved for a person, except a tool that is a question.
func TestPersonMayAllowWhatIsReserved(t *testing.T) {
	can := Capabilities{Questions: []string{"AskUserQuestion"}, Protected: func(Access) bool { return true }, Critical: func(Access, Part, *Event) bool { return true },
		Rows: []Row{{Allow: Allow, Ask: Ask, Deny: Deny, Halt: Halt, Reserved: []Shortfall{Question, NativeAsk, Unsandboxed, ProtectedPath, CriticalDelete}}}}
	ev := func(tool string) *Event {
		return &Event{Kind: PermissionRequest, NativeAsk: true, Call: &Call{Tool: tool, Unsandboxed: true, Parts: []Part{{CommandFacts: CommandFacts{Access: []Access{{Kind: Write}}}}}}}
	}
	for _, tt := range []struct {
		tool   string
		person bool
		want   Effect
	}{{"Bash", false, Abstain}, {"Bash", true, Allow}, {"AskUserQuestion", true, Abstain}} {
		if a := Express(Verdict{Effect: Allow, Person: tt.person}, can, ev(tt.tool)); a.Effect != tt.want {
			t.Errorf("%s, person %v: %s", tt.tool, tt.person, a.Effect)
		}
	}
}
