package dialect

import "cardea.dev"

// The shapes of messages about a call in Claude Code's form, after it and before it.
var (
	claudeAfter = shape{has: "tool_response", tool: "tool_name", input: "tool_input", kind: "PostToolUse"}
	claudeShape = shape{tool: "tool_name", input: "tool_input", kind: cardea.PreToolUse}
)

// reserved is what only a person may allow on PermissionRequest, as in
// [harness.Reserved].
var reserved = []cardea.Limit{cardea.Question, cardea.NativeAsk, cardea.Unsandboxed, cardea.ProtectedPath, cardea.CriticalDelete}

// question is what an allow on PreToolUse is not given for.
var question = []cardea.Limit{cardea.Question}
