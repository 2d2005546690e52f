package policy

import (
	"cardea.dev"
	"cardea.dev/internal/base/lists"
)

// Usage is the meaning of a verb on an event.
type Usage struct {
	// Valid is set if it has a meaning.
	Valid bool
	// Becomes describes briefly its effect on Claude Code, or why it has no meaning.
	Becomes string
}

// Events returns the events that policies may be routed to, in the order of a session.
// These are Claude Code's documented events, and those of Copilot CLI under its own names.
func Events() []cardea.Kind {
	return []cardea.Kind{"SessionStart", "Setup", "InstructionsLoaded", "UserPromptSubmit", "UserPromptExpansion", cardea.PreToolUse, cardea.PermissionRequest,
		cardea.PreSkillShellCommand, "PermissionDenied", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "Notification", "SubagentStart", "SubagentStop", "TaskCreated",
		"TaskCompleted", "TeammateIdle", "Stop", "StopFailure", "ConfigChange", "CwdChanged", "DirectoryAdded", "FileChanged", "WorktreeCreate",
		"WorktreeRemove", "PreCompact", "PostCompact", "PreModelSwitch", "PostModelSwitch", "Elicitation", "ElicitationResult", "MessageDisplay",
		"SessionEnd", "UserPromptTransformed", "ErrorOccurred"}
}

// EventNames returns the names of [Events].
func EventNames() []string {
	return lists.Of(Events(), func(k cardea.Kind) string { return string(k) })
}

// blocking describes the effect of deny and block on an event that can hold the harness
// back. It returns "" for all other events.
func blocking(k cardea.Kind) string {
	switch k {
	case cardea.PreToolUse, cardea.PermissionRequest, cardea.PreSkillShellCommand:
		return "the call is denied"
	case "UserPromptSubmit", "UserPromptExpansion":
		return "the prompt is not taken"
	case "PostToolUse":
		return "the model is told that what was done is not accepted; it cannot be undone"
	case "PostToolUseFailure":
		return "the model is told the reason"
	case "Stop", "SubagentStop":
		return "the agent goes on, with the reason as its task"
	case "PostToolBatch", "TaskCreated", "TaskCompleted", "TeammateIdle":
		return "the agent is told the reason, and acts on it"
	case "PreCompact":
		return "nothing is compacted"
	case "ConfigChange":
		return "the change does not take effect"
	}
	return ""
}

// copilot is the harness that can show its model a notification.
const copilot = "copilot-cli"

// contexts reports whether a harness can pass text to the model on an event.
func contexts(k cardea.Kind, harness string) bool {
	switch k {
	case "SessionStart", "UserPromptSubmit", "UserPromptExpansion", cardea.PreToolUse, "PostToolUse", "PostToolUseFailure", "PostToolBatch",
		"SubagentStart", "SubagentStop", "Stop", "PostModelSwitch":
		return true
	case "Notification":
		return harness == copilot
	case cardea.PermissionRequest:
		return true // in the message of a refusal
	}
	return false
}

// Use returns the usage of a verb on an event of a harness; "" is Claude Code.
func Use(k cardea.Kind, verb, harness string) Usage {
	if k == cardea.PreSkillShellCommand && (verb == "ask" || verb == "modify") {
		return Usage{true, "the call is denied, since nobody is asked there and its input cannot be changed"}
	}
	switch verb {
	case "halt":
		return Usage{true, "the agent is stopped, and the person told why"}
	case "deny", "block":
		if b := blocking(k); b != "" {
			return Usage{true, b}
		}
		return Usage{true, "nothing can be held back any more: the person is told, and the model where it can be"}
	case "ask":
		if k.Answered() {
			return Usage{true, "a person is asked"}
		}
		return Usage{true, "there is no question on this event: the person is told"}
	case "modify":
		if k.Answered() {
			return Usage{true, "the input is rewritten, judged again, and asked about unless it is allowed"}
		}
		return Usage{false, "there is no input to change"}
	case "allow_override":
		if k.Answered() {
			return Usage{true, "the parts that it names are allowed"}
		}
		return Usage{false, "there is nothing to allow"}
	case "add_context":
		if contexts(k, harness) {
			return Usage{true, "the model is told"}
		}
		return Usage{false, "the harness has no way to tell the model"}
	}
	return Usage{false, "there is no such verb"}
}
