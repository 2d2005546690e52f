package dialect_test

import (
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/call"
	"cardea.dev/internal/harness/conformance"
	"cardea.dev/internal/harness/dialect"
)

// Whatever bytes come, at whichever hook: nothing panics, and a denial is a denial to the
// harness whose hook it is, or to the one that sent the message.
func FuzzParse(f *testing.F) {
	for i, c := range cases() {
		for _, raw := range c.pre {
			f.Add(raw, uint8(i))
		}
	}
	f.Add(before("cline", "run_commands", `{"commands":[["a"],{"b":null}],"command":{}}`), uint8(3))
	f.Add(before("gemini-cli", "mcp_a_b", `{"dir_path":[]}`), uint8(1))
	f.Fuzz(func(t *testing.T, raw string, at uint8) {
		all := dialect.All()
		own := all[int(at)%len(all)]
		m, err := harness.Hook{Harness: own.Name(), Env: none, Adapters: everyone()}.Open([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		ev := m.Event
		if ev.Call != nil {
			ev = call.Analyse(ev, knowledge.System{Home: "/home/u"})
		}
		v := cardea.Verdict{Effect: cardea.Deny, Reason: "r", Message: "r"}
		out := m.Write(ev, cardea.Express(v, m.Capabilities(), ev))
		if !ev.Kind.Answered() || m.Unread {
			return
		}
		sender := m.Sender
		if sender == "" {
			sender = own.Name()
		}
		read := conformance.Reader(sender)
		if read == nil {
			read = conformance.ReadExit(cardea.PreToolUse, cardea.PermissionRequest)
		}
		got := read(ev, out)
		if own.Deaf() && got < conformance.Blocked && slices.ContainsFunc(m.Issues, isGuess) {
			got = conformance.Reader(own.Name())(ev, out) // an unknown event, of an unknown sender at this hook
		}
		if got < conformance.Blocked {
			t.Errorf("%s at %s: %s after %s %s", sender, own.Name(), got, out.Stdout, out.Stderr)
		}
	})
}

// isGuess reports whether an issue is about a message with an unknown event.
func isGuess(t cardea.Issue) bool {
	return strings.Contains(t.Diagnostic.Text, "whose event is not known")
}
