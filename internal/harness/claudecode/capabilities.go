package claudecode

import (
	"sync"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// The events on which a deny has an effect, by the form of the denial.
var (
	blockedWithContext = []cardea.Kind{"UserPromptSubmit", "UserPromptExpansion", "PostToolUse", "PostToolBatch", "Stop", "SubagentStop"}
	blocked            = []cardea.Kind{"PreCompact", "ConfigChange", "TaskCreated"}
	blockedByExit      = []cardea.Kind{"TaskCompleted", "TeammateIdle"}
	withContext        = []cardea.Kind{"SessionStart", "PostToolUseFailure", "SubagentStart", "PostModelSwitch"}
)

// Capabilities follows the vendor's table of events and exit codes (hooks, "Decision control" and
// "Exit code 2 behavior per event").
//
// On PermissionRequest an ask is silence: the prompt that the event is about is the question. Every
// event with a name accepts a halt.
//
// A notice is shown on the events that have one here (seen with 2.1.330 and 2.1.332, the rarer ones
// with 2.1.332), and never in a subagent. In mode auto PermissionRequest is sent for each prompt,
// and not for a call that the classifier decides.
func (Adapter) Capabilities() cardea.Capabilities { return capabilities() }

var capabilities = sync.OnceValue(func() cardea.Capabilities {
	const allow, ask, deny, halt = cardea.Allow, cardea.Ask, cardea.Deny, cardea.Halt
	c := harness.ReservedCalls(Name)
	c.Rows = []cardea.Row{
		{Kinds: []cardea.Kind{cardea.PreToolUse}, Allow: allow, Ask: ask, Deny: deny, Halt: halt, Notice: true,
			Rewrite: true, AsksRewritten: true, Context: cardea.ContextAlways, Reserved: []cardea.Shortfall{cardea.Question}},
		{Kinds: []cardea.Kind{cardea.PermissionRequest}, Allow: allow, Ask: ask, Deny: deny, Halt: halt,
			Shown:   []cardea.Mode{cardea.ModeUnknown, cardea.ModeDefault, cardea.ModePlan, cardea.ModeAcceptEdits, cardea.ModeAuto},
			Rewrite: true, Context: cardea.ContextOnDeny, Reserved: harness.Reserved()},
		// The harness has checked its own permissions before: an allow adds nothing, and another
		// input keeps the command from running (seen with 2.1.332).
		{Kinds: []cardea.Kind{cardea.PreSkillShellCommand}, Ask: deny, Deny: deny, Halt: halt},
		{Kinds: []cardea.Kind{"SubagentStop"}, Deny: deny, Halt: halt, Context: cardea.ContextAlways},
		{Kinds: []cardea.Kind{"SubagentStart"}, Halt: halt, Context: cardea.ContextAlways},
		{Kinds: []cardea.Kind{"Notification", "PermissionDenied", "MessageDisplay", "InstructionsLoaded", "SessionEnd"}, Halt: halt},
		{Kinds: blockedWithContext, Deny: deny, Halt: halt, Notice: true, Context: cardea.ContextAlways},
		{Kinds: blocked, Deny: deny, Halt: halt, Notice: true},
		{Kinds: blockedByExit, Deny: deny, Halt: halt, Notice: true},
		{Kinds: withContext, Halt: halt, Notice: true, Context: cardea.ContextAlways},
		{Kinds: []cardea.Kind{""}},
		{Halt: halt, Notice: true},
	}
	return c
})
