package claudecode

import (
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// answer is Claude Code's output. Unknown keys and a hookEventName that is
// missing make it fail its schema, and the tool runs.
type answer struct {
	Continue      *bool  `json:"continue,omitempty"`
	StopReason    string `json:"stopReason,omitempty"`
	Decision      string `json:"decision,omitempty"`
	Reason        string `json:"reason,omitempty"`
	SystemMessage string `json:"systemMessage,omitempty"`
	Hook          any    `json:"hookSpecificOutput,omitempty"`
}

type preToolUse struct {
	Event    string         `json:"hookEventName"`
	Decision string         `json:"permissionDecision,omitempty"`
	Reason   string         `json:"permissionDecisionReason,omitempty"`
	Input    map[string]any `json:"updatedInput,omitempty"`
	Context  string         `json:"additionalContext,omitempty"`
}

type permissionRequest struct {
	Event    string   `json:"hookEventName"`
	Decision decision `json:"decision"`
}

type decision struct {
	Behavior  string         `json:"behavior"`
	Input     map[string]any `json:"updatedInput,omitempty"`
	Message   string         `json:"message,omitempty"`
	Interrupt *bool          `json:"interrupt,omitempty"`
}

// Render writes a verdict. What it becomes on events that are about no call that
// is still to run is in remark.go.
func (a Adapter) Render(ev *cardea.Event, v cardea.Verdict) harness.Answer {
	out := answer{SystemMessage: harness.TroubleText(v)}
	switch ev.Kind {
	case cardea.PreToolUse:
		renderPreToolUse(&out, ev, v)
	case cardea.PermissionRequest:
		a.renderPermissionRequest(&out, ev, v)
	default:
		if exit := renderRemark(&out, ev, v); exit != nil {
			return *exit
		}
	}
	if out == (answer{}) {
		return harness.Answer{}
	}
	stdout, err := harness.Encode(out)
	if err == nil {
		return harness.Answer{Stdout: stdout}
	}
	return unwritable(ev, v, err)
}

// unwritable answers when the verdict does not go into JSON, which only a
// rewritten input can cause. PermissionRequest does not know exit 2.
func unwritable(ev *cardea.Event, v cardea.Verdict, err error) harness.Answer {
	if ev.Kind == cardea.PreToolUse {
		v.Effect = cardea.Deny
		v.Message = "the rewritten input cannot be written as JSON: " + err.Error()
		return harness.ByExit(v)
	}
	return harness.Answer{Stderr: []byte("the rewritten input cannot be written as JSON: " + err.Error() + "\n")}
}

func renderPreToolUse(out *answer, ev *cardea.Event, v cardea.Verdict) {
	h := preToolUse{Event: string(ev.Kind), Context: contextOf(v)}
	switch v.Effect {
	case cardea.Abstain, cardea.Defer:
	case cardea.Allow:
		if !harness.AsksPerson(ev.Call) {
			h.Decision, h.Reason, h.Input = "allow", harness.ForPerson(v), v.Rewrite
		}
	case cardea.Ask:
		h.Decision, h.Reason, h.Input = "ask", harness.ForPerson(v), v.Rewrite
	case cardea.Halt:
		stop(out, v)
		fallthrough
	default:
		h.Decision, h.Reason = "deny", harness.ForModel(v)
	}
	if h.Decision != "" || h.Context != "" {
		out.Hook = h
	}
}

func (a Adapter) renderPermissionRequest(out *answer, ev *cardea.Event, v cardea.Verdict) {
	h := permissionRequest{Event: string(ev.Kind)}
	switch v.Effect {
	case cardea.Abstain, cardea.Defer, cardea.Ask:
		return // the prompt that this event is about is the question
	case cardea.Allow:
		if harness.PersonsOwn(ev, a.home) {
			return
		}
		h.Decision = decision{Behavior: "allow", Input: v.Rewrite}
	default:
		interrupt := v.Effect == cardea.Halt
		if interrupt {
			stop(out, v)
		}
		// The event has no additionalContext, so context joins the message.
		message := harness.Cap(strings.Join(append([]string{harness.ForModel(v)}, v.Context...), "\n"))
		h.Decision = decision{Behavior: "deny", Message: message, Interrupt: &interrupt}
	}
	out.Hook = h
}

// stop stops Claude entirely; the person is told why.
func stop(out *answer, v cardea.Verdict) {
	no := false
	out.Continue, out.StopReason = &no, harness.ForPerson(v)
}

// contextOf is what the model is told next to the tool's result. A better way
// is part of the reason of a deny; the reason of an ask is read by the person
// alone.
func contextOf(v cardea.Verdict) string {
	lines := v.Context
	if better := harness.Instead(v); better != "" && !v.Effect.Stricter(cardea.Ask) {
		lines = append([]string{better}, lines...)
	}
	return harness.Cap(strings.Join(lines, "\n"))
}
