package dialect

import "cardea.dev"

// amp is the dialect of Amp (https://ampcode.com/manual/plugin-api, which is experimental; not
// seen). It has plugins in place of hook programs, with a question of their own.
var amp = Dialect{
	name: "amp", deaf: true,
	event: []string{"event"}, session: []string{"thread.id"}, cwd: []string{"cwd"},
	kinds: []kind{{"tool.call", cardea.PreToolUse}, {"tool.result", "PostToolUse"}, {"session.start", "SessionStart"}, {"agent.start", "UserPromptSubmit"},
		{"agent.end", "Stop"}},
	shapes: []shape{{has: "tool", tool: "tool", input: "input", kind: cardea.PreToolUse}},
	rows:   pluginRows,
	write:  writePlugin, learn: nobodyAnswers,
}
