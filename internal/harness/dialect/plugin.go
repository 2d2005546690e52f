package dialect

import (
	"cardea.dev"
	"cardea.dev/internal/harness"
)

// pluginAnswer is the answer to a small plugin of Cardea's, for a harness that has plugins in place
// of hook programs (docs/harnesses.md#plugins). There is always an answer, so that a plugin can
// refuse the call if it gets none.
type pluginAnswer struct {
	Decision string         `json:"decision"`
	Reason   string         `json:"reason,omitempty"`
	Input    map[string]any `json:"input,omitempty"`
	Halt     bool           `json:"halt,omitempty"`
	Notice   string         `json:"notice,omitempty"`
}

// pluginRows lists the capabilities of an answer in a plugin that can ask the person.
var pluginRows = []cardea.Row{
	{Kinds: []cardea.Kind{cardea.PreToolUse}, Allow: cardea.Allow, Ask: cardea.Ask, AskUnattended: cardea.Deny, Deny: cardea.Deny, Halt: cardea.Deny,
		Notice: true, Rewrite: true, AsksRewritten: true, Context: cardea.ContextOnAsk, Reserved: question},
	{Kinds: []cardea.Kind{""}},
	{Notice: true},
}

// writePlugin answers a plugin: "allow", "ask", "deny", or "none", which leaves the harness's own
// flow in force. Also with none, input is the new input of the call.
func writePlugin(d *Dialect, ev *cardea.Event, a cardea.Answer) harness.Output {
	out := pluginAnswer{Decision: "none", Notice: harness.NoticeWithNext(a), Input: harness.Rewritten(d.name, ev, a)}
	switch {
	case a.Effect == cardea.Allow:
		out.Decision = "allow"
	case a.Effect == cardea.Ask:
		out.Decision, out.Reason = "ask", harness.ForBoth(a, a.Context...)
	case a.Effect == cardea.Deny, a.Effect == cardea.Halt:
		out.Decision, out.Reason, out.Halt = "deny", harness.ForModel(a, a.Context...), a.Effect == cardea.Halt
	}
	return harness.Output{Stdout: harness.Encode(out)}
}
