package dialect

import (
	"cardea.dev"
	"cardea.dev/internal/harness"
)

// openCode is the dialect of OpenCode (https://opencode.ai/v1/docs/plugins and
// https://opencode.ai/v2/docs/build/plugins; seen: 1.18.33). It has plugins in place of hook
// programs: Cardea's plugin sends its input from OpenCode, with the working folder as cwd
// (docs/harnesses.md#plugins). Before a call a plugin can refuse it or change its input; OpenCode's
// own permissions decide after it. A question is only possible where version 2 evaluates a
// permission.
var openCode = Dialect{
	name: "opencode", seen: true, deaf: true,
	event: []string{"event", "type"}, session: []string{"input.sessionID", "sessionID", "properties.sessionID", "data.sessionID"}, cwd: []string{"cwd"},
	kinds: []kind{{"tool.execute.before", cardea.PreToolUse}, {"execute.before", cardea.PreToolUse}, {"evaluate", cardea.PermissionRequest},
		{"tool.execute.after", "PostToolUse"}, {"execute.after", "PostToolUse"}, {"chat.message", "UserPromptSubmit"}, {"session.created", "SessionStart"}},
	shapes: []shape{
		{has: "output.args", tool: "input.tool", input: "output.args", kind: cardea.PreToolUse},
		{has: "input.args", tool: "input.tool", input: "input.args", kind: "PostToolUse"},
		{has: "input.tool", tool: "input.tool", kind: "PostToolUse"},
		{has: "resources", tool: "action", fields: []string{"resources"}, kind: cardea.PermissionRequest},
		{has: "tool", tool: "tool", input: "input", kind: cardea.PreToolUse},
	},
	rows: []cardea.Row{
		{Kinds: []cardea.Kind{cardea.PreToolUse}, Ask: cardea.Deny, Deny: cardea.Deny, Halt: cardea.Deny, Notice: true,
			Rewrite: true, RewritesInFlow: true, Context: cardea.ContextOnDeny},
		{Kinds: []cardea.Kind{cardea.PermissionRequest}, Allow: cardea.Allow, Ask: cardea.Ask, Deny: cardea.Deny, Halt: cardea.Deny, Notice: true,
			Context: cardea.ContextOnAsk, Reserved: reserved},
		{Kinds: []cardea.Kind{""}},
		{Notice: true},
	},
	write: writePlugin, learn: nobodyAnswers,
}

// nobodyAnswers reads "attended" from a plugin's message: false if a question reaches no person,
// true if a person is in front of the harness.
func nobodyAnswers(r *harness.Reading, ev *cardea.Event) {
	v, there := r.Value("attended")
	if !there {
		v, there = r.Value("hasUI")
	}
	switch said, isFlag := v.(bool); {
	case said:
		ev.Attendance = cardea.PersonAttends
	case there:
		ev.Attendance = cardea.NobodyAttends
		if !isFlag {
			r.Defect("attended", "is neither true nor false")
		}
	}
}
