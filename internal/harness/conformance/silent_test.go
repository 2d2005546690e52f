package conformance

import (
	"encoding/json"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/harness"
)

// silent is the adapter of an invented harness that cannot ask, stop the agent,
// take another input or hear a context: all that an adapter of one needs.
type silent struct{}

func (silent) Attendance(func(string) string) cardea.Attendance { return cardea.AttendanceUnsaid }

func (silent) Name() string { return "silent" }

func (silent) Detect(p *harness.Payload, _ func(string) string) bool { return p.Has("thread") }

func (silent) Parse(p *harness.Payload) *cardea.Event {
	r := harness.NewReading(p)
	wire, session, cwd, tool := r.Text("event"), r.Text("thread"), r.Folder("folder"), r.Text("tool")
	kind := cardea.Kind(wire)
	if wire != "after-tool" {
		kind = cardea.PreToolUse
	}
	input, there := r.Value("args")
	call := r.EventCall(kind, "silent", harness.ToolName("silent", tool), tool, input, there)
	return &cardea.Event{Kind: kind, Wire: wire, Harness: "silent", Sent: p, Session: session, Cwd: cwd, Call: call, Faults: r.Defects("args"),
		Attendance: cardea.NobodyAttends} // no person sees a question
}

func (silent) Capabilities() cardea.Capabilities {
	c := harness.ReservedCalls("silent")
	c.Rows = []cardea.Row{
		{Kinds: []cardea.Kind{cardea.PreToolUse}, Allow: cardea.Allow, Ask: cardea.Deny, Deny: cardea.Deny, Halt: cardea.Deny,
			Reserved: []cardea.Shortfall{cardea.Question}},
	}
	return c
}

func (silent) Render(_ *cardea.Event, a cardea.Answer) harness.Output {
	var out harness.Output
	if t := harness.Notice(a); t != "" {
		out.Stderr = []byte(t + "\n")
	}
	switch a.Effect {
	case cardea.Allow:
		out.Stdout = harness.Encode(map[string]any{"run": true})
	case cardea.Deny:
		out.Stdout = harness.Encode(map[string]any{"run": false, "why": harness.ForBoth(a)})
	}
	return out
}

func TestAHarnessThatCannotAsk(t *testing.T) {
	read := func(_ *cardea.Event, o harness.Output) Outcome {
		var top map[string]any
		if json.Unmarshal(o.Stdout, &top) != nil || o.Exit != 0 {
			return OwnFlow
		}
		switch top["run"] {
		case true:
			return Runs
		case false:
			return Blocked
		}
		return OwnFlow
	}
	Run(t, Suite{
		Adapter:    silent{},
		Outcome:    read,
		PreToolUse: []string{`{"thread":"t1","folder":"/work/p","event":"before-tool","tool":"Bash","args":{"command":"npm test"}}`},
		Inputs:     []string{"args"},
		Expect:     func(string) (cardea.Kind, string) { return cardea.PreToolUse, "Bash" },
	})
}
