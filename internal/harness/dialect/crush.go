package dialect

import (
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// crush is the dialect of Crush (https://github.com/charmbracelet/crush, docs/hooks; not seen). It
// has no question for a hook. Without an answer its own flow goes on, which may not prompt: under
// "crush run" and --yolo, for a tool of permissions.allowed_tools, for calls approved for the
// session, and for commands that it considers safe. Its hooks only see the calls of the main agent.
var crush = Dialect{
	name:  "crush",
	event: []string{"event"}, session: []string{"session_id"}, cwd: []string{"cwd"},
	shapes: []shape{claudeShape},
	rows: []cardea.Row{
		{Kinds: []cardea.Kind{cardea.PreToolUse}, Allow: cardea.Allow, Ask: cardea.Deny, Deny: cardea.Deny, Halt: cardea.Halt,
			Rewrite: true, Context: cardea.ContextAlways, Reserved: question},
		{},
	},
	write: writeCrush,
	server: func(r *harness.Reading, name string) (server, tool string) {
		if !strings.HasPrefix(name, "mcp_") {
			return "", ""
		}
		r.Defect("tool_name", "does not say where the name of the server of MCP ends")
		return splitServer(name)
	},
}

type crushAnswer struct {
	Version  int            `json:"version"`
	Decision string         `json:"decision,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	Context  string         `json:"context,omitempty"`
	Input    map[string]any `json:"updated_input,omitempty"`
	Halt     bool           `json:"halt,omitempty"`
}

// writeCrush returns an answer in Crush's form.
func writeCrush(d *Dialect, ev *cardea.Event, a cardea.Answer) harness.Output {
	out := crushAnswer{Version: 1, Context: harness.Beside(a), Input: harness.Rewritten(d.name, ev, a)}
	switch a.Effect {
	case cardea.Allow:
		out.Decision, out.Reason = "allow", harness.ForPerson(a)
	case cardea.Deny, cardea.Halt:
		out.Decision, out.Reason, out.Halt = "deny", harness.ForBoth(a), a.Effect == cardea.Halt
	}
	if ev.Kind != cardea.PreToolUse || out.Decision == "" && out.Context == "" {
		return said(nil, harness.Notice(a))
	}
	return said(out, harness.Notice(a))
}
