package dialect

import (
	"slices"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// said returns an answer on standard output, with a notice for the person on standard error.
func said(body any, notice string) harness.Output {
	out := harness.Output{}
	if body != nil {
		out.Stdout = harness.Encode(body)
	}
	if notice != "" {
		out.Stderr = []byte(notice + "\n")
	}
	return out
}

// hears reports whether every answer can carry text for the model.
func (d *Dialect) hears(ev *cardea.Event) bool {
	for _, r := range d.rows {
		if r.Kinds == nil || slices.Contains(r.Kinds, ev.Kind) {
			return r.Context == cardea.ContextAlways
		}
	}
	return false
}

// writeByExit answers with the exit code alone: 2 with the reason refuses, 0 leaves the harness's
// own flow in force.
func writeByExit(_ *Dialect, _ *cardea.Event, a cardea.Answer) harness.Output {
	if !a.Effect.Stricter(cardea.Defer) {
		return said(nil, harness.Notice(a))
	}
	out := harness.ByExit(a)
	a.Issues = slices.Clone(a.Issues) // the model reads them
	for i := range a.Issues {
		a.Issues[i].Diagnostic.Hint = ""
	}
	if t := harness.Notice(a); t != "" {
		out.Stderr = append(out.Stderr, t+"\n"...)
	}
	return out
}

// writeClaude returns an answer in Claude Code's form. The readers tolerate no deviation: with an
// extra key, or without an event's name, the call runs.
func writeClaude(d *Dialect, ev *cardea.Event, a cardea.Answer) harness.Output {
	out, notice := harness.ClaudeAnswer{}, ""
	if ev.Kind == cardea.PermissionRequest { // no reader documents systemMessage there
		notice = harness.Notice(a)
	} else {
		out.SystemMessage = harness.NoticeWithNext(a)
	}
	switch ev.Kind {
	case cardea.PreToolUse:
		writeClaudeTool(&out, d, ev, a)
	case cardea.PermissionRequest:
		switch a.Effect {
		case cardea.Allow:
			out.Hook = harness.ClaudeRequest{Event: string(ev.Kind), Decision: harness.ClaudeDecision{Behavior: "allow"}}
		case cardea.Deny, cardea.Halt:
			out.Hook = harness.ClaudeRequest{Event: string(ev.Kind), Decision: harness.ClaudeDecision{Behavior: "deny", Message: harness.AtPrompt(a)}}
		}
	default:
		if a.Effect == cardea.Deny {
			out.Decision, out.Reason = "block", harness.ForModel(a)
		}
		if context := harness.Beside(a); context != "" {
			out.Hook = harness.ClaudeTool{Event: string(ev.Kind), Context: context}
		}
	}
	if out == (harness.ClaudeAnswer{}) {
		return said(nil, notice)
	}
	return said(out, notice)
}

// writeClaudeTool adds the answer about a call that can still be held back.
func writeClaudeTool(out *harness.ClaudeAnswer, d *Dialect, ev *cardea.Event, a cardea.Answer) {
	h := harness.ClaudeTool{Event: string(cardea.PreToolUse), Input: harness.Rewritten(d.name, ev, a)}
	besides := a.Context
	if d.hears(ev) {
		h.Context, besides = harness.Beside(a), nil
	}
	switch a.Effect {
	case cardea.Allow:
		h.Decision, h.Reason = "allow", harness.ForPerson(a)
	case cardea.Ask:
		h.Decision, h.Reason = "ask", harness.ForBoth(a, besides...)
	case cardea.Deny, cardea.Halt:
		h.Decision, h.Reason = "deny", harness.ForModel(a, besides...)
		if a.Effect == cardea.Halt {
			out.Stop(a)
		}
	default:
		if h.Input != nil { // for an answer with another input; the harness's own flow goes on
			h.Decision = "allow"
		}
	}
	if h.Decision != "" || h.Context != "" {
		out.Hook = h
	}
}
