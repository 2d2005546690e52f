package dialect

import "cardea.dev"

// The shapes of messages about a call in Claude Code's form, after it and before it.
var (
	claudeAfter = shape{has: "tool_response", tool: "tool_name", input: "tool_input", kind: "PostToolUse"}
	claudeShape = shape{tool: "tool_name", input: "tool_input", kind: cardea.PreToolUse}
)

// reserved are the reasons for which only a person may allow a call on PermissionRequest, as in
// [harness.Reserved].
var reserved = []cardea.Shortfall{cardea.Question, cardea.NativeAsk, cardea.Unsandboxed, cardea.ProtectedPath, cardea.CriticalDelete}

// question is the reason for which PreToolUse never gets an allow.
var question = []cardea.Shortfall{cardea.Question}
