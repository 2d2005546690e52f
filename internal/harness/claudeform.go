package harness

import "cardea.dev"

// ClaudeAnswer is Claude Code's output, which other harnesses also read. With an unknown key, or
// without hookEventName, it fails Claude Code's schema, and the tool runs.
type ClaudeAnswer struct {
	Continue      *bool  `json:"continue,omitempty"`
	StopReason    string `json:"stopReason,omitempty"`
	Decision      string `json:"decision,omitempty"`
	Reason        string `json:"reason,omitempty"`
	SystemMessage string `json:"systemMessage,omitempty"`
	Hook          any    `json:"hookSpecificOutput,omitempty"`
}

// Stop makes the answer end the agent's turn.
func (out *ClaudeAnswer) Stop(a cardea.Answer) {
	no := false
	out.Continue, out.StopReason = &no, ForPerson(a)
}

// ClaudeTool is the part of an answer about a call that can still be held back. On other events it
// has only the event's name and context.
type ClaudeTool struct {
	Event    string         `json:"hookEventName"`
	Decision string         `json:"permissionDecision,omitempty"`
	Reason   string         `json:"permissionDecisionReason,omitempty"`
	Input    map[string]any `json:"updatedInput,omitempty"`
	Context  string         `json:"additionalContext,omitempty"`
}

// ClaudeRequest is the part of an answer to a request for permission.
type ClaudeRequest struct {
	Event    string         `json:"hookEventName"`
	Decision ClaudeDecision `json:"decision"`
}

// ClaudeDecision replaces the person's answer. Not all harnesses document Input and Interrupt.
type ClaudeDecision struct {
	Behavior  string         `json:"behavior"`
	Input     map[string]any `json:"updatedInput,omitempty"`
	Message   string         `json:"message,omitempty"`
	Interrupt *bool          `json:"interrupt,omitempty"`
}
