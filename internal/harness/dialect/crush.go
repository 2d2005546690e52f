package dialect

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// crush is Crush (https://github.com/charmbracelet/crush, docs/hooks; not seen). It has no
// question for a hook: its own prompt follows where a hook says nothing, but for "crush run"
// and --yolo, which ask nobody. Its hooks see the calls of the main agent alone.
var crush = Dialect{
	name:  "crush",
	event: []string{"event"}, session: []string{"session_id"}, cwd: []string{"cwd"},
	shapes: []shape{claudeShape},
	rows: []cardea.Row{
		{Kinds: []cardea.Kind{cardea.PreToolUse}, Allow: cardea.Allow, Ask: cardea.Defer, AskUnattended: cardea.Deny, Deny: cardea.Deny, Halt: cardea.Halt,
			Rewrite: true, Context: cardea.ContextAlways, Reserved: question},
		{},
	},
	write: writeCrush, program: "crush",
	server: func(r *harness.Reading, name string) (server, tool string) {
		if !strings.HasPrefix(name, "mcp_") {
			return "", ""
		}
		r.Fault("tool_name", "does not say where the name of the server of MCP ends")
		return splitServer(name)
	},
	headless: func(args []string, _ func() bool) bool {
		return slices.ContainsFunc(args, func(a string) bool { return a == "run" || a == "--yolo" || a == "-y" })
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

func writeCrush(d *Dialect, ev *cardea.Event, a cardea.Answer) harness.Output {
	out := crushAnswer{Version: 1, Context: contextOf(a), Input: wireInput(d, ev, a)}
	switch a.Effect {
	case cardea.Allow:
		out.Decision, out.Reason = "allow", harness.ForPerson(a)
	case cardea.Deny, cardea.Halt:
		out.Decision, out.Reason, out.Halt = "deny", harness.ForModel(a), a.Effect == cardea.Halt
	}
	if ev.Kind != cardea.PreToolUse || out.Decision == "" && out.Context == "" {
		return said(nil, told(a))
	}
	return said(out, told(a))
}
