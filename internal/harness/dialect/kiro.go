package dialect

import (
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// kiro is the dialect of Kiro, the command line and the editor (https://kiro.dev/docs/cli/hooks;
// not seen). It reads only the exit code: 2 refuses a call.
var kiro = Dialect{
	name:  "kiro",
	event: []string{"hook_event_name"}, session: []string{"session_id"}, cwd: []string{"cwd"},
	kinds: []kind{{"preToolUse", cardea.PreToolUse}, {"postToolUse", "PostToolUse"}, {"userPromptSubmit", "UserPromptSubmit"},
		{"agentSpawn", "SessionStart"}, {"stop", "Stop"}},
	shapes: []shape{claudeAfter, claudeShape},
	rows: []cardea.Row{
		{Kinds: []cardea.Kind{cardea.PreToolUse}, Ask: cardea.Deny, Deny: cardea.Deny, Halt: cardea.Deny, Context: cardea.ContextOnDeny},
		{},
	},
	write: writeByExit,
	server: func(_ *harness.Reading, name string) (server, tool string) {
		if rest, ok := strings.CutPrefix(name, "@"); ok {
			server, tool, _ = strings.Cut(rest, "/")
		}
		return server, tool
	},
}
