// Package claudecode speaks Claude Code's hook protocol, and reads the files
// of Claude Code that matter to a verdict.
//
// Sources: https://code.claude.com/docs/en/hooks (October 2026), .../permissions
// and .../permission-modes. Claude Code lets a tool run when a hook fails or
// writes what it cannot read, so every answer here is one object with exactly
// the documented keys; anything else would be an allow by accident.
package claudecode

import (
	"cardea.dev"
	"cardea.dev/internal/harness"
)

// Name is the harness's word for --harness.
const Name = "claude-code"

// Adapter is Claude Code's. The zero value works, but does not know the
// person's home.
type Adapter struct{ home string }

// New makes the adapter. home is the person's home folder, which no
// PermissionRequest may delete on the gate's word; "" where it is not known.
func New(home string) Adapter { return Adapter{home: home} }

var _ harness.Adapter = Adapter{}

// Name is "claude-code".
func (Adapter) Name() string { return Name }

// Detect reports whether Claude Code sent the payload.
func (Adapter) Detect(p *harness.Payload, env func(string) string) bool {
	return harness.Sender(p, env) == Name
}

// Parse reads a message of any of Claude Code's events; one that this version
// does not know is passed under its own name.
func (Adapter) Parse(p *harness.Payload) *cardea.Event {
	r := harness.NewReading(p)
	ev := &cardea.Event{
		Harness:   Name,
		Sent:      p,
		Wire:      r.EventName("hook_event_name"),
		Session:   r.Text("session_id"),
		Agent:     r.Text("agent_id"),
		AgentType: r.Text("agent_type"),
		Cwd:       r.Folder("cwd"),
		Mode:      cardea.Mode(r.Text("permission_mode")),
	}
	ev.Kind = cardea.Kind(ev.Wire)
	name := r.Text("tool_name")
	input, there := r.Value("tool_input")
	if ev.Wire == "" && there && !p.Has("tool_response") && !p.Has("error") {
		// The message is about a call and does not say whether it is before
		// or after it. Taking it for the call that is still to run is the
		// reading that lets nothing pass unseen.
		ev.Kind = cardea.PreToolUse
		r.Fault("hook_event_name", "is missing or no word")
	}
	if ev.Kind.Answered() || name != "" {
		ev.Call = r.Call(Name, name, input, there)
	}
	if ev.Kind.Answered() && (name == "" || !there) {
		r.Fault("tool_name, tool_input", "a tool event without the tool's name or input")
	}
	ev.Faults = r.Faults("tool_input")
	return ev
}
