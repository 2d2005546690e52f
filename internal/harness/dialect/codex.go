package dialect

import "cardea.dev"

// codex is the dialect of Codex CLI (https://developers.openai.com/codex/hooks; seen: 0.169.0,
// 0.171.0). It drops an answer of ask, or of allow without another input, and runs the call. So an
// ask is a deny, and an allow is silence, after which its sandbox and its own rules decide. It
// denies by exit code 2 only with a reason on standard error. An answer to its request for
// permission replaces that of its reviewer, if it has one.
var codex = Dialect{
	name: "codex", seen: true, agents: true,
	event: []string{"hook_event_name"}, session: []string{"session_id"}, cwd: []string{"cwd"}, mode: "permission_mode",
	shapes: []shape{claudeAfter, claudeShape},
	rows: []cardea.Row{
		{Kinds: []cardea.Kind{cardea.PreToolUse}, Ask: cardea.Deny, Deny: cardea.Deny, Halt: cardea.Deny, Notice: true,
			Rewrite: true, RewritesInFlow: true, Context: cardea.ContextAlways},
		{Kinds: []cardea.Kind{cardea.PermissionRequest}, Allow: cardea.Allow, Ask: cardea.Ask, Deny: cardea.Deny, Halt: cardea.Deny,
			Context: cardea.ContextOnDeny, Reserved: append(reserved[:len(reserved):len(reserved)], cardea.Reviewer)},
		{Kinds: []cardea.Kind{"UserPromptSubmit", "PostToolUse"}, Deny: cardea.Deny, Context: cardea.ContextAlways},
		{Kinds: []cardea.Kind{"Stop", "SubagentStop"}, Deny: cardea.Deny},
		{Kinds: []cardea.Kind{"SessionStart"}, Context: cardea.ContextAlways},
		{},
	},
	write: writeClaude,
}
