package dialect

import "cardea.dev"

// augment is the dialect of Augment's command line, Auggie (https://docs.augmentcode.com/cli/hooks;
// not seen). Only exit code 2 is documented well enough to rely on.
var augment = Dialect{
	name:  "augment",
	event: []string{"hook_event_name"}, session: []string{"session_id", "conversation_id"}, cwd: []string{"cwd", "workspace_roots.0"},
	shapes: []shape{claudeAfter, claudeShape},
	rows: []cardea.Row{
		{Kinds: []cardea.Kind{cardea.PreToolUse}, Ask: cardea.Deny, Deny: cardea.Deny, Halt: cardea.Deny, Context: cardea.ContextOnDeny},
		{},
	},
	write: writeByExit,
}
