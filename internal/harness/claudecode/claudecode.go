// Package claudecode reads and writes Claude Code's hook messages, and reads the files of
// Claude Code that matter to a verdict.
//
// Sources: https://code.claude.com/docs/en/hooks (October 2026), .../permissions and
// .../permission-modes. Claude Code runs a tool if a hook fails or writes an answer that it
// cannot read. So every answer is one object with exactly the documented keys: anything else
// would be an allow by accident.
package claudecode

import (
	"slices"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// Name is the harness's word for --harness.
const Name = "claude-code"

// Adapter is the adapter of Claude Code.
type Adapter struct{}

var _ harness.Adapter = Adapter{}

// Name returns "claude-code".
func (Adapter) Name() string { return Name }

// Detect reports whether Claude Code sent the payload.
func (Adapter) Detect(p *harness.Payload, env func(string) string) bool {
	return harness.Sender(p, env) == Name
}

// seenToAsk are the surfaces (CLAUDE_CODE_ENTRYPOINT) on which a hook's question was seen to reach
// a person in the modes auto, plan and bypassPermissions (2.1.269 to 2.1.332). "" is a message that
// names none. In an editor the question was reported to be answered without a person
// (anthropics/claude-code#77212, #82518).
var seenToAsk = [...]string{"", "cli"}

// Attendance returns the value of CLAUDE_CODE_SESSION_ATTENDED, which 2.1.269 was the first to set:
// 1 in a terminal, 0 under -p (its messages have mode auto in both). On every other surface,
func (Adapter) Attendance(env func(string) string) cardea.Attendance {
	switch said := env("CLAUDE_CODE_SESSION_ATTENDED"); {
	case said == "0":
		return cardea.NobodyAttends
	case said == "1" && slices.Contains(seenToAsk[:], env("CLAUDE_CODE_ENTRYPOINT")):
		return cardea.PersonAttends
	}
	return cardea.AttendanceUnsaid
}

// Surface returns the surface that Claude Code reports as attended, or "".
func Surface(env func(string) string) string {
	if env("CLAUDE_CODE_SESSION_ATTENDED") != "1" {
		return ""
	}
	return env("CLAUDE_CODE_ENTRYPOINT")
}

// Parse reads a message of any of Claude Code's events. An unknown event keeps its own name.
func (Adapter) Parse(p *harness.Payload) *cardea.Event {
	r := harness.NewReading(p)
	wire := r.EventName("hook_event_name")
	session, agent, agentType, cwd, mode := r.Text("session_id"), r.Text("agent_id"), r.Text("agent_type"), r.Folder("cwd"), r.Text("permission_mode")
	kind := cardea.Kind(wire)
	name := r.Text("tool_name")
	input, there := r.Value("tool_input")
	if wire == "" && there && !p.Has("tool_response") && !p.Has("error") {
		// The message is about a call, but does not show whether the call has run. Treating it as a
		// call that can still be held back is the reading that lets nothing pass unseen.
		kind = cardea.PreToolUse
		r.Defect("hook_event_name", "is missing or no word")
	}
	call := r.EventCall(kind, Name, harness.ToolName(Name, name), name, input, there)
	ev := &cardea.Event{
		Kind: kind, Wire: wire, Harness: Name, Sent: p,
		Session: session, Agent: agent, AgentType: agentType, Cwd: cwd, Mode: cardea.Mode(mode),
		Call: call, Faults: r.Defects("tool_input"),
	}
	if kind == cardea.PreSkillShellCommand {
		ev.Attendance = cardea.NobodyAttends // a question keeps the command from running, and no person sees it
	}
	return ev
}
