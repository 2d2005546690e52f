package dialect

import "cardea.dev"

// pi is the dialect of pi (@earendil-works/pi-coding-agent, seen: 1.5.2; before that
// @mariozechner/pi-coding-agent, seen: 0.73.1). It has extensions in place of hook programs, and
// has no questions of its own. Cardea's extension sends its input from pi, with cwd and hasUI, and
// asks the person if hasUI is true. Each call in a script of codemode is such an event.
var pi = Dialect{
	name: "pi", seen: true, deaf: true,
	event: []string{"type"}, session: []string{"sessionId"}, cwd: []string{"cwd"},
	kinds: []kind{{"tool_call", cardea.PreToolUse}, {"tool_result", "PostToolUse"}, {"input", "UserPromptSubmit"}, {"session_start", "SessionStart"},
		{"session_shutdown", "SessionEnd"}, {"agent_end", "Stop"}},
	shapes: []shape{
		{event: "tool_result", tool: "toolName", input: "input", kind: "PostToolUse"},
		{has: "toolName", tool: "toolName", input: "input", kind: cardea.PreToolUse},
	},
	rows:  pluginRows,
	write: writePlugin, learn: nobodyAnswers,
}
