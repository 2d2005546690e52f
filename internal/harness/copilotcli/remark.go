package copilotcli

import (
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// remark is the output on an event that is about no call that is still to run.
type remark struct {
	Decision string `json:"decision,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Context  string `json:"additionalContext,omitempty"`
}

// maxContext is how long a context may be, in bytes: 10 KB less what JSON adds.
const maxContext = 9_000

// remarkBody writes a verdict on such an event (docs/harnesses.md#copilot-cli): the end of a
// turn can be held back, which a halt does not; after a tool, on a prompt and on a notification the
// model can be told something; the rest is for the person.
func remarkBody(ev *cardea.Event, v cardea.Verdict) (body any, person string) {
	if ev.Kind == "" {
		return nil, ""
	}
	out := remark{}
	context := v.Context
	held := v.Effect.Stricter(cardea.Ask)
	if v.Effect == cardea.Ask {
		person = harness.ForPerson(v)
	}
	switch ev.Kind {
	case "Stop", "SubagentStop":
		switch {
		case v.Effect == cardea.Halt: // it stops by itself; holding it back would make it go on
			person = harness.ForPerson(v)
		case held:
			out.Decision, out.Reason = "block", harness.ForModel(v)
		}
		context = nil
	case "PostToolUse", "UserPromptSubmit", "Notification":
		if held {
			person = harness.ForPerson(v)
			context = append([]string{harness.ForModel(v)}, context...)
		}
	default:
		if held {
			person = harness.ForPerson(v)
		}
		context = nil
	}
	text := strings.Join(context, "\n")
	if len(text) > maxContext {
		text = strings.ToValidUTF8(text[:maxContext], "") + " … (cut)"
	}
	out.Context = text
	if out == (remark{}) {
		return nil, person
	}
	return out, person
}
