package harness

import (
	"slices"
	"strings"

	"cardea.dev"
)

// Foreign reads the message of a harness that has no adapter. It translates names and fields that
// the vendor documents, so that every deny and ask finds its call. A call with unknown fields in
// its input has a defect and is never allowed: such a field may change where or how the tool runs.
func Foreign(sender string, p *Payload) *cardea.Event {
	r := NewReading(p)
	wire := firstText(p, "hook_event_name", "hookEventName", "event")
	cwd, mode, name := r.Folder("cwd"), r.Text("permission_mode"), r.Text("tool_name")
	kind := canonicalKind(wire)
	if p.Has("working_dir") {
		cwd = r.Folder("working_dir")
	}
	input, there := r.Value("tool_input")
	if command, is := r.Value("extra.command"); is && name == "" && sender == "hermes-agent" {
		name, input, there = "terminal", ObjectOf("command", command), true // it asks a person about a command
	}
	if sender == "" || wire == "" && name == "" {
		name, input = carried(p)
		there = input != nil
		if there && !kind.Answered() {
			// The message does not show that the call has already run.
			kind = cardea.PreToolUse
		}
	}
	var call *cardea.Call
	if name != "" && there || kind.Answered() {
		call = r.EventCall(kind, sender, ToolName(sender, name), name, input, there)
	}
	return &cardea.Event{
		Kind: kind, Wire: wire, Harness: sender, Sent: p,
		Session: firstText(p, "session_id", "sessionId", "conversation_id"), Cwd: cwd, Mode: cardea.Mode(mode),
		Call: call, Faults: r.Defects("tool_input"),
	}
}

func (t ToolInfo) has(field string) bool {
	return slices.ContainsFunc(t.Fields, func(f Field) bool { return f.Name == field })
}

func firstText(p *Payload, keys ...string) string {
	for _, k := range keys {
		if s := p.Text(k); s != "" {
			return s
		}
	}
	return ""
}

// canonicalKind returns the canonical names of the two kinds that the gate answers. Every other
// event keeps its name.
func canonicalKind(wire string) cardea.Kind {
	switch strings.ToLower(strings.ReplaceAll(wire, "_", "")) {
	case "pretooluse", "pretoolcall", "beforetool":
		return cardea.PreToolUse
	case "permissionrequest":
		return cardea.PermissionRequest
	}
	return cardea.Kind(wire)
}

// heard are the events without a call that can still be held back, by their canonical names.
var heard = [...]cardea.Kind{"SessionStart", "SessionEnd", "Setup", "InstructionsLoaded", "UserPromptSubmit", "UserPromptExpansion", "UserPromptTransformed",
	"PermissionDenied", "Notification", "MessageDisplay", "SubagentStart", "SubagentStop", "TaskCreated", "TaskCompleted", "TaskStart", "TaskResume",
	"TaskComplete", "TaskCancel", "TodoCreated", "TodoCompleted", "Stop", "StopFailure", "TeammateIdle", "Interrupt", "ErrorOccurred", "ConfigChange",
	"CwdChanged", "FileChanged", "DirectoryAdded", "WorktreeCreate", "WorktreeRemove", "PreCompact", "PreModelSwitch", "Elicitation", "ElicitationResult",
	"BeforeModel", "BeforeToolSelection", "before_agent_start", "workspaceOpen", "PreTaskExec", "PermissionResult", "PreToolUseResult", "pre_approval_request"}

// passes reports whether an event is known not to be about a call that can still be held back: one
// of heard, or one whose name shows that it comes afterwards.
func passes(ev *cardea.Event) bool {
	wire := strings.ToLower(ev.Wire)
	return slices.Contains(heard[:], ev.Kind) || strings.HasPrefix(wire, "post") || strings.HasPrefix(wire, "after") || strings.HasPrefix(string(ev.Kind), "Post")
}
