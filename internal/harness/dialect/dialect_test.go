package dialect_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/harness/conformance"
	"cardea.dev/internal/harness/copilotcli"
	"cardea.dev/internal/harness/dialect"
	"cardea.dev/internal/testing/sharedtest"
)

// harnessCase holds the data for a harness's test in addition to its own messages.
type harnessCase struct {
	name         string
	pre, request []string
	ask          string
	inputs       []string
}

func cases() []harnessCase {
	return []harnessCase{
		{name: "codex",
			pre: []string{
				`{"session_id":"s","turn_id":"t","transcript_path":null,"cwd":"/work/p","hook_event_name":"PreToolUse","model":"m",` +
					`"permission_mode":"default","tool_name":"Bash","tool_input":{"command":"npm test"},"tool_use_id":"c"}`,
			},
			request: []string{
				`{"session_id":"s","turn_id":"t","transcript_path":null,"cwd":"/work/p","hook_event_name":"PermissionRequest","model":"m",` +
					`"permission_mode":"default","tool_name":"Bash","tool_input":{"command":"npm test","description":"d"}}`,
			},
			inputs: []string{"tool_input"}},
		{name: "gemini-cli",
			pre: []string{
				`{"session_id":"s","transcript_path":"/t","cwd":"/work/p","hook_event_name":"BeforeTool","timestamp":"2026-01-01",` +
					`"tool_name":"run_shell_command","tool_input":{"command":"npm test","description":"d","is_background":false}}`,
			},
			inputs: []string{"tool_input"}},
		{name: "qwen-code",
			pre: []string{
				`{"session_id":"s","transcript_path":"/t","cwd":"/work/p","hook_event_name":"PreToolUse","timestamp":"2026-01-01","permission_mode":"default",` +
					`"tool_name":"run_shell_command","tool_input":{"command":"npm test","description":"d","is_background":false},"tool_use_id":"u"}`,
			},
			request: []string{
				`{"session_id":"s","transcript_path":"/t","cwd":"/work/p","hook_event_name":"PermissionRequest","timestamp":"2026-01-01",` +
					`"permission_mode":"default","tool_name":"run_shell_command","tool_input":{"command":"npm test"}}`,
			},
			ask: `{"session_id":"s","transcript_path":"/t","cwd":"/work/p","hook_event_name":"PreToolUse","timestamp":"2026-01-01",` +
				`"permission_mode":"default","tool_name":"ask_user_question","tool_input":{"questions":[]},"tool_use_id":"u"}`,
			inputs: []string{"tool_input"}},
		{name: "factory-droid",
			pre: []string{`{"session_id":"s","transcript_path":"/t","cwd":"/work/p","permission_mode":"off","hook_event_name":"PreToolUse","tool_name":"Execute","tool_input":{"command":"npm test"}}`,
				`{"session_id":"s","transcript_path":"/t","cwd":"/work/p","permission_mode":"auto-low","hook_event_name":"PreToolUse","tool_name":"Create","tool_input":{"file_path":"/work/p/a","content":"x"}}`},
			inputs: []string{"tool_input"}},
		{name: "cline",
			pre:    []string{`{"clineVersion":"","taskId":"t","workspaceRoots":["/work/p"],"hookName":"tool_call","tool_call":{"id":"c","name":"run_commands","input":{"commands":["npm test"]}}}`},
			inputs: []string{"tool_call"}},
		{name: "opencode",
			pre:    []string{`{"event":"tool.execute.before","cwd":"/work/p","input":{"tool":"bash","sessionID":"ses_1","callID":"c"},"output":{"args":{"command":"npm test","description":"d"}}}`},
			inputs: []string{"output"}},
		{name: "cursor",
			pre: []string{`{"conversation_id":"c","cursor_version":"3","workspace_roots":["/work/p"],"hook_event_name":"beforeShellExecution","command":"npm test","cwd":"/work/p","sandbox":false}`,
				`{"conversation_id":"c","cursor_version":"3","workspace_roots":["/work/p"],"hook_event_name":"preToolUse","tool_name":"Write",` +
					`"tool_input":{"file_path":"/work/p/a","content":"x"},"tool_use_id":"u","cwd":"/work/p"}`,
			},
			inputs: []string{"tool_input"}},
		{name: "vscode",
			pre: []string{
				`{"timestamp":"t","cwd":"/work/p","sessionId":"s","hookEventName":"PreToolUse","transcript_path":"/t","tool_name":"run_in_terminal","tool_input":{"command":"npm test"},"tool_use_id":"u"}`,
			},
			inputs: []string{"tool_input"}},
		{name: "windsurf-cascade",
			pre:    []string{`{"agent_action_name":"pre_run_command","trajectory_id":"t","execution_id":"e","timestamp":"t","tool_info":{"command_line":"npm test","cwd":"/work/p"}}`},
			inputs: []string{"tool_info"}},
		{name: "kiro",
			pre:    []string{`{"hook_event_name":"preToolUse","cwd":"/work/p","session_id":"s","tool_name":"execute_bash","tool_input":{"command":"npm test"}}`},
			inputs: []string{"tool_input"}},
		{name: "amp",
			pre:    []string{`{"event":"tool.call","cwd":"/work/p","thread":{"id":"T-1"},"toolUseID":"u","tool":"Bash","input":{"cmd":"npm test"}}`},
			inputs: []string{"input"}},
		{name: "augment",
			pre:    []string{`{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/work/p","tool_name":"launch-process","tool_input":{"command":"npm test"}}`},
			inputs: []string{"tool_input"}},
		{name: "crush",
			pre:    []string{`{"event":"PreToolUse","session_id":"s","cwd":"/work/p","tool_name":"bash","tool_input":{"command":"npm test","description":"d"}}`},
			inputs: []string{"tool_input"}},
		{name: "pi",
			pre:    []string{`{"type":"tool_call","toolName":"bash","toolCallId":"c","input":{"command":"npm test"},"cwd":"/work/p","hasUI":true}`},
			inputs: []string{"input"}},
	}
}

// The suite of every adapter, with the harness's own messages and its reader.
func TestConformance(t *testing.T) {
	covered := map[string]bool{}
	for _, c := range cases() {
		covered[c.name] = true
		t.Run(c.name, func(t *testing.T) {
			conformance.Run(t, conformance.Suite{Adapter: dialect.Find(c.name), Outcome: conformance.Reader(c.name), PreToolUse: c.pre, PermissionRequest: c.request,
				AskPerson: c.ask, Inputs: c.inputs})
		})
	}
	for _, d := range dialect.All() {
		if !covered[d.Name()] {
			t.Errorf("%s has no messages here", d.Name())
		}
	}
}

// everyone returns all adapters, as the hook has them.
func everyone() []harness.Adapter {
	all := []harness.Adapter{claudecode.Adapter{}, copilotcli.Adapter{}}
	for _, d := range dialect.All() {
		all = append(all, d)
	}
	return all
}

func none(string) string { return "" }

// sample is a message of a harness, from the shared material, from a real program, or
// written for this test.
type sample struct {
	path, harness string
	raw           []byte
	newest        bool // of the newest programs, whose fields are all known
}

var labNames = map[string]string{"claude": "claude-code", "copilot": "copilot-cli", "codex": "codex", "gemini": "gemini-cli", "qwen": "qwen-code",
	"opencode": "opencode", "droid": "factory-droid", "cline": "cline", "pi": "pi"}

func samples(t *testing.T) []sample {
	t.Helper()
	var out []sample
	for _, s := range conformance.Samples(t) {
		out = append(out, sample{path: s.Path, harness: s.Harness, raw: sharedtest.Read(t, "payloads", s.Path)})
	}
	var lab []string
	if sharedtest.Available(t) {
		lab, _ = filepath.Glob(filepath.Join(sharedtest.Path(t, "lab", "payloads"), "*.json"))
		if len(lab) < 98 {
			t.Fatalf("only %d messages of real programs", len(lab))
		}
	}
	newest, _ := filepath.Glob(filepath.Join(sharedtest.Path(t, "lab", "payloads-newest"), "*.json"))
	if len(newest) < 9 || sharedtest.Available(t) && len(newest) < 64 {
		t.Fatalf("only %d messages of the newest programs", len(newest))
	}
	for _, path := range append(lab, newest...) {
		var file struct {
			Client string
			Stdin  json.RawMessage
		}
		sharedtest.ReadJSON(t, &file, "lab", filepath.Base(filepath.Dir(path)), filepath.Base(path))
		client, _, _ := strings.Cut(file.Client, "-")
		out = append(out, sample{filepath.Base(path), labNames[client], file.Stdin, strings.Contains(path, "newest")})
	}
	own, _ := filepath.Glob("testdata/messages/*.json")
	for _, path := range own {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		name, _, _ = strings.Cut(name, "_")
		out = append(out, sample{path: path, harness: name, raw: raw})
	}
	return out
}

// about returns the kind of a message by the name of its file, which was given by hand:
// a call before it runs, the question about one, or anything else.
func about(path string) cardea.Kind {
	name := strings.ToLower(strings.TrimSuffix(filepath.Base(path), ".json"))
	switch {
	case strings.Contains(name, "preskillshellcommand"):
		return cardea.PreSkillShellCommand
	case strings.Contains(name, "permissionrequest"), strings.Contains(name, "permission.evaluate"):
		return cardea.PermissionRequest
	case strings.Contains(name, "pretooluse"), strings.Contains(name, "beforetool"), strings.Contains(name, "execute.before"),
		strings.Contains(name, "tool_call"), strings.Contains(name, "tool.call"), strings.Contains(name, "beforeshell"), strings.Contains(name, "beforemcp"),
		strings.Contains(name, "beforereadfile"), strings.Contains(name, "beforetabfile"), strings.Contains(name, "pre_run"), strings.Contains(name, "pre_read"),
		strings.Contains(name, "pre_write"), strings.Contains(name, "pre_mcp"):
		return cardea.PreToolUse
	}
	return ""
}

// Every message of every harness is read without a defect, at its own hook and at one that names no
// harness. Its event is the one that its file names, and an independent reader of the harness
// understands the answer as the gate means it.
func TestEveryPayload(t *testing.T) {
	seen := map[string]int{}
	for _, s := range samples(t) {
		read := conformance.Reader(s.harness)
		if read == nil {
			continue // no adapter: internal/harness tests what becomes of it
		}
		seen[s.harness]++
		for _, explicit := range []string{s.harness, ""} {
			for _, unattended := range []bool{false, true} {
				m, err := harness.Hook{Harness: explicit, Unattended: unattended, Env: none, Adapters: everyone()}.Open(s.raw)
				if err != nil {
					t.Fatal(err)
				}
				if m.Unread && explicit == "" && about(s.path) == "" {
					continue // it has no mark of its harness, and is about no call
				}
				if m.Unread || m.Event.Harness != s.harness {
					t.Errorf("%s at the hook %q: unread %v, sent by %q", s.path, explicit, m.Unread, m.Sender)
					continue
				}
				ev := m.Event
				if want := about(s.path); ev.Kind.Answered() != want.Answered() || want.Answered() && ev.Kind != want {
					t.Errorf("%s is %s", s.path, ev.Kind)
				}
				if len(ev.Faults) > 0 && !slices.Contains(faulty, filepath.Base(s.path)) {
					t.Errorf("%s: %v", s.path, ev.Faults)
				}
				if ev.Kind.Answered() {
					if ev.Call == nil || !ev.Call.Known && !strings.HasPrefix(ev.Call.Tool, "mcp__") && !slices.Contains(strangers, ev.Call.Tool) {
						t.Errorf("%s: %+v", s.path, ev.Call)
					} else if field := newField(ev); s.newest && field != "" {
						t.Errorf("%s: the tool %s has a field %q that internal/harness/tools.go does not have", s.path, ev.Call.Tool, field)
					}
				}
				if err := conformance.CheckMessage(m, ev, read); err != nil {
					t.Errorf("%s at the hook %q: %v", s.path, explicit, err)
				}
			}
		}
	}
	for _, d := range dialect.All() {
		if seen[d.Name()] == 0 {
			t.Errorf("no message of %s", d.Name())
		}
	}
}

// newField returns a field of a call that the tables do not have, "" for none.
func newField(ev *cardea.Event) string {
	for field := range ev.Call.Input {
		if harness.Unlisted(ev.Harness, &cardea.Call{Tool: ev.Call.Tool, Input: map[string]any{field: "x"}}) != "" {
			return field
		}
	}
	return ""
}

// faulty are messages that do not say enough.
var faulty = []string{
	"PreToolUse-mcp.json", // Crush runs server and tool together
}

// strangers are tools without a canonical name.
var strangers = []string{"Delete", "MCP:create_issue", "mcp_github_create_pull_request"}

// The answers that vendors print, and what they say these do, agree with the readers, so
// that a reader is not a picture of what is written here.
func TestReadersAgreeWithTheVendors(t *testing.T) {
	var index struct {
		Files []struct{ Path, Harness, Kind string }
	}
	sharedtest.ReadJSON(t, &index, "payloads", "INDEX.json")
	read := 0
	for _, f := range index.Files {
		reader := conformance.Reader(f.Harness)
		if f.Kind != "response" || reader == nil || f.Harness == "opencode" || dialect.Find(f.Harness) == nil {
			continue // OpenCode's are code
		}
		var r struct {
			Event, Intent, Stdout, Stderr string
			ExitCode                      int `json:"exit_code"`
		}
		sharedtest.ReadJSON(t, &r, "payloads", f.Path)
		if strings.HasPrefix(filepath.Base(f.Path), "any-") {
			r.Event = "preToolUse"
		}
		kind := dialect.Find(f.Harness).Kind(r.Event)
		if f.Harness == "windsurf-cascade" || f.Harness == "cline" || strings.Contains(strings.ToLower(r.Event), "pretooluse") {
			kind = cardea.PreToolUse
		}
		ev := &cardea.Event{Kind: kind, Wire: r.Event, Call: &cardea.Call{Tool: "Bash"}}
		got := reader(ev, harness.Output{Stdout: []byte(r.Stdout), Stderr: []byte(r.Stderr), Exit: r.ExitCode})
		want, known := map[string][]conformance.Outcome{
			"deny": {conformance.Blocked}, "block": {conformance.Blocked}, "ask": {conformance.Prompts}, "allow": {conformance.Runs, conformance.OwnFlow},
			"abstain": {conformance.OwnFlow}, "abstain/ask": {conformance.OwnFlow}, "abstain/allow/ask": {conformance.OwnFlow}, "allow/none": {conformance.OwnFlow},
			"rewrite": {conformance.OwnFlow, conformance.Runs}, "context": {conformance.OwnFlow}, "stop": {conformance.Stopped}, "(crash)": {conformance.OwnFlow},
			"(bug)": {conformance.OwnFlow}, "(bug) ask": {conformance.OwnFlow}, "(bug) allow": {conformance.OwnFlow},
		}[r.Intent]
		if slices.Contains(disputed, f.Path) || !known {
			continue
		}
		if read++; !slices.Contains(want, got) {
			t.Errorf("%s (%s): %s", f.Path, r.Intent, got)
		}
	}
	if sharedtest.Available(t) && read < 50 {
		t.Errorf("only %d answers were read", read)
	}
}

// disputed are answers whose effect is not what a name says, as it was measured or since
// the adapter does not use it.
var disputed = []string{
	"cline/responses/sdk-ask.json",          // measured: the call runs
	"cursor/responses/preToolUse-ask.json",  // not enforced
	"kiro/responses/v3-PreToolUse-ask.json", // the third engine alone
}

// The readers agree with the failure matrix, column by column, where an answer can show it.
func TestFailureMatrix(t *testing.T) {
	var table map[string]any
	sharedtest.ReadJSON(t, &table, "payloads", "_vectors", "failure-matrix.json")
	rows := map[string]string{"codex": "codex PreToolUse", "gemini-cli": "gemini-cli BeforeTool", "windsurf-cascade": "windsurf pre_*",
		"factory-droid": "factory-droid PreToolUse", "vscode": "vscode PreToolUse", "kiro": "kiro preToolUse (V1/V2/V3)",
		"qwen-code": "qwen-code PreToolUse", "cline": "cline extension PreToolUse", "crush": "crush PreToolUse", "cursor": "cursor (docs, default)"}
	for _, c := range cases() {
		cells, ok := table[rows[c.name]].([]any)
		if rows[c.name] == "" {
			continue
		}
		if !ok {
			t.Errorf("no row %q", rows[c.name])
			continue
		}
		ev := parse(t, c.name, c.pre[0])
		d := dialect.Find(c.name)
		deny := d.Render(ev, cardea.Express(cardea.Verdict{Effect: cardea.Deny, Reason: "x", Message: "x"}, d.Capabilities(), ev))
		for i, out := range map[int]harness.Output{0: {}, 1: deny, 2: {Exit: 1, Stderr: []byte("x\n")}, 3: {Exit: 2, Stderr: []byte("x\n")}, 6: {Stdout: []byte("{\"x\": }\n")}} {
			cell, _ := cells[i].(string)
			if strings.HasPrefix(cell, "n/a") || cell == "undocumented" {
				continue
			}
			if got := conformance.Reader(c.name)(ev, out); (got >= conformance.Blocked) != strings.HasPrefix(cell, "closed") {
				t.Errorf("%s, column %d: the reader says %s, the matrix %s", c.name, i, got, cell)
			}
		}
	}
}

// A harness that runs another's hook is answered so that it holds back what is to be held
// back: every message at every hook, for every effect.
func TestMisdirected(t *testing.T) {
	hooks := []string{"claude-code", "copilot-cli"}
	for _, d := range dialect.All() {
		hooks = append(hooks, d.Name())
	}
	seen := map[string]bool{}
	for _, s := range samples(t) {
		if about(s.path) == "" || seen[s.harness+string(about(s.path))] || conformance.Reader(s.harness) == nil {
			continue
		}
		seen[s.harness+string(about(s.path))] = true
		for _, explicit := range hooks {
			for _, unattended := range []bool{false, true} {
				m, err := harness.Hook{Harness: explicit, Unattended: unattended, Env: none, Adapters: everyone()}.Open(s.raw)
				if err != nil || m.Unread {
					t.Fatalf("%s at %s: %v", s.path, explicit, err)
				}
				if m.Event.Harness != s.harness || (len(m.Issues) == 0) != (explicit == s.harness) {
					t.Errorf("%s at %s: %s, %v", s.path, explicit, m.Event.Harness, m.Issues)
				}
				read := conformance.Reader(s.harness)
				if d := dialect.Find(s.harness); (explicit == "claude-code" || explicit == "vscode" && m.Event.Kind == cardea.PreToolUse) && explicit != s.harness && s.harness != "claude-code" && (d == nil ||
					!d.Deaf()) {
					read = func(ev *cardea.Event, o harness.Output) conformance.Outcome {
						return conformance.ReadSender(s.harness, ev, o)
					}
				}
				if err := conformance.CheckMessage(m, m.Event, read); err != nil {
					t.Errorf("%s at the hook of %s: %v", s.path, explicit, err)
				}
			}
		}
	}
}

// A message whose event a harness does not know is judged if it carries a call, and
// refused in a form that the harness reads. Nothing allows it.
func TestUnknownEvents(t *testing.T) {
	const devin = `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git push --force"},"session_id":"s"}`
	type hook struct{ harness, raw string }
	var cases []hook
	for _, d := range dialect.All() {
		cases = append(cases, hook{d.Name(), devin})
	}
	cases = append(cases,
		hook{"windsurf-cascade", `{"agent_action_name":"pre_run_terminal","tool_info":{"command_line":"git push --force"}}`},
		hook{"", `{"agent_action_name":"pre_run_terminal","tool_info":{"command_line":"git push --force"}}`},
		hook{"claude-code", `{"session_id":"s","transcript_path":"/t","tool_use_id":"u","hook_event_name":"PreShell","tool_name":"Bash","tool_input":{"command":"git push --force"}}`},
		hook{"codex", `{"session_id":"s","turn_id":"t","model":"m","hook_event_name":"PreShell","tool_name":"Bash","tool_input":{"command":"git push --force"}}`},
		hook{"cline", `{"clineVersion":"","hookName":"tool_begins","tool_call":{"name":"run_commands","input":{"commands":["git push --force"]}}}`},
		hook{"opencode", `{"event":"shell.before","sessionID":"ses_1","command":"git push --force"}`},
		hook{"amp", `{"event":"PreToolX","tool_input":{"command":"git push --force"}}`},
		hook{"", `{"hook_event_name":"PreToolX","tool_name":"mcp__x__y","tool_input":{"a":"b"}}`})
	for _, c := range cases {
		m, err := harness.Hook{Harness: c.harness, Env: none, Adapters: everyone()}.Open([]byte(c.raw))
		if err != nil {
			t.Fatal(err)
		}
		if m.Unread || m.Event.Kind != cardea.PreToolUse || m.Event.Call == nil {
			t.Errorf("%s at %q: %+v", c.raw, c.harness, m.Event)
			continue
		}
		name := m.Event.Harness
		if d := dialect.Find(name); d == nil || !d.Deaf() {
			name = "" // exit code 2, which is what all others know
		}
		read := conformance.Reader(name)
		switch {
		case c.raw == devin:
			read = conformance.Reader(c.harness)
		case read == nil:
			read = func(ev *cardea.Event, o harness.Output) conformance.Outcome { return conformance.ReadSender("", ev, o) }
		}
		if err := conformance.CheckMessage(m, m.Event, read); err != nil {
			t.Errorf("%s at %q: %v", c.raw, c.harness, err)
		}
	}
	for _, c := range []hook{
		{"windsurf-cascade", `{"agent_action_name":"post_run_terminal","tool_info":{"command_line":"git push --force"}}`},
		{"windsurf-cascade", `{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{}}`},
		{"cline", `{"tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":{}}`},
		{"claude-code", `{"hook_event_name":"FileChanged","transcript_path":"/t","tool_use_id":"u","file_path":"/p/.env"}`},
		{"amp", `{"event":"session.begin","thread":{"id":"T"},"toolUseID":"u"}`},
	} {
		m, err := harness.Hook{Harness: c.harness, Env: none, Adapters: everyone()}.Open([]byte(c.raw))
		if err != nil || m.Event.Kind.Answered() {
			t.Errorf("%s at %q: %+v, %v", c.raw, c.harness, m, err)
		}
	}
}

// No event of a known harness that is about no call is taken for one.
func TestKnownEventsAreNotGuessed(t *testing.T) {
	for _, s := range samples(t) {
		for _, explicit := range []string{"", s.harness} {
			m, err := harness.Hook{Harness: explicit, Env: none, Adapters: everyone()}.Open(s.raw)
			if conformance.Reader(s.harness) == nil { // no adapter
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if m.Event.Kind.Answered() != (about(s.path) != "") {
				t.Errorf("%s at %q: %s", s.path, explicit, m.Event.Kind)
			}
		}
	}
}

// What cannot be read is refused in a form that the harness knows.
func TestUnreadable(t *testing.T) {
	for _, d := range dialect.All() {
		for _, raw := range []string{"", "[]", "{", `{"tool":`} {
			m, err := harness.Hook{Harness: d.Name(), Env: none, Adapters: everyone()}.Open([]byte(raw))
			if err != nil || !m.Unread {
				t.Fatalf("%s: %v", d.Name(), err)
			}
			v := m.Verdict(cardea.Fallback{OnError: cardea.OnErrorDeny})
			out := m.Write(m.Event, cardea.Express(v, m.Capabilities(), m.Event))
			ev := &cardea.Event{Kind: cardea.PreToolUse, Harness: d.Name()}
			if got := conformance.Reader(d.Name())(ev, out); got < conformance.Blocked || !strings.Contains(string(out.Stdout)+string(out.Stderr), "no JSON object") {
				t.Errorf("%s at %q: %s, %+v", d.Name(), raw, got, out)
			}
		}
	}
}
