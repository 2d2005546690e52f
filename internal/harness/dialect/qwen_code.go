package dialect

import "cardea.dev"

// qwenCode is the dialect of Qwen Code
// (https://qwenlm.github.io/qwen-code-docs/en/users/features/hooks/; seen: 0.24.4). It uses Claude
// Code's form with Gemini CLI's tools, and turns an ask in an unattended session into a denial. It
// denies by exit code 2 only with a reason on standard error. Without --yolo, an unattended run
// denies the shell before it asks a hook.
var qwenCode = Dialect{
	name: "qwen-code", seen: true, agents: true,
	event: []string{"hook_event_name"}, session: []string{"session_id"}, cwd: []string{"cwd"}, mode: "permission_mode",
	modes:  []mode{{"auto-edit", cardea.ModeAcceptEdits}, {"auto_edit", cardea.ModeAcceptEdits}, {"yolo", cardea.ModeBypass}},
	shapes: []shape{claudeAfter, claudeShape},
	rows: []cardea.Row{
		{Kinds: []cardea.Kind{cardea.PreToolUse}, Allow: cardea.Allow, Ask: cardea.Ask, Deny: cardea.Deny, Halt: cardea.Deny, Notice: true,
			Context: cardea.ContextOnDeny, Reserved: question},
		{Kinds: []cardea.Kind{cardea.PermissionRequest}, Allow: cardea.Allow, Ask: cardea.Ask, Deny: cardea.Deny, Halt: cardea.Deny,
			Shown:   []cardea.Mode{cardea.ModeUnknown, cardea.ModeDefault, cardea.ModePlan, cardea.ModeAcceptEdits},
			Context: cardea.ContextOnDeny, Reserved: reserved},
		{Kinds: []cardea.Kind{"UserPromptSubmit", "Stop", "SubagentStop"}, Deny: cardea.Deny, Notice: true},
		{Kinds: []cardea.Kind{""}},
		{Notice: true},
	},
	write: writeClaude,
}
