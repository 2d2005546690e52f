// Package copilotcli implements the hook protocol of GitHub Copilot CLI, in both of its message
// formats: camelCase, and PascalCase with Claude Code's event names.
//
// Sources: https://docs.github.com/en/copilot/reference/hooks-reference and the changelog of
// github/copilot-cli (1.0.87). The CLI ignores an answer that is not one JSON document, and denies
// when a preToolUse hook exits with a code other than 0 and 2.
package copilotcli

import (
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// Name is the harness's word for --harness.
const Name = "copilot-cli"

// Adapter is the adapter of Copilot CLI.
type Adapter struct{}

var _ harness.Adapter = Adapter{}

// Name returns "copilot-cli".
func (Adapter) Name() string { return Name }

// Detect reports whether Copilot CLI sent the payload.
func (Adapter) Detect(p *harness.Payload, env func(string) string) bool {
	return harness.Sender(p, env) == Name
}

// Attendance returns AttendanceUnsaid: no variable of Copilot CLI reports it.
func (Adapter) Attendance(func(string) string) cardea.Attendance { return cardea.AttendanceUnsaid }

// Parse reads a message in either format.
func (Adapter) Parse(p *harness.Payload) *cardea.Event {
	if p.Has("tool_name") || p.Has("tool_input") || !p.Has("sessionId") && p.Has("hook_event_name") {
		return parsePascal(p)
	}
	return parseCamel(p)
}

// parsePascal reads a message in the PascalCase format.
func parsePascal(p *harness.Payload) *cardea.Event {
	r := harness.NewReading(p)
	wire, session, cwd := r.EventName("hook_event_name"), r.Text("session_id"), r.Folder("cwd")
	kind := cardea.Kind(wire)
	input, there := r.Value("tool_input")
	if wire == "" && there && !p.Has("tool_result") && !p.Has("error") {
		kind = cardea.PreToolUse
		r.Defect("hook_event_name", "is missing or no word")
	}
	name := r.Text("tool_name")
	tool := toolName(name, input)
	if tool == "Bash" && harness.IsDrivePath(cwd) {
		// This format calls both shells Bash. On Windows it is PowerShell, and reading its text as
		// bash would be a guess.
		tool = "PowerShell"
	}
	call := r.EventCall(kind, Name, tool, name, input, there)
	return &cardea.Event{Kind: kind, Wire: wire, Harness: Name, Sent: p, Session: session, Cwd: cwd, Call: call, Faults: r.Defects("tool_input")}
}

// parseCamel reads a message in the camelCase format.
func parseCamel(p *harness.Payload) *cardea.Event {
	r := harness.NewReading(p)
	wire, session, cwd := r.EventName("hookName"), r.Text("sessionId"), r.Folder("cwd")
	if wire == "" {
		wire = wireByShape(p)
	}
	key := "toolArgs"
	if !p.Has(key) && p.Has("toolInput") {
		key = "toolInput"
	}
	input, there := r.Value(key)
	if text, ok := input.(string); ok {
		input = r.Object(key, text) // as older versions and the cloud agent send them
	}
	name := r.Text("toolName")
	call := r.EventCall(Kind(wire), Name, toolName(name, input), name, input, there)
	return &cardea.Event{Kind: Kind(wire), Wire: wire, Harness: Name, Sent: p,
		Session: session, Agent: p.Text("agentId"), AgentType: p.Text("agentType"), Cwd: cwd, Call: call, Faults: r.Defects(key)}
}

// toolName returns the canonical name of a tool. Copilot CLI calls apply_patch "Edit" in its
// PascalCase messages.
func toolName(name string, input any) string {
	tool := harness.ToolName(Name, name)
	if tool == "Edit" && harness.HoldsPatch(input) {
		return "apply_patch"
	}
	return tool
}

// wireByShape returns the event of a message that does not name it. A call without a result can
// still be held back.
func wireByShape(p *harness.Payload) string {
	tool := p.Has("toolName") || p.Has("toolArgs") || p.Has("toolInput")
	switch {
	case tool && p.Has("toolResult"):
		return "postToolUse"
	case tool && p.Has("error"):
		return "postToolUseFailure"
	case tool && p.Has("toolInput") && !p.Has("toolArgs"):
		return "permissionRequest"
	case tool:
		return "preToolUse"
	case p.Has("hook_event_name"):
		return lowerFirst(p.Text("hook_event_name"))
	}
	for _, s := range [...]struct{ key, wire string }{
		{"transformedPrompt", "userPromptTransformed"}, {"notification_type", "notification"},
		{"errorContext", "errorOccurred"}, {"trigger", "preCompact"}, {"agentId", "subagentStop"},
		{"agentName", "subagentStart"}, {"stopReason", "agentStop"}, {"source", "sessionStart"},
		{"reason", "sessionEnd"}, {"prompt", "userPromptSubmitted"},
	} {
		if p.Has(s.key) {
			return s.wire
		}
	}
	return ""
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// Kind returns the canonical name of a camelCase event: Claude Code's if it has the event.
func Kind(wire string) cardea.Kind {
	switch wire {
	case "":
		return ""
	case "userPromptSubmitted":
		return "UserPromptSubmit"
	case "agentStop":
		return "Stop"
	}
	return cardea.Kind(strings.ToUpper(wire[:1]) + wire[1:])
}
