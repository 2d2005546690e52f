package dialect

import "cardea.dev"

// vsCode is the dialect of the agent mode of VS Code
// (https://code.visualstudio.com/docs/agent-customization/hooks; not seen). It reads Claude Code's
// form, with tools of its own. It ignores an input that does not fit the tool, so none is sent.
var vsCode = Dialect{
	name:  "vscode",
	event: []string{"hookEventName"}, session: []string{"sessionId"}, cwd: []string{"cwd"},
	shapes: []shape{claudeAfter, claudeShape},
	rows: []cardea.Row{
		{Kinds: []cardea.Kind{cardea.PreToolUse}, Allow: cardea.Allow, Ask: cardea.Ask, AskUnattended: cardea.Deny, Deny: cardea.Deny, Halt: cardea.Halt, Notice: true,
			Context: cardea.ContextAlways, Reserved: question},
		{Kinds: []cardea.Kind{""}},
		{Notice: true},
	},
	write: writeClaude,
}
