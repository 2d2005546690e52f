package packs_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/harness/copilotcli"
	"cardea.dev/internal/harness/dialect"
	"cardea.dev/packs"
)

// wire is one format of messages: the template of a golden payload, and how to insert a
// call.
type wire struct {
	name, explicit string
	// message inserts a call, or reports that the format has no such tool.
	message func(tool string, input map[string]any) (map[string]any, bool)
	// decided returns the answer's effect.
	decided func(a map[string]any) string
	// noAsk is set if an ask becomes a denial.
	noAsk bool
}

// tools maps the tools of rules to the names in harnesses.
var tools = map[string]map[string]string{
	"codex":         {"Bash": "Bash", "apply_patch": "apply_patch"},
	"gemini-cli":    {"Bash": "run_shell_command", "Read": "read_file", "Write": "write_file", "Edit": "replace", "Grep": "grep_search"},
	"qwen-code":     {"Bash": "run_shell_command", "Read": "read_file", "Write": "write_file", "Edit": "edit", "Grep": "grep_search", "WebFetch": "web_fetch"},
	"factory-droid": {"Bash": "Execute", "Read": "Read", "Write": "Create", "Edit": "Edit", "Grep": "Grep", "WebFetch": "FetchUrl"},
	"opencode":      {"Bash": "bash", "Read": "read", "Write": "write", "Edit": "edit", "Grep": "grep", "WebFetch": "webfetch"},
	"pi":            {"Bash": "bash", "Read": "read", "Write": "write", "Edit": "edit", "Grep": "grep"},
	"cline":         {"Bash": "execute_command", "Read": "read_file", "Write": "write_to_file", "Edit": "editor", "Grep": "search_files"},
	"vscode":        {"Bash": "run_in_terminal", "Read": "read_file", "Write": "create_file", "Edit": "replace_string_in_file"},
	"crush":         {"Bash": "bash", "Read": "view", "Write": "write", "Edit": "edit", "Grep": "grep", "WebFetch": "fetch"},
}

// called returns a call with the names of a harness.
func called(name, tool string, input map[string]any) (string, map[string]any, bool) {
	word, ok := tools[name][tool]
	return word, harness.WireInput(name, tool, input), ok
}

// copilotTool returns Copilot CLI's names of a tool and its fields.
func copilotTool(tool string, input map[string]any) (string, map[string]any, bool) {
	names := map[string]string{"Bash": "bash", "PowerShell": "powershell", "Read": "view", "Write": "create", "Edit": "edit",
		"Grep": "grep", "WebFetch": "web_fetch"}
	name, ok := names[tool]
	if strings.HasPrefix(tool, "mcp__") {
		return "", nil, false // it has another name there, from the server
	}
	return name, harness.WireInput("copilot-cli", tool, input), ok
}

func asText(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

func wires() []wire {
	hook := func(a map[string]any) string {
		h, _ := a["hookSpecificOutput"].(map[string]any)
		s, _ := h["permissionDecision"].(string)
		return s
	}
	flat := func(a map[string]any) string { s, _ := a["permissionDecision"].(string); return s }
	camel := func(args func(map[string]any) any) func(string, map[string]any) (map[string]any, bool) {
		return func(tool string, input map[string]any) (map[string]any, bool) {
			name, in, ok := copilotTool(tool, input)
			return map[string]any{"sessionId": "s", "timestamp": 1764000000000, "cwd": "/home/user/project", "toolName": name, "toolArgs": args(in)}, ok
		}
	}
	return []wire{
		{"claude-code", "claude-code", func(tool string, input map[string]any) (map[string]any, bool) {
			return map[string]any{"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/home/user/project", "permission_mode": "default",
				"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input, "tool_use_id": "toolu_1"}, true
		}, hook, false},
		{"copilot-cli, camelCase", "copilot-cli", camel(func(in map[string]any) any { return in }), flat, false},
		{"copilot-cli, arguments as text", "copilot-cli", camel(func(in map[string]any) any { return asText(in) }), flat, false},
		{"copilot-cli, PascalCase", "copilot-cli", func(tool string, input map[string]any) (map[string]any, bool) {
			name, in, ok := copilotTool(tool, input)
			if name == "powershell" {
				return nil, false // this format has one name for both shells
			}
			return map[string]any{"hook_event_name": "PreToolUse", "session_id": "s", "timestamp": "2026-11-20T10:00:00.000Z",
				"cwd": "/home/user/project", "tool_name": name, "tool_input": in}, ok
		}, nil, false},
		dialectWire("codex", hook, true, func(tool string, in map[string]any) map[string]any {
			return map[string]any{"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": in}
		}),
		dialectWire("gemini-cli", decision, false, func(tool string, in map[string]any) map[string]any {
			return map[string]any{"hook_event_name": "BeforeTool", "tool_name": tool, "tool_input": in}
		}),
		dialectWire("qwen-code", hook, false, func(tool string, in map[string]any) map[string]any {
			return map[string]any{"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": in}
		}),
		dialectWire("factory-droid", hook, false, func(tool string, in map[string]any) map[string]any {
			return map[string]any{"hook_event_name": "PreToolUse", "permission_mode": "off", "tool_name": tool, "tool_input": in}
		}),
		dialectWire("opencode", decision, true, func(tool string, in map[string]any) map[string]any {
			return map[string]any{"event": "tool.execute.before", "input": map[string]any{"tool": tool}, "output": map[string]any{"args": in}}
		}),
		dialectWire("pi", decision, false, func(tool string, in map[string]any) map[string]any {
			return map[string]any{"type": "tool_call", "hasUI": true, "toolName": tool, "toolCallId": "c", "input": in}
		}),
		dialectWire("cline", func(a map[string]any) string {
			if a["cancel"] == true {
				return "deny"
			}
			return ""
		}, true, func(tool string, in map[string]any) map[string]any {
			return map[string]any{"clineVersion": "", "workspaceRoots": []string{"/home/user/project"}, "hookName": "tool_call",
				"tool_call": map[string]any{"name": tool, "input": in}}
		}),
		dialectWire("vscode", hook, false, func(tool string, in map[string]any) map[string]any {
			return map[string]any{"hookEventName": "PreToolUse", "tool_name": tool, "tool_input": in}
		}),
		dialectWire("crush", decision, true, func(tool string, in map[string]any) map[string]any {
			return map[string]any{"event": "PreToolUse", "tool_name": tool, "tool_input": in}
		}),
	}
}

// decision returns the decision of an answer that has it at the top level.
func decision(a map[string]any) string { s, _ := a["decision"].(string); return s }

func dialectWire(name string, decided func(map[string]any) string, noAsk bool, message func(string, map[string]any) map[string]any) wire {
	return wire{name, name, func(tool string, input map[string]any) (map[string]any, bool) {
		word, in, ok := called(name, tool, input)
		m := message(word, in)
		if _, there := m["workspaceRoots"]; !there {
			m["cwd"] = "/home/user/project"
		}
		return m, ok
	}, decided, noAsk}
}

// TestEveryRuleFiresOnTheWire puts the firing examples of each rule into the messages of
// each harness that can carry them, and reads the answer as the harness does. A rule about
// fields that no harness sends fails here.
func TestEveryRuleFiresOnTheWire(t *testing.T) {
	adapters := []harness.Adapter{claudecode.Adapter{}, copilotcli.Adapter{}}
	for _, d := range dialect.All() {
		adapters = append(adapters, d)
	}
	env := func(string) string { return "" }
	fired := map[string]int{}
	for _, w := range wires() {
		t.Run(w.name, func(t *testing.T) {
			for _, r := range packs.Rules() {
				gate := &cardea.Gate{Placements: []cardea.Placement{{Decider: rules.New(rules.ListOf([]rules.Rule{r}), stand().Options), Potential: true}}}
				for _, test := range examples(t, r) {
					if test.Expect == "none" || test.Expect == "pass" {
						continue
					}
					var input map[string]any
					if err := json.Unmarshal([]byte(test.Input), &input); err != nil {
						t.Fatal(err)
					}
					msg, ok := w.message(test.Tool, input)
					if !ok {
						continue
					}
					m, err := harness.Hook{Harness: w.explicit, Env: env, Adapters: adapters}.Open([]byte(asText(msg)))
					if err != nil || m.Unread {
						t.Fatalf("%s: %v", r.ID, err)
					}
					analysed := analyse(m.Event.With(func(e *cardea.Event) {
						e.Project, e.Home, e.Role = "/home/user/project", "/home/user", test.Role
					}))
					v := gate.Decide(t.Context(), analysed)
					want := r.Effect
					if e, err := cardea.ParseEffect(test.Expect); err == nil {
						want = e // a potential effect is weaker than the rule
					}
					if v.Effect != want || v.By != "rules:"+r.ID {
						t.Errorf("%s says %s by %q about %s", r.ID, v.Effect, v.By, test.Input)
						continue
					}
					fired[r.ID]++
					if w.name == "crush" && want == cardea.Ask {
						continue // its own prompt is the question
					}
					var answer map[string]any
					a := m.Write(analysed, cardea.Express(v, m.Capabilities(), analysed))
					if err := json.Unmarshal(a.Stdout, &answer); err != nil {
						t.Errorf("%s: the answer is no object: %s %s", r.ID, a.Stdout, a.Stderr)
						continue
					}
					read := w.decided
					if read == nil {
						read = pascal
					}
					if w.noAsk && want == cardea.Ask {
						want = cardea.Deny
					}
					if got := read(answer); got != want.String() {
						t.Errorf("%s wants %s, and the harness reads %q: %s", r.ID, want, got, a.Stdout)
					}
				}
			}
		})
	}
	for _, r := range packs.Rules() {
		if fired[r.ID] < 3 {
			t.Errorf("%s fired on %d messages only", r.ID, fired[r.ID])
		}
	}
}

// pascal reads either format, as Copilot CLI does here.
func pascal(a map[string]any) string {
	if h, ok := a["hookSpecificOutput"].(map[string]any); ok {
		a = h
	}
	s, _ := a["permissionDecision"].(string)
	return s
}

// TestInsteadIsFree tests that no rule denies or asks about what a rule recommends.
func TestInsteadIsFree(t *testing.T) {
	d := rules.New(rules.ListOf(packs.Rules()), stand().Options)
	seen := 0
	for _, r := range packs.Rules() {
		if r.Instead == "" {
			continue
		}
		seen++
		if e, ops := verdict(t, d, r.Instead); e >= cardea.Ask {
			t.Errorf("%s recommends %q, about which %s says %s", r.ID, r.Instead, ops[0].Rule, e)
		}
	}
	if seen < 5 {
		t.Errorf("only %d rules have something better", seen)
	}
}

// TestNoDenialTeachesItsWayAround tests that no message names another program, file or
// spelling for the same effect.
func TestNoDenialTeachesItsWayAround(t *testing.T) {
	for _, r := range packs.Rules() {
		told := strings.ToLower(r.Message + " " + r.Context)
		for _, hint := range []string{
			"cardea.yaml",
			"override",
			"switch off",
			"rules: {",
			"off: [",
			"head instead",
			"another shell",
			"use python",
			"base64",
			"script file",
			"one by one",
			"into a file",
			"rename",
			"exempt",
			"dangerously",
		} {
			if strings.Contains(told, hint) {
				t.Errorf("%s tells %q: %s", r.ID, hint, r.Message)
			}
		}
	}
}

// TestGroups tests that Bouncer's seven groups and the later ones exist, with at least
// Bouncer's 48 rules. No rule allows: calls without a rule are left to the harness.
func TestGroups(t *testing.T) {
	var groups []string
	for _, r := range packs.Rules() {
		if !slices.Contains(groups, r.Pack) {
			groups = append(groups, r.Pack)
		}
		if r.Effect == cardea.Allow {
			t.Errorf("%s allows", r.ID)
		}
	}
	slices.Sort(groups)
	want := []string{"bash", "builtins", "git", "powershell", "production-risk", "secrets-exposure", "web"}
	want = append(want, "agents", "cloud", "containers", "databases", "exfiltration", "machine", "obfuscation", "persistence", "publishing")
	slices.Sort(want)
	if !slices.Equal(groups, want) {
		t.Errorf("the packs are %v, want %v", groups, want)
	}
	if n := len(packs.Rules()); n < 48 {
		t.Errorf("%d rules", n)
	}
}
