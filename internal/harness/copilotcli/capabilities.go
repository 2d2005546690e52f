package copilotcli

import (
	"cardea.dev"
	"cardea.dev/internal/harness"
)

// Capabilities follows the vendor's table of events (hooks reference, "Hook output").
//
// An allow cannot carry text for the model, so context is only sent with a refusal or a question.
// At the end of a turn a halt is silence: the agent stops by itself, and holding the end back would
// make it go on.
func (Adapter) Capabilities() cardea.Capabilities {
	const allow, ask, deny, halt = cardea.Allow, cardea.Ask, cardea.Deny, cardea.Halt
	c := harness.ReservedCalls(Name)
	c.Rows = []cardea.Row{
		{Kinds: []cardea.Kind{cardea.PreToolUse}, Allow: allow, Ask: ask, Deny: deny, Halt: deny, Notice: true,
			Rewrite: true, AsksRewritten: true, Context: cardea.ContextOnAsk, Reserved: []cardea.Shortfall{cardea.Question}},
		{Kinds: []cardea.Kind{cardea.PermissionRequest}, Allow: allow, Ask: ask, Deny: deny, Halt: halt, Notice: true,
			Context: cardea.ContextOnDeny, Reserved: harness.Reserved()},
		{Kinds: []cardea.Kind{"Stop", "SubagentStop"}, Deny: deny, Notice: true},
		{Kinds: []cardea.Kind{"PostToolUse", "UserPromptSubmit", "Notification"}, Notice: true, Context: cardea.ContextAlways},
		{Kinds: []cardea.Kind{""}},
		{Notice: true},
	}
	return c
}
