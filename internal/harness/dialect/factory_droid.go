package dialect

import (
	"slices"

	"cardea.dev"
)

// droid is the dialect of Factory's Droid (https://docs.factory.ai/harness/hooks; seen: 0.215.0).
// It reads Claude Code's form with tools of its own. "droid exec" runs a call for which a hook
// asks. Its calls have a mode that begins with auto, in which an ask is a deny.
var droid = Dialect{
	name: "factory-droid", seen: true,
	event: []string{"hook_event_name"}, session: []string{"session_id"}, cwd: []string{"cwd"}, mode: "permission_mode",
	modes: []mode{{"off", cardea.ModeDefault}, {"spec", cardea.ModePlan}, {"auto-low", cardea.ModeAuto}, {"auto-medium", cardea.ModeAuto},
		{"auto-high", cardea.ModeAuto}},
	shapes: []shape{claudeAfter, claudeShape},
	rows: []cardea.Row{
		{Kinds: []cardea.Kind{cardea.PreToolUse}, Allow: cardea.Allow, Ask: cardea.Ask, AskUnattended: cardea.Deny, Deny: cardea.Deny, Halt: cardea.Halt,
			Notice: true, Rewrite: true, Context: cardea.ContextOnDeny, Reserved: question},
		{Kinds: []cardea.Kind{"UserPromptSubmit", "Stop", "SubagentStop"}, Deny: cardea.Deny, Notice: true},
		{Kinds: []cardea.Kind{""}},
		{Notice: true},
	},
	write:   writeClaude,
	program: "droid", headless: func(args []string, _ func() bool) bool { return slices.Contains(args, "exec") },
	attendance: func(env func(string) string) cardea.Attendance {
		if env("FACTORY_EXEC_TARGET_AUTONOMY") != "" { // only "droid exec" sets it
			return cardea.NobodyAttends
		}
		return cardea.AttendanceUnsaid
	},
}
