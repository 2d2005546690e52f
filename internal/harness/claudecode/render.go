package claudecode

import (
	"slices"
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

// notification is the output on an event that is about no call that is still to
// run: only the event's name and context.
type notification struct {
	Event   string `json:"hookEventName"`
	Context string `json:"additionalContext,omitempty"`
}

// Render writes an answer.
func (Adapter) Render(ev *cardea.Event, a cardea.Answer) harness.Output {
	out := answer{SystemMessage: harness.TroubleText(a)}
	switch {
	case ev.Kind.Begins():
		renderPreToolUse(&out, ev.Kind, a)
	case ev.Kind == cardea.PermissionRequest:
		renderPermissionRequest(&out, a)
	case a.Effect == cardea.Deny && slices.Contains(blockedByExit, ev.Kind):
		return harness.ByExit(a)
	default:
		renderNotification(&out, ev.Kind, a)
	}
	if out == (answer{}) {
		return harness.Output{}
	}
	return harness.Output{Stdout: harness.Encode(out)}
}

func renderPreToolUse(out *answer, kind cardea.Kind, a cardea.Answer) {
	h := preToolUse{Event: string(kind), Context: contextOf(a), Input: a.Rewrite}
	switch a.Effect {
	case cardea.Allow:
		h.Decision, h.Reason = "allow", harness.ForPerson(a)
	case cardea.Ask:
		h.Decision, h.Reason = "ask", harness.ForPerson(a)
	case cardea.Deny:
		h.Decision, h.Reason = "deny", harness.ForModel(a)
	case cardea.Halt:
		stop(out, a)
		h.Decision, h.Reason = "deny", harness.ForModel(a)
	}
	if h.Decision != "" || h.Context != "" {
		out.Hook = h
	}
}

func renderPermissionRequest(out *answer, a cardea.Answer) {
	h := permissionRequest{Event: string(cardea.PermissionRequest)}
	switch a.Effect {
	case cardea.Allow:
		h.Decision = decision{Behavior: "allow", Input: a.Rewrite}
	case cardea.Deny, cardea.Halt:
		interrupt := a.Effect == cardea.Halt
		if interrupt {
			stop(out, a)
		}
		// The event has no additionalContext, so context joins the message.
		message := harness.Cap(strings.Join(append([]string{harness.ForModel(a)}, a.Context...), "\n"))
		h.Decision = decision{Behavior: "deny", Message: message, Interrupt: &interrupt}
	default: // the prompt that this event is about is the question
		tellPerson(out, a)
		return
	}
	out.Hook = h
}

func renderNotification(out *answer, kind cardea.Kind, a cardea.Answer) {
	if a.Effect == cardea.Halt {
		stop(out, a)
	}
	if a.Effect >= cardea.Deny && (slices.Contains(blockedWithContext, kind) || slices.Contains(blocked, kind)) {
		out.Decision, out.Reason = "block", harness.ForModel(a)
	}
	tellPerson(out, a)
	context := a.Context
	if a.TellModel {
		context = append([]string{harness.ForModel(a)}, context...)
	}
	if text := harness.Cap(strings.Join(context, "\n")); text != "" {
		out.Hook = notification{string(kind), text}
	}
}

// tellPerson tells the person what the answer does not say.
func tellPerson(out *answer, a cardea.Answer) {
	if a.TellPerson {
		out.SystemMessage = harness.Cap(strings.TrimPrefix(out.SystemMessage+"\n"+harness.ForPerson(a), "\n"))
	}
}

// stop stops Claude entirely; the person is told why.
func stop(out *answer, a cardea.Answer) {
	no := false
	out.Continue, out.StopReason = &no, harness.ForPerson(a)
}

// contextOf is what the model is told next to the tool's result. A better way
// is part of the reason of a deny; the reason of an ask is read by the person
// alone.
func contextOf(a cardea.Answer) string {
	lines := a.Context
	if better := harness.Instead(a); better != "" && !a.Effect.Stricter(cardea.Ask) {
		lines = append([]string{better}, lines...)
	}
	return harness.Cap(strings.Join(lines, "\n"))
}
