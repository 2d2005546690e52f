package copilotcli_test

import (
	"maps"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/conformance"
	"cardea.dev/internal/harness/copilotcli"
)

const (
	camelBash = `{"sessionId":"s","timestamp":1790019412087,"cwd":"/work/p","toolName":"bash","toolArgs":{"command":"npm test","description":"d"}}`
	camelEdit = `{"sessionId":"s","timestamp":1790019412087,"cwd":"/work/p","toolName":"edit",
		"toolArgs":{"path":"/work/p/a","old_str":"a","new_str":"b"}}`
	camelRequest = `{"sessionId":"s","timestamp":1790019412087,"cwd":"/work/p","hookName":"permissionRequest","toolName":"bash",
		"toolInput":{"command":"git push","description":"d"}}`
	camelAsk = `{"sessionId":"s","timestamp":1,"cwd":"/work/p","toolName":"ask_user","toolArgs":{}}`
	pascal   = `{"hook_event_name":"PreToolUse","session_id":"s","timestamp":"2026-09-21T14:03:32Z","cwd":"/work/p","tool_name":"Edit",
		"tool_input":{"path":"/work/p/a","old_str":"a","new_str":"b"}}`
	pascalRequest = `{"hook_event_name":"PermissionRequest","session_id":"s","timestamp":"2026-09-21T14:03:32Z","cwd":"/work/p",
		"tool_name":"Bash","tool_input":{"command":"git push","description":"d"}}`
)

func verdict(e cardea.Effect, reason string) cardea.Verdict {
	return cardea.Verdict{Effect: e, Reason: reason, Message: reason}
}

func expect(file string) (cardea.Kind, string) {
	kinds := map[string]cardea.Kind{
		"agentStop": "Stop", "errorOccurred": "ErrorOccurred", "notification": "Notification",
		"permissionRequest": "PermissionRequest", "postToolUse": "PostToolUse", "postToolUseFailure": "PostToolUseFailure",
		"preCompact": "PreCompact", "preToolUse": "PreToolUse", "sessionEnd": "SessionEnd", "sessionStart": "SessionStart",
		"subagentStart": "SubagentStart", "subagentStop": "SubagentStop", "userPromptSubmitted": "UserPromptSubmit",
		"userPromptTransformed": "UserPromptTransformed",
		"PreToolUse":            "PreToolUse", "PostToolUse": "PostToolUse", "UserPromptSubmit": "UserPromptSubmit",
	}
	tools := map[string]string{
		"bash": "Bash", "Bash": "Bash", "powershell": "PowerShell", "apply_patch": "apply_patch", "create": "Write",
		"edit": "Edit", "Edit": "Edit", "task": "Agent", "view": "Read", "web_fetch": "WebFetch",
	}
	parts := strings.Split(file, "-")
	if len(parts) < 3 {
		return kinds[parts[1]], ""
	}
	return kinds[parts[1]], tools[parts[2]]
}

func TestConformance(t *testing.T) {
	rewrite := verdict(cardea.Allow, "")
	rewrite.Rewrite = map[string]any{"command": "npm ci"}
	conformance.Run(t, conformance.Suite{
		Adapter:           copilotcli.Adapter{},
		Outcome:           conformance.ReadCopilot,
		PreToolUse:        []string{camelBash, camelEdit, pascal},
		PermissionRequest: []string{camelRequest, pascalRequest},
		AskPerson:         camelAsk,
		Inputs:            []string{"toolArgs", "toolInput", "tool_input"},
		Folder:            "copilot-cli",
		Expect:            expect,
		Replies: map[string]conformance.Reply{
			"preToolUse-allow":        {Message: camelBash, Verdict: verdict(cardea.Allow, "")},
			"preToolUse-ask":          {Message: camelBash, Verdict: verdict(cardea.Ask, "needs confirmation")},
			"preToolUse-deny":         {Message: camelBash, Verdict: verdict(cardea.Deny, "Blocked by policy r7")},
			"preToolUse-none":         {Message: camelBash, Verdict: verdict(cardea.Abstain, "")},
			"preToolUse-rewrite":      {Message: camelBash, Verdict: rewrite},
			"permissionRequest-allow": {Message: camelRequest, Verdict: verdict(cardea.Allow, "")},
			"permissionRequest-deny":  {Message: camelRequest, Verdict: verdict(cardea.Deny, "Blocked")},
		},
		Effects: map[string]conformance.Outcome{
			"permissionRequest-allow":        conformance.Runs,
			"permissionRequest-deny":         conformance.Blocked,
			"preToolUse-allow":               conformance.Runs,
			"preToolUse-ask":                 conformance.Prompts,
			"preToolUse-crash-exit1":         conformance.Blocked,
			"preToolUse-deny-exit2":          conformance.Blocked,
			"preToolUse-deny":                conformance.Blocked,
			"preToolUse-none":                conformance.OwnFlow,
			"preToolUse-progress-then-allow": conformance.Runs,
			"preToolUse-rewrite":             conformance.Runs,
			"preToolUse-two-objects":         conformance.OwnFlow,
		},
		Matrix: map[cardea.Kind]string{cardea.PreToolUse: "copilot-cli preToolUse command"},
	})
}

// render returns the answer to a verdict, by the way of the gate's last step.
func render(ev *cardea.Event, v cardea.Verdict) harness.Output {
	a := copilotcli.Adapter{}
	return a.Render(ev, cardea.Express(v, a.Capabilities(), ev))
}

func parse(t testing.TB, raw string) *cardea.Event {
	t.Helper()
	p, err := harness.Read([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return copilotcli.Adapter{}.Parse(p)
}

// args wraps arguments in a message of the camelCase form.
func args(tool, in string) string {
	return `{"sessionId":"s","timestamp":1,"cwd":"/work/p","toolName":"` + tool + `","toolArgs":` + in + `}`
}

func TestInputs(t *testing.T) {
	patch := `*** Begin Patch\n*** End Patch\n`
	pascalEdit := func(in string) string {
		return strings.Replace(pascal, `{"path":"/work/p/a","old_str":"a","new_str":"b"}`, in, 1)
	}
	cases := []struct {
		name, raw, tool string
		input           map[string]any
		defects         bool
	}{
		{"edit", camelEdit, "Edit", map[string]any{"file_path": "/work/p/a", "old_string": "a", "new_string": "b"}, false},
		{"PascalCase edit", pascal, "Edit", map[string]any{"file_path": "/work/p/a", "old_string": "a", "new_string": "b"}, false},
		{"create", args("create", `{"path":"/a","file_text":"x"}`), "Write", map[string]any{"file_path": "/a", "content": "x"}, false},
		{"grep keeps path", args("rg", `{"pattern":"x","path":"/a"}`), "Grep", map[string]any{"pattern": "x", "path": "/a"}, false},
		{"text", args("bash", `"{\"command\":\"ls\"}"`), "Bash", map[string]any{"command": "ls"}, false},
		{"text that is no object", args("bash", `"[1]"`), "Bash", map[string]any{"command": "[1]"}, true},
		{"text with a second key", args("bash", `"{\"command\":\"ls\",\"command\":\"rm\"}"`), "Bash", map[string]any{"command": "ls"}, true},
		{"text in text", args("bash", `"\"{}\""`), "Bash", map[string]any{"command": `"{}"`}, true},
		{"patch that is no object", pascalEdit(`"` + patch + `"`), "apply_patch", map[string]any{"input": strings.ReplaceAll(patch, `\n`, "\n")}, true},
		{"patch as Edit", pascalEdit(`{"input":"` + patch + `"}`), "apply_patch", map[string]any{"input": strings.ReplaceAll(patch, `\n`, "\n")}, false},
		{"patch under its other key", pascalEdit(`{"patch":"` + patch + `"}`), "apply_patch", map[string]any{"input": strings.ReplaceAll(patch, `\n`, "\n")}, false},
		{"unknown tool", args("Bash ", `{"command":"ls"}`), "Bash ", map[string]any{"command": "ls"}, false},
	}
	for _, c := range cases {
		ev := parse(t, c.raw)
		if ev.Call.Tool != c.tool || !maps.Equal(ev.Call.Input, c.input) || (len(ev.Faults) > 0) != c.defects {
			t.Errorf("%s: %s %v, faults %v", c.name, ev.Call.Tool, ev.Call.Input, ev.Faults)
		}
	}
}

func TestTwoPathsAreBothJudged(t *testing.T) {
	ev := parse(t, args("view", `{"file_path":"/tmp/x","path":"/etc/shadow","Path":"/c"}`))
	seen := append(ev.Call.Shadowed["file_path"], ev.Call.Input["file_path"])
	if len(seen) != 3 || len(ev.Faults) == 0 {
		t.Errorf("%v, faults %v", seen, ev.Faults)
	}
}

func TestWindowsShellIsPowerShell(t *testing.T) {
	raw := strings.Replace(pascalRequest, `"/work/p"`, `"C:\\proj"`, 1)
	if ev := parse(t, raw); ev.Call.Tool != "PowerShell" || ev.Cwd != `C:\proj` {
		t.Errorf("%+v", ev.Call)
	}
}

func TestShapes(t *testing.T) {
	for raw, kind := range map[string]cardea.Kind{
		args("bash", `{}`): "PreToolUse",
		`{"sessionId":"s","timestamp":1,"toolName":"bash","toolInput":{}}`:                   "PermissionRequest",
		`{"sessionId":"s","timestamp":1,"toolArgs":{}}`:                                      "PreToolUse",
		`{"sessionId":"s","timestamp":1,"toolName":"bash","toolArgs":{},"error":"x"}`:        "PostToolUseFailure",
		`{"sessionId":"s","timestamp":1,"hookName":"eventOfTomorrow"}`:                       "EventOfTomorrow",
		`{"sessionId":"s","timestamp":1}`:                                                    "",
		`{"sessionId":"s","timestamp":1,"hookName":"x","HookName":"preToolUse","tool_x":{}}`: "PreToolUse",
	} {
		if got := parse(t, raw).Kind; got != kind {
			t.Errorf("%s: %s", raw, got)
		}
	}
}

func TestRender(t *testing.T) {
	rewrite := map[string]any{"file_path": "/a", "old_string": "x", "new_string": "y"}
	cases := []struct {
		name, message  string
		verdict        cardea.Verdict
		stdout, stderr string
	}{
		{"rewrite in Copilot's names", pascal, cardea.Verdict{Effect: cardea.Ask, Message: "r", Rewrite: rewrite},
			`{"permissionDecision":"ask","permissionDecisionReason":"Cardea: r\nThe person can run: cardea explain last","modifiedArgs":{"new_str":"y","old_str":"x","path":"/a"}}`, ""},
		{"rewrite under unknown names", strings.Replace(pascal, `"path":"/work/p/a"`, `"input":"*** Begin Patch"`, 1),
			cardea.Verdict{Effect: cardea.Allow, Reason: "r", Message: "r", Rewrite: map[string]any{"input": "x"}},
			`{"permissionDecision":"ask","permissionDecisionReason":"Cardea: r\na yes runs the call as it was sent, not with input: \"x\"\nThe person can run: cardea explain last"}`, ""},
		{"context with a deny", camelBash, cardea.Verdict{Effect: cardea.Deny, Reason: "people", Message: "model", Instead: "x", Context: []string{"c"}},
			`{"permissionDecision":"deny","permissionDecisionReason":"Cardea: model\nInstead: x\nc\nThe person can run: cardea explain last"}`, ""},
		{"context with an allow", camelBash, cardea.Verdict{Effect: cardea.Allow, Context: []string{"c"}}, `{"permissionDecision":"allow"}`, ""},
		{"context alone", camelBash, cardea.Verdict{Context: []string{"c"}}, "", ""},
		{"trouble", camelBash, cardea.Verdict{Effect: cardea.Deny, Message: "m", Issues: cardea.Issues{cardea.Warning("", diagnostic.CodeIgnored, "", "t")}},
			`{"permissionDecision":"deny","permissionDecisionReason":"Cardea: m\nThe person can run: cardea explain last"}`, "Cardea: t\n"},
		{"halt", camelRequest, cardea.Verdict{Effect: cardea.Halt, Message: "m"}, `{"behavior":"deny","message":"Cardea: m\nThe person can run: cardea explain last","interrupt":true}`, ""},
		{"a rewrite is not granted", camelRequest, cardea.Verdict{Effect: cardea.Allow, Rewrite: map[string]any{"command": "x"}}, "",
			"Cardea: a yes runs the call as it was sent, not with command: \"x\"\n"},
	}
	for _, c := range cases {
		a := render(parse(t, c.message), c.verdict)
		if strings.TrimSuffix(string(a.Stdout), "\n") != c.stdout || string(a.Stderr) != c.stderr || a.Exit != 0 {
			t.Errorf("%s: exit %d %s%s\nwant %s", c.name, a.Exit, a.Stdout, a.Stderr, c.stdout)
		}
	}
	v := cardea.Verdict{Effect: cardea.Allow, Rewrite: map[string]any{"f": func() {}}}
	if a := render(parse(t, camelBash), v); a.Exit != 0 || !strings.Contains(string(a.Stdout), `"permissionDecision":"deny"`) {
		t.Errorf("unwritable: %+v", a)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{camelBash, camelEdit, camelRequest, camelAsk, pascal, pascalRequest, `{}`, args("bash", `"{\"command\":1}"`)} {
		f.Add([]byte(s), uint8(4))
	}
	f.Fuzz(func(t *testing.T, raw []byte, effect uint8) {
		p, err := harness.Read(raw)
		if err != nil {
			return
		}
		ev := copilotcli.Adapter{}.Parse(p)
		v := verdict(cardea.Effect(effect%6), "r")
		got := conformance.ReadCopilot(ev, render(ev, v))
		if v.Effect >= cardea.Deny && ev.Kind.Answered() && got < conformance.Blocked {
			t.Fatalf("%s is understood as %s", v.Effect, got)
		} else if v.Effect != cardea.Allow && got == conformance.Runs {
			t.Fatalf("%s runs", v.Effect)
		}
	})
}

// What each verb becomes on the events that are about no call still to run.
func TestNotifications(t *testing.T) {
	for _, tt := range []struct {
		kind           cardea.Kind
		effect         cardea.Effect
		stdout, stderr string
	}{
		{"PostToolUse", cardea.Deny, `{"additionalContext":"Cardea: x\nctx"}`, "Cardea: x"},
		{"PostToolUse", cardea.Abstain, `{"additionalContext":"Cardea: ctx"}`, ""},
		{"UserPromptSubmit", cardea.Abstain, `{"additionalContext":"Cardea: ctx"}`, ""},
		{"Stop", cardea.Deny, `{"decision":"block","reason":"Cardea: x\nThe person can run: cardea explain last"}`, ""},
		{"SubagentStop", cardea.Deny, `{"decision":"block","reason":"Cardea: x\nThe person can run: cardea explain last"}`, ""},
		{"Stop", cardea.Halt, "", "Cardea: x"},
		{"Stop", cardea.Abstain, "", ""},
		{"Notification", cardea.Ask, `{"additionalContext":"Cardea: ctx"}`, "Cardea: x"},
		{"SessionStart", cardea.Deny, "", "Cardea: x"},
		{"", cardea.Deny, "", ""},
	} {
		v := cardea.Verdict{Effect: tt.effect, Reason: "x", Message: "x", Context: []string{"ctx"}}
		a := render(&cardea.Event{Kind: tt.kind}, v)
		if got := strings.TrimSpace(string(a.Stdout)); got != tt.stdout || strings.TrimSpace(string(a.Stderr)) != tt.stderr || a.Exit != 0 {
			t.Errorf("%s at %s: %q, %q", tt.kind, tt.effect, got, a.Stderr)
		}
	}
}
