// Package claudecode speaks Claude Code's hook protocol, and reads the files
// of Claude Code that matter to a verdict.
//
// Sources: https://code.claude.com/docs/en/hooks (October 2026), .../permissions
// and .../permission-modes. Claude Code lets a tool run when a hook fails or
// writes what it cannot read, so every answer here is one object with exactly
// the documented keys; anything else would be an allow by accident.
package claudecode

import (
	"slices"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// Name is the harness's word for --harness.
const Name = "claude-code"

// Adapter is Claude Code's.
type Adapter struct{}

var _ harness.Adapter = Adapter{}

// Name is "claude-code".
func (Adapter) Name() string { return Name }

// Detect reports whether Claude Code sent the payload.
func (Adapter) Detect(p *harness.Payload, env func(string) string) bool {
	return harness.Sender(p, env) == Name
}

// seenToAsk are the surfaces (CLAUDE_CODE_ENTRYPOINT) on which a person was seen to get the
// question of a hook in the modes auto, plan and bypassPermissions (2.1.269 to 2.1.332), ""
// for a message that names none. In an editor it was reported to be answered without a person
// (anthropics/claude-code#77212, #82518).
var seenToAsk = [...]string{"", "cli"}

// Attendance returns what CLAUDE_CODE_SESSION_ATTENDED says, which 2.1.269 was the first to
// set: 1 in a terminal, 0 under -p (its messages have mode auto in both). On every other surface,
// 1 says no more than the mode.
func (Adapter) Attendance(env func(string) string) cardea.Attendance {
	switch said := env("CLAUDE_CODE_SESSION_ATTENDED"); {
	case said == "0":
		return cardea.NobodyAttends
	case said == "1" && slices.Contains(seenToAsk[:], env("CLAUDE_CODE_ENTRYPOINT")):
		return cardea.PersonAttends
	}
	return cardea.AttendanceUnsaid
}

// Surface returns the surface of which Claude Code says that a person attends it, "" for none.
func Surface(env func(string) string) string {
	if env("CLAUDE_CODE_SESSION_ATTENDED") != "1" {
		return ""
	}
	return env("CLAUDE_CODE_ENTRYPOINT")
}

// Parse reads a message of any of Claude Code's events; one that this version
// does not know is passed under its own name.
func (Adapter) Parse(p *harness.Payload) *cardea.Event {
	r := harness.NewReading(p)
	wire := r.EventName("hook_event_name")
	session, agent, agentType, cwd, mode := r.Text("session_id"), r.Text("agent_id"), r.Text("agent_type"), r.Folder("cwd"), r.Text("permission_mode")
	kind := cardea.Kind(wire)
	name := r.Text("tool_name")
	input, there := r.Value("tool_input")
	if wire == "" && there && !p.Has("tool_response") && !p.Has("error") {
		// The message is about a call and does not say whether it is before
		// or after it. Taking it for the call that is still to run is the
		// reading that lets nothing pass unseen.
		kind = cardea.PreToolUse
		r.Fault("hook_event_name", "is missing or no word")
	}
	call := r.EventCall(kind, Name, harness.ToolName(Name, name), name, input, there)
	ev := &cardea.Event{
		Kind: kind, Wire: wire, Harness: Name, Sent: p,
		Session: session, Agent: agent, AgentType: agentType, Cwd: cwd, Mode: cardea.Mode(mode),
		Call: call, Faults: r.Faults("tool_input"),
	}
	if kind == cardea.PreSkillShellCommand {
		return ev.WithNobody() // a question keeps the command from running, and nobody sees it
	}
	return ev
}
