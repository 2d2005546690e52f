package claudecode

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// Render writes an answer.
func (Adapter) Render(ev *cardea.Event, a cardea.Answer) harness.Output {
	out := harness.ClaudeAnswer{SystemMessage: harness.TroubleText(a)}
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
	if out == (harness.ClaudeAnswer{}) {
		return harness.Output{}
	}
	return harness.Output{Stdout: harness.Encode(out)}
}

func renderPreToolUse(out *harness.ClaudeAnswer, kind cardea.Kind, a cardea.Answer) {
	h := harness.ClaudeTool{Event: string(kind), Context: contextOf(a), Input: a.Rewrite}
	switch a.Effect {
	case cardea.Allow:
		h.Decision, h.Reason = "allow", harness.ForPerson(a)
	case cardea.Ask:
		h.Decision, h.Reason = "ask", harness.ForPerson(a)
	case cardea.Deny:
		h.Decision, h.Reason = "deny", harness.ForModel(a)
	case cardea.Halt:
		out.Stop(a)
		h.Decision, h.Reason = "deny", harness.ForModel(a)
	}
	if h.Decision != "" || h.Context != "" {
		out.Hook = h
	}
}

func renderPermissionRequest(out *harness.ClaudeAnswer, a cardea.Answer) {
	h := harness.ClaudeRequest{Event: string(cardea.PermissionRequest)}
	switch a.Effect {
	case cardea.Allow:
		h.Decision = harness.ClaudeDecision{Behavior: "allow", Input: a.Rewrite}
	case cardea.Deny, cardea.Halt:
		interrupt := a.Effect == cardea.Halt
		if interrupt {
			out.Stop(a)
		}
		// The event has no additionalContext, so context joins the message.
		message := harness.Cap(strings.Join(append([]string{harness.ForModel(a)}, a.Context...), "\n"))
		h.Decision = harness.ClaudeDecision{Behavior: "deny", Message: message, Interrupt: &interrupt}
	default: // the prompt that this event is about is the question
		tellPerson(out, a)
		return
	}
	out.Hook = h
}

func renderNotification(out *harness.ClaudeAnswer, kind cardea.Kind, a cardea.Answer) {
	if a.Effect == cardea.Halt {
		out.Stop(a)
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
		out.Hook = harness.ClaudeTool{Event: string(kind), Context: text}
	}
}

// tellPerson tells the person what the answer does not say.
func tellPerson(out *harness.ClaudeAnswer, a cardea.Answer) {
	if a.TellPerson {
		out.SystemMessage = harness.Cap(strings.TrimPrefix(out.SystemMessage+"\n"+harness.ForPerson(a), "\n"))
	}
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
