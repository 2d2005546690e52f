package claudecode

import (
	"slices"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// Render writes an answer.
func (Adapter) Render(ev *cardea.Event, a cardea.Answer) harness.Output {
	out := harness.ClaudeAnswer{SystemMessage: harness.NoticeWithNext(a)}
	if a.Effect == cardea.Halt {
		out.Stop(a)
	}
	switch {
	case ev.Kind.Begins():
		renderPreToolUse(&out, ev, a)
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

// renderPreToolUse answers about a call. The model gets the reason of a question only in a
// session without a person (seen with 2.1.332).
func renderPreToolUse(out *harness.ClaudeAnswer, ev *cardea.Event, a cardea.Answer) {
	h := harness.ClaudeTool{Event: string(ev.Kind), Context: harness.Beside(a), Input: a.Rewrite}
	switch a.Effect {
	case cardea.Allow:
		h.Decision, h.Reason = "allow", harness.ForPerson(a)
	case cardea.Ask:
		h.Decision, h.Reason = "ask", harness.ForBoth(a)
		if ev.Attended() {
			h.Reason = harness.ForPerson(a, harness.Instead(a), harness.Next(a))
		}
	case cardea.Deny, cardea.Halt:
		h.Decision, h.Reason = "deny", harness.ForModel(a)
	}
	if h.Decision != "" || h.Context != "" {
		out.Hook = h
	}
}

// renderPermissionRequest answers in place of the prompt. No systemMessage is shown on this event
// (seen with 2.1.332), and it has no additionalContext.
func renderPermissionRequest(out *harness.ClaudeAnswer, a cardea.Answer) {
	h := harness.ClaudeRequest{Event: string(cardea.PermissionRequest)}
	switch a.Effect {
	case cardea.Allow:
		h.Decision = harness.ClaudeDecision{Behavior: "allow", Input: a.Rewrite}
	case cardea.Deny, cardea.Halt:
		interrupt := a.Effect == cardea.Halt
		out.SystemMessage = harness.Notice(a)
		h.Decision = harness.ClaudeDecision{Behavior: "deny", Message: harness.AtPrompt(a), Interrupt: &interrupt}
	default: // the prompt that this event is about is the question
		return
	}
	out.Hook = h
}

func renderNotification(out *harness.ClaudeAnswer, kind cardea.Kind, a cardea.Answer) {
	if a.Effect >= cardea.Deny && (slices.Contains(blockedWithContext, kind) || slices.Contains(blocked, kind)) {
		out.Decision, out.Reason = "block", harness.ForModel(a)
	}
	if text := harness.Beside(a); text != "" {
		out.Hook = harness.ClaudeTool{Event: string(kind), Context: text}
	}
}
