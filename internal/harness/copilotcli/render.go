package copilotcli

import (
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

type preToolUse struct {
	Decision string         `json:"permissionDecision"`
	Reason   string         `json:"permissionDecisionReason,omitempty"`
	Args     map[string]any `json:"modifiedArgs,omitempty"`
}

type permissionRequest struct {
	Behavior  string `json:"behavior"`
	Message   string `json:"message,omitempty"`
	Interrupt *bool  `json:"interrupt,omitempty"`
}

// notification is the output on an event without a call that can still be held back.
type notification struct {
	Decision string `json:"decision,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Context  string `json:"additionalContext,omitempty"`
}

// maxContext is the longest context, in bytes: 10 KB less what JSON adds.
const maxContext = 9_000

// Render returns an answer. The form is flat for both payload formats: that is the documented one,
// and nested output in Claude Code's form is not confirmed for either. Text that a person must
// learn goes to stderr.
func (Adapter) Render(ev *cardea.Event, a cardea.Answer) harness.Output {
	var out harness.Output
	if t := harness.Notice(a); t != "" {
		out.Stderr = []byte(t + "\n")
	}
	if body := body(ev, a); body != nil {
		out.Stdout = harness.Encode(body)
	}
	return out
}

// body returns the object to write, nil for silence.
func body(ev *cardea.Event, a cardea.Answer) any {
	switch ev.Kind {
	case cardea.PreToolUse:
		return preToolUseBody(ev, a)
	case cardea.PermissionRequest:
		return permissionRequestBody(a)
	}
	return notificationBody(a)
}

// preToolUseBody returns the answer on preToolUse, nil for silence.
func preToolUseBody(ev *cardea.Event, a cardea.Answer) any {
	switch a.Effect {
	case cardea.Allow:
		out := preToolUse{Decision: "allow", Args: harness.Rewritten(Name, ev, a)}
		if a.Reason != "" {
			out.Reason = harness.ForPerson(a)
		}
		return out
	case cardea.Ask:
		return preToolUse{Decision: "ask", Reason: harness.ForBoth(a, a.Context...), Args: harness.Rewritten(Name, ev, a)}
	case cardea.Deny:
		return preToolUse{Decision: "deny", Reason: harness.ForBoth(a, a.Context...)}
	}
	return nil
}

func permissionRequestBody(a cardea.Answer) any {
	switch a.Effect {
	case cardea.Allow:
		return permissionRequest{Behavior: "allow"}
	case cardea.Deny, cardea.Halt:
		interrupt := a.Effect == cardea.Halt
		return permissionRequest{Behavior: "deny", Message: harness.AtPrompt(a), Interrupt: &interrupt}
	}
	return nil // the prompt that this event is about is the question
}

// notificationBody returns the answer on an event without a call that can still be held back, nil
// for silence.
func notificationBody(a cardea.Answer) any {
	out := notification{}
	if a.Effect == cardea.Deny {
		out.Decision, out.Reason = "block", harness.ForBoth(a)
	}
	out.Context = harness.Beside(a)
	if len(out.Context) > maxContext {
		out.Context = strings.ToValidUTF8(out.Context[:maxContext], "") + " … (cut)"
	}
	if out == (notification{}) {
		return nil
	}
	return out
}
