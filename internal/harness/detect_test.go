package harness_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/harness/conformance"
	"cardea.dev/internal/harness/copilotcli"
	"cardea.dev/internal/testing/sharedtest"
)

func adapters() []harness.Adapter {
	return []harness.Adapter{claudecode.Adapter{}, copilotcli.Adapter{}}
}

func none(string) string { return "" }

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for _, p := range pairs {
			if k, v, _ := strings.Cut(p, "="); k == name {
				return v
			}
		}
		return ""
	}
}

func TestDetectsEverySample(t *testing.T) {
	for _, s := range conformance.Samples(t) {
		raw, err := os.ReadFile(sharedtest.Path(t, "payloads", s.Path))
		if err != nil {
			t.Fatal(err)
		}
		p, err := harness.Read(raw)
		if err != nil {
			t.Errorf("%s: %v", s.Path, err)
			continue
		}
		want := s.Harness
		if got := harness.Sender(p, none); got != want {
			t.Errorf("%s: %q", s.Path, got)
		}
		// What a stranger's environment holds does not turn Claude Code's
		// messages about calls into a stranger's.
		stranger := env("CURSOR_VERSION=1", "GROK_HOOK_EVENT=x", "DROID_PROJECT_DIR=/p", "CRUSH=1", "QWEN_PROJECT_DIR=/p")
		if s.Harness == "claude-code" && p.Has("tool_input") && p.Has("prompt_id") && harness.Sender(p, stranger) != want {
			t.Errorf("%s: inherited variables change the sender", s.Path)
		}
	}
}

// The rules of every sender, on shapes of our own.
func TestSender(t *testing.T) {
	cases := []struct{ sender, raw, env string }{
		{"windsurf-cascade", `{"agent_action_name":"pre_run_command"}`, ""},
		{"cursor", `{"cursor_version":"3.1","hook_event_name":"preToolUse"}`, ""},
		{"cursor", `{"hook_event_name":"PreToolUse"}`, "CURSOR_VERSION=3"},
		{"kiro", `{"hook_event_name":"preToolUse"}`, "CURSOR_VERSION=3"},
		{"cline", `{"hookName":"tool_call","clineVersion":"1","tool_call":{}}`, ""},
		{"antigravity-cli", `{"toolCall":{},"conversationId":"c"}`, ""},
		{"grok-build", `{"hookEventName":"pre_tool_use","workspaceRoot":"/p","hook_event_name":"PreToolUse"}`, ""},
		{"grok-build", `{"hook_event_name":"PreToolUse"}`, "GROK_HOOK_EVENT=x"},
		{"copilot-cli", `{"toolName":"bash","timestamp":5,"sessionId":"s"}`, ""},
		{"copilot-cli", `{"hook_event_name":"PreToolUse","timestamp":"2026-01-01T00:00:00Z","session_id":"s"}`, ""},
		{"vscode", `{"hookEventName":"PreToolUse","tool_name":"x","sessionId":"s","transcript_path":"/t","timestamp":"x"}`, ""},
		{"gemini-cli", `{"hook_event_name":"BeforeTool","timestamp":"x","transcript_path":"/t"}`, ""},
		{"codex", `{"hook_event_name":"PreToolUse","turn_id":"1","model":"m","transcript_path":null}`, ""},
		{"qwen-code", `{"hook_event_name":"PreToolUse","timestamp":"x","transcript_path":"/t","permission_mode":"yolo"}`, ""},
		{"gemini-cli", `{"hook_event_name":"SessionEnd","timestamp":"x","transcript_path":"/t"}`, ""},
		{"codex", `{"hook_event_name":"SessionEnd","transcript_path":"/h/.codex/sessions/rollout-1.jsonl"}`, ""},
		{"copilot-cli", `{"hook_event_name":"Stop","timestamp":"2026-01-01T00:00:00Z","session_id":"s","transcript_path":"/t"}`, ""},
		{"opencode", `{"input":{"tool":"bash","sessionID":"ses_1","callID":"c"},"output":{"args":{}}}`, ""},
		{"opencode", `{"tool":"shell","sessionID":"ses_1","input":{}}`, ""},
		{"pi", `{"type":"tool_call","toolName":"bash","toolCallId":"c","input":{}}`, ""},
		{"amp", `{"event":"tool.call","thread":{"id":"T"},"toolUseID":"u"}`, ""},
		{"augment", `{"hook_event_name":"PreToolUse","tool_name":"launch-process"}`, ""},
		{"factory-droid", `{"hook_event_name":"PreToolUse","permission_mode":"auto-low","transcript_path":"/t"}`, ""},
		{"factory-droid", `{"hook_event_name":"PreToolUse","transcript_path":"/t"}`, "FACTORY_PROJECT_DIR=/p"},
		{"kimi-code", `{"hook_event_name":"PreToolUse","client_type":"kimi_code_cli"}`, ""},
		{"crush", `{"event":"PreToolUse","tool_name":"bash"}`, ""},
		{"kiro", `{"hook_event_name":"preToolUse","tool_name":"x"}`, ""},
		{"kiro", `{"hook_event_name":"PreToolUse","tool_name":"fs_read"}`, ""},
		{"hermes-agent", `{"hook_event_name":"pre_tool_call"}`, ""},
		{"devin-cli", `{"hook_event_name":"PreToolUse","tool_name":"exec","tool_input":{"command":"ls"}}`, ""},
		{"claude-code", `{"hook_event_name":"PreToolUse","transcript_path":"/t","tool_name":"exec","tool_use_id":"u"}`, ""},
		{"", `{"hook_event_name":"PreToolUse","tool_name":"mcp__x__y"}`, ""},
		{"claude-code", `{"hook_event_name":"PreToolUse","transcript_path":"/t","tool_use_id":"u"}`, ""},
		{"claude-code", `{"hook_event_name":"PermissionRequest","transcript_path":"/t"}`, ""},
		{"claude-code", `{"hook_event_name":"PreToolUse","transcript_path":"/t","permission_mode":"auto"}`, ""},
		{"", `{}`, ""},
		{"", `{"tool_name":"Bash","tool_input":{"command":"ls"}}`, ""},
		{"", `{"hook_event_name":"PreToolUse","tool_name":"Bash"}`, ""},
	}
	for _, c := range cases {
		p := read(t, c.raw)
		sender, adapter := harness.Detect(p, env(c.env), adapters())
		if sender != c.sender {
			t.Errorf("%s, %s: %q", c.raw, c.env, sender)
		}
		if (adapter != nil) != (sender == "claude-code" || sender == "copilot-cli") {
			t.Errorf("%s: adapter %v", c.raw, adapter)
		}
	}
}

// tomorrow is an adapter that the table of senders does not know.
type tomorrow struct{ harness.Adapter }

func (tomorrow) Name() string { return "tomorrow" }
func (tomorrow) Detect(p *harness.Payload, _ func(string) string) bool {
	return p.Has("tomorrow")
}

func TestDetectAsksAdapters(t *testing.T) {
	all := append(adapters(), tomorrow{})
	if name, a := harness.Detect(read(t, `{"tomorrow":1}`), none, all); name != "tomorrow" || a == nil {
		t.Error(name)
	}
	if name, a := harness.Detect(read(t, `{}`), none, all); name != "" || a != nil {
		t.Error(name)
	}
}

func TestOpenRejectsUnknownNames(t *testing.T) {
	_, err := harness.Hook{Harness: "claud", Env: none, Adapters: adapters()}.Open([]byte(`{}`))
	if err == nil || !strings.Contains(err.Error(), "claude-code, copilot-cli") {
		t.Error(err)
	}
	if _, err = (harness.Hook{Harness: "Continue", Env: none, Adapters: adapters()}).Open([]byte(`{}`)); err == nil || !strings.Contains(err.Error(), "never starts them") {
		t.Error(err)
	}
}

func TestOpenNoObject(t *testing.T) {
	for _, raw := range []string{"", "[]", "{", "{}{}"} {
		m, err := harness.Hook{Harness: "claude-code", Env: none, Adapters: adapters()}.Open([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		for on, exit := range map[cardea.OnError]int{cardea.OnErrorDefer: 2, cardea.OnErrorDeny: 2, cardea.OnErrorAllow: 0} {
			if a := write(m, m.Verdict(cardea.Fallback{OnError: on})); !m.Unread || a.Exit != exit || len(a.Stdout) > 0 || !strings.Contains(string(a.Stderr), "no JSON object") {
				t.Errorf("%q under %s: %+v", raw, on, a)
			}
		}
		m, err = harness.Hook{Env: none, Adapters: adapters()}.Open([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		for on, exit := range map[cardea.OnError]int{cardea.OnErrorDefer: 0, cardea.OnErrorDeny: 2, cardea.OnErrorAllow: 0} {
			if a := write(m, m.Verdict(cardea.Fallback{OnError: on})); !m.Unread || a.Exit != exit || len(a.Stdout) > 0 || len(a.Stderr) == 0 {
				t.Errorf("%q under %s without --harness: %+v", raw, on, a)
			}
		}
	}
}

const (
	fromClaude = `{"session_id":"s","transcript_path":"/t","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"u"}`
	fromPascal = `{"hook_event_name":"PreToolUse","session_id":"s","timestamp":"2026-01-01","cwd":"/p","tool_name":"Read","tool_input":{"path":"/x"}}`
	fromCamel  = `{"sessionId":"s","timestamp":1,"cwd":"/p","toolName":"bash","toolArgs":{"command":"ls"}}`
	fromCursor = `{"conversation_id":"c","cursor_version":"3","hook_event_name":"preToolUse","cwd":"/p","tool_name":"Shell","tool_input":{"command":"ls","working_directory":"/elsewhere"}}`
	fromVSCode = `{"sessionId":"s","hookEventName":"PreToolUse","transcript_path":"/t","cwd":"/p","timestamp":"x","tool_name":"create_file","tool_input":{"filePath":"/p/a","content":"x"}}`
	fromCodex  = `{"session_id":"s","turn_id":"3","model":"m","transcript_path":"/t","cwd":"/p","hook_event_name":"PreToolUse",` +
		`"permission_mode":"default","tool_name":"Bash","tool_input":{"command":"ls"}}`
	fromCrush   = `{"event":"PreToolUse","session_id":"s","cwd":"/p","tool_name":"bash","tool_input":{"command":"ls"}}`
	fromGemini  = `{"session_id":"s","hook_event_name":"BeforeTool","cwd":"/p","tool_name":"run_shell_command","tool_input":{"command":"ls"}}`
	fromDevin   = `{"hook_event_name":"PreToolUse","tool_name":"exec","tool_input":{"command":"ls"}}`
	fromNobody  = `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`
	cursorsStop = `{"conversation_id":"c","cursor_version":"3","hook_event_name":"stop"}`
)

// write returns the output for a verdict on a message.
func write(m *harness.Message, v cardea.Verdict) harness.Output {
	return m.Write(m.Event, cardea.Express(v, m.Capabilities(), m.Event))
}

func TestOpenForms(t *testing.T) {
	const (
		claude  = `"hookSpecificOutput":{"hookEventName":"PreToolUse"`
		copilot = `{"permissionDecision":"`
		exit    = "exit 2"
		silent  = "silent"
	)
	cases := []struct {
		name, raw, explicit, tool string
		deny, ask, allow          string
		noted                     bool
	}{
		{"Claude's own", fromClaude, "claude-code", "Bash", claude, claude, claude, false},
		{"detected", fromClaude, "", "Bash", claude, claude, claude, false},
		{"Copilot's own", fromCamel, "copilot-cli", "Bash", copilot, copilot, copilot, false},
		{"Copilot detected", fromPascal, "", "Read", copilot, copilot, copilot, false},
		{"Copilot runs Claude's hook", fromPascal, "claude-code", "Read", claude, claude, claude, true},
		{"camelCase does not read Claude's form", fromCamel, "claude-code", "Bash", exit, exit, silent, true},
		{"Cursor runs Claude's hook, and has no ask", fromCursor, "claude-code", "Bash", claude, claude, claude, true},
		{"VS Code runs Claude's hook", fromVSCode, "claude-code", "Write", claude, claude, claude, true},
		{"Crush cannot be told to ask, and need not prompt", fromCrush, "claude-code", "Bash", claude, claude, claude, true},
		{"Codex reads Claude's form as an error", fromCodex, "claude-code", "Bash", exit, exit, silent, true},
		{"Devin at Claude's hook", fromDevin, "claude-code", "Bash", exit, exit, silent, true},
		{"Devin's own", fromDevin, "", "Bash", exit, exit, silent, true},
		{"Claude at Copilot's hook", fromClaude, "copilot-cli", "Bash", exit, exit, silent, true},
		{"a sender without an adapter", fromGemini, "", "Bash", exit, exit, silent, true},
		{"nobody at Claude's hook", fromNobody, "claude-code", "Bash", claude, claude, claude, false},
	}
	for _, c := range cases {
		m, err := harness.Hook{Harness: c.explicit, Env: none, Adapters: adapters()}.Open([]byte(c.raw))
		if err != nil {
			t.Fatal(err)
		}
		if m.Event == nil || m.Event.Kind != cardea.PreToolUse || m.Event.Call.Tool != c.tool || (len(m.Issues) > 0) != c.noted {
			t.Errorf("%s: %+v, troubles %v", c.name, m.Event, m.Issues)
			continue
		}
		for effect, want := range map[cardea.Effect]string{cardea.Deny: c.deny, cardea.Halt: c.deny, cardea.Ask: c.ask,
			cardea.Allow: c.allow, cardea.Abstain: silent, cardea.Defer: silent} {
			a := write(m, cardea.Verdict{Effect: effect, Reason: "why", Message: "why"})
			got := silent
			switch {
			case a.Exit == 2 && len(a.Stdout) == 0 && strings.HasPrefix(string(a.Stderr), "Cardea: why\n"):
				got = exit
			case a.Exit == 0 && strings.Contains(string(a.Stdout), claude):
				got = claude
			case a.Exit == 0 && strings.HasPrefix(string(a.Stdout), copilot):
				got = copilot
			case a.Exit != 0 || len(a.Stdout) > 0:
				got = "something else"
			}
			if got != want {
				t.Errorf("%s at %s: %+v", c.name, effect, a)
			}
		}
	}
}

// What the gate answers to a message of any sender, at any hook, is what the
// sender reads.
func TestEverySenderReadsTheAnswer(t *testing.T) {
	raws := []string{fromClaude, fromPascal, fromCamel, fromCursor, fromVSCode, fromCodex, fromCrush, fromGemini, cursorsStop,
		strings.Replace(fromPascal, "PreToolUse", "PermissionRequest", 1), strings.Replace(fromVSCode, "PreToolUse", "PermissionRequest", 1),
		strings.Replace(fromCodex, `"default"`, `"auto-low"`, 1), strings.Replace(fromCodex, `"turn_id":"3","model":"m",`, "", 1)}
	for _, s := range conformance.Samples(t) {
		raws = append(raws, string(sharedtest.Read(t, "payloads", s.Path)))
	}
	droid := `{"session_id":"s","transcript_path":"/t","cwd":"/p","permission_mode":"auto-low","hook_event_name":"PreToolUse","tool_name":"Execute","tool_input":{"command":"ls"}}`
	for _, raw := range append(raws, droid) {
		for _, explicit := range []string{"", "claude-code", "copilot-cli"} {
			for _, unattended := range []bool{false, true} {
				m, err := harness.Hook{Harness: explicit, Unattended: unattended, Env: none, Adapters: adapters()}.Open([]byte(raw))
				if err != nil {
					t.Fatal(err)
				}
				if m.Unread {
					continue
				}
				if err := conformance.CheckMessage(m, m.Event, reader(m.Sender, explicit)); err != nil {
					t.Errorf("at the hook %q: %v", explicit, err)
				}
			}
		}
	}
}

// reader returns the reader of the answer to a message of a sender at a hook. A message of an
// unknown sender is read by the hook's own harness.
func reader(sender, explicit string) func(*cardea.Event, harness.Output) conformance.Outcome {
	own := explicit
	if own == "" || sender != "" && own != sender {
		own = sender
	}
	switch {
	case explicit != "" && own != explicit:
	case own == "claude-code":
		return conformance.ReadClaudeCode
	case own == "copilot-cli":
		return conformance.ReadCopilot
	}
	return func(ev *cardea.Event, o harness.Output) conformance.Outcome {
		if own == "claude-code" && ev.Kind == cardea.PermissionRequest { // it does not hear exit code 2 there
			return conformance.ReadClaudeCode(ev, o)
		}
		return conformance.ReadSender(own, ev, o)
	}
}

func TestForeignDegrades(t *testing.T) {
	answer := func(raw string, v cardea.Verdict) string {
		m, err := harness.Hook{Harness: "claude-code", Env: none, Adapters: adapters()}.Open([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		return string(write(m, v).Stdout)
	}
	if out := answer(fromCursor, cardea.Verdict{Effect: cardea.Ask, Reason: "r", Message: "r"}); !strings.Contains(out, `"deny"`) || !strings.Contains(out, "cannot ask") {
		t.Errorf("Cursor: %s", out)
	}
	v := cardea.Verdict{Effect: cardea.Allow, Reason: "r", Rewrite: map[string]any{"file_path": "/new"}}
	if out := answer(fromVSCode, v); !strings.Contains(out, `"ask"`) || strings.Contains(out, "updatedInput") || !strings.Contains(out, "as it was sent") {
		t.Errorf("a rewrite: %s", out)
	}
	if out := answer(cursorsStop, cardea.Verdict{Effect: cardea.Deny, Message: "r"}); out != "" {
		t.Errorf("an event that passes: %s", out)
	}
}

func TestForeignReadsWhatIsCertain(t *testing.T) {
	cases := []struct {
		raw, session string
		fields       []string
		defects      bool
	}{
		{fromCursor, "c", []string{"command", "workdir"}, false}, // it runs elsewhere
		{strings.Replace(fromCursor, "working_directory", "workplace", 1), "c", []string{"command", "workplace"}, true},
		{fromVSCode, "s", []string{"content", "file_path"}, false},
		{fromCodex, "s", []string{"command"}, false},
		{strings.Replace(fromCodex, `{"command":"ls"}`, `{"command":"ls","command":"rm"}`, 1), "s", []string{"command"}, true},
	}
	for _, c := range cases {
		ev := harness.Foreign(harness.Sender(read(t, c.raw), none), read(t, c.raw))
		var fields []string
		for f := range ev.Call.Input {
			fields = append(fields, f)
		}
		slices.Sort(fields)
		if !slices.Equal(fields, c.fields) || (len(ev.Faults) > 0) != c.defects || ev.Session != c.session {
			t.Errorf("%s: %v, faults %v, session %s", ev.Harness, fields, ev.Faults, ev.Session)
		}
	}
	if ev := harness.Foreign("cursor", read(t, cursorsStop)); ev.Call != nil || ev.Kind.Answered() {
		t.Errorf("%+v", ev)
	}
}

func TestUnknownShapeWithoutACallIsSilent(t *testing.T) {
	for _, raw := range []string{`{}`, `{"thread":"t","status":"idle"}`, `{"event":"stop","cwd":"/p","transcript_path":"/t"}`, `{"command":"","path":[]}`, `{"command":7}`} {
		m, err := harness.Hook{Env: none, Adapters: adapters()}.Open([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		if a := write(m, m.Verdict(cardea.Fallback{OnError: cardea.OnErrorDeny})); !m.Unread || a.Exit != 0 || len(a.Stdout) > 0 || !strings.Contains(string(a.Stderr), "--harness") {
			t.Errorf("%s: %+v", raw, a)
		}
	}
	m, _ := harness.Hook{Env: none, Adapters: adapters()}.Open([]byte(fromClaude))
	if m.Unread {
		t.Error("an event is settled without a verdict")
	}
}

// A call is found in a message of an unknown sender: in the form that it has, or at any command or
// path.
func TestUnknownShapesAreJudged(t *testing.T) {
	for _, tt := range []struct{ raw, tool, input, harness string }{
		{`{"tool_name":"Bash","tool_input":{"command":"ls"}}`, "Bash", `map[command:ls]`, "claude-code"},
		{`{"tool_name":"mcp__x__y","tool_input":{"a":"b"},"hook_event_name":"PreToolUse"}`, "mcp__x__y", `map[a:b]`, "claude-code"},
		{`{"toolName":"bash","toolArgs":{"command":"ls"}}`, "Bash", `map[command:ls]`, "copilot-cli"},
		{`{"toolName":"view","toolArgs":"{\"path\":\"/x\"}"}`, "Read", `map[file_path:/x]`, "copilot-cli"},
		{`{"command":"ls"}`, "unknown", `map[command:ls]`, ""},
		{`{"tool":"Bash","args":{"command":"ls"}}`, "Bash", `map[command:ls]`, ""},
		{`{"call":{"name":"run","arguments":{"cmd":["rm","-rf","/"],"why":"x"}},"cwd":"/p"}`, "run", `map[cmd:[rm -rf /] why:x]`, ""},
		{`{"file_path":"/x","cwd":"/p","transcript_path":"/t"}`, "unknown", `map[file_path:/x]`, ""},
		{`{"calls":[{"CommandLine":"a"},{"commandLine":"b"}]}`, "unknown", `map[calls:[map[CommandLine:a] map[commandLine:b]]]`, ""},
	} {
		m, err := harness.Hook{Env: none, Adapters: adapters()}.Open([]byte(tt.raw))
		if err != nil {
			t.Fatal(err)
		}
		ev := m.Event
		if m.Unread || !ev.Kind.Answered() || ev.Call == nil || ev.Call.Tool != tt.tool || fmt.Sprint(ev.Call.Input) != tt.input || ev.Harness != tt.harness || len(m.Issues) != 1 {
			t.Errorf("%s: %+v, %+v", tt.raw, ev, ev.Call)
			continue
		}
		for effect, exit := range map[cardea.Effect]int{cardea.Halt: 2, cardea.Deny: 2, cardea.Ask: 2, cardea.Defer: 0, cardea.Abstain: 0, cardea.Allow: 0} {
			a := write(m, cardea.Verdict{Effect: effect, Reason: "why", Message: "why"})
			if tt.harness == "" && (a.Exit != exit || len(a.Stdout) > 0 || exit == 2 && !strings.Contains(string(a.Stderr), "why")) {
				t.Errorf("%s at %s: %+v", tt.raw, effect, a)
			}
		}
	}
}

func BenchmarkCheckReadOpen(b *testing.B) {
	all := adapters()
	for b.Loop() {
		m, err := harness.Hook{Harness: "claude-code", Env: none, Adapters: all}.Open([]byte(fromClaude))
		if err != nil || m.Event.Call == nil {
			b.Fatal(err)
		}
		if a := write(m, cardea.Verdict{Effect: cardea.Deny, Message: "no"}); len(a.Stdout) == 0 {
			b.Fatal("silence")
		}
	}
}
