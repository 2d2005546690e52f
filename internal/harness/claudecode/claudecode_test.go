package claudecode_test

import (
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/harness/conformance"
)

const (
	bash = `{"session_id":"abc","prompt_id":"p","transcript_path":"/h/t.jsonl","cwd":"/work/p","permission_mode":"default",
		"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"npm test","description":"d","timeout":5,
		"run_in_background":false},"tool_use_id":"toolu_1"}`
	subagentEdit = `{"session_id":"abc","transcript_path":"/h/t.jsonl","cwd":"/work/p","permission_mode":"acceptEdits",
		"hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"/work/p/a","old_string":"a","new_string":"b",
		"replace_all":false},"tool_use_id":"toolu_1","agent_id":"agent-1","agent_type":"Explore"}`
	request = `{"session_id":"abc","transcript_path":"/h/t.jsonl","cwd":"/work/p","permission_mode":"default",
		"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"npm test","description":"d"},
		"permission_suggestions":[]}`
	skill = `{"session_id":"abc","transcript_path":"/h/t.jsonl","cwd":"/work/p","permission_mode":"default","effort":{"level":"high"},
		"hook_event_name":"PreSkillShellCommand","tool_name":"Bash","tool_input":{"command":"git log -3"},"tool_use_id":"x:preamble-0",
		"command_name":"review","command_source":"userSettings","invoked_by":"user"}`
	question = `{"session_id":"abc","transcript_path":"/h/t.jsonl","cwd":"/work/p","hook_event_name":"PreToolUse",
		"tool_name":"AskUserQuestion","tool_input":{"questions":[]},"tool_use_id":"toolu_1"}`
)

func verdict(e cardea.Effect, reason string) cardea.Verdict {
	return cardea.Verdict{Effect: e, Reason: reason, Message: reason}
}

// expect reads kind and tool from the name of a golden payload.
func expect(file string) (cardea.Kind, string) {
	kind, rest, _ := strings.Cut(file, "-")
	tool, _, _ := strings.Cut(rest, "-")
	switch kind {
	case "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied", "PreSkillShellCommand":
	default:
		return cardea.Kind(kind), ""
	}
	switch rest {
	case "mcp-github-create_issue":
		tool = "mcp__github__create_issue"
	case "mcp-plugin":
		tool = "mcp__plugin_my-plugin_db__query"
	case "Task-legacy":
		tool = "Agent"
	}
	return cardea.Kind(kind), tool
}

func TestConformance(t *testing.T) {
	rewrite := verdict(cardea.Allow, "")
	rewrite.Rewrite = map[string]any{"command": "npm run lint"}
	context := verdict(cardea.Abstain, "")
	context.Context = []string{"This repo uses bun test"}
	asked := verdict(cardea.Ask, "rewritten")
	asked.Rewrite = map[string]any{"command": "npm ci"}
	conformance.Run(t, conformance.Suite{
		Adapter:              claudecode.Adapter{},
		Outcome:              conformance.ReadClaudeCode,
		PreToolUse:           []string{bash, subagentEdit},
		PermissionRequest:    []string{request},
		PreSkillShellCommand: []string{skill},
		AskPerson:            question,
		Inputs:               []string{"tool_input"},
		Folder:               "claude-code",
		Expect:               expect,
		Replies: map[string]conformance.Reply{
			"PreToolUse-allow":            {Message: bash, Verdict: verdict(cardea.Allow, "matches policy r1")},
			"PreToolUse-ask":              {Message: bash, Verdict: verdict(cardea.Ask, "policy requires confirmation")},
			"PreToolUse-deny":             {Message: bash, Verdict: verdict(cardea.Deny, "Database writes are not allowed")},
			"PreToolUse-none":             {Message: bash, Verdict: verdict(cardea.Abstain, "")},
			"PreToolUse-context-only":     {Message: bash, Verdict: context},
			"PreToolUse-ask-updatedInput": {Message: bash, Verdict: asked},
			"PermissionRequest-allow":     {Message: request, Verdict: rewrite},
			"PermissionRequest-deny":      {Message: request, Verdict: verdict(cardea.Deny, "Blocked by policy")},
		},
		Effects: map[string]conformance.Outcome{
			"PermissionRequest-allow-remember": conformance.Runs,
			"PermissionRequest-allow":          conformance.Runs,
			"PermissionRequest-deny":           conformance.Blocked,
			"PermissionRequest-exit2":          conformance.OwnFlow,
			"PreToolUse-allow-updatedInput":    conformance.Runs,
			"PreToolUse-allow":                 conformance.Runs,
			"PreToolUse-ask-updatedInput":      conformance.Prompts,
			"PreToolUse-ask":                   conformance.Prompts,
			"PreToolUse-context-only":          conformance.OwnFlow,
			"PreToolUse-continue-false":        conformance.Stopped,
			"PreToolUse-deny-exit2":            conformance.Blocked,
			"PreToolUse-deny":                  conformance.Blocked,
			"PreToolUse-deprecated-approve":    conformance.Runs,
			"PreToolUse-deprecated-block":      conformance.Blocked,
			"PreToolUse-exit1-plain":           conformance.OwnFlow,
			"PreToolUse-exit1-with-deny-json":  conformance.Blocked,
			"PreToolUse-exit2-with-allow-json": conformance.Blocked,
			"PreToolUse-invalid-json":          conformance.OwnFlow,
			"PreToolUse-missing-hookEventName": conformance.OwnFlow,
			"PreToolUse-none-emptyobj":         conformance.OwnFlow,
			"PreToolUse-none":                  conformance.OwnFlow,
			"PreToolUse-two-json-lines":        conformance.OwnFlow,
		},
		Matrix: map[cardea.Kind]string{
			cardea.PreToolUse:        "claude-code (default)",
			cardea.PermissionRequest: "claude-code PermissionRequest",
		},
	})
}

// render returns the answer to a verdict, by the way of the gate's last step.
func render(ev *cardea.Event, v cardea.Verdict) harness.Output {
	a := claudecode.Adapter{}
	return a.Render(ev, cardea.Express(v, a.Capabilities(), ev))
}

func parse(t testing.TB, raw string) *cardea.Event {
	t.Helper()
	p, err := harness.Read([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return claudecode.Adapter{}.Parse(p)
}

func TestParse(t *testing.T) {
	ev := parse(t, subagentEdit)
	if ev.Session != "abc" || ev.Agent != "agent-1" || ev.AgentType != "Explore" || ev.Cwd != "/work/p" ||
		ev.Mode != cardea.ModeAcceptEdits || ev.Project != "" || ev.Wire != "PreToolUse" {
		t.Errorf("event %+v", ev)
	}
	if c := ev.Call; c.Tool != "Edit" || !c.Known || !c.EditsFiles || c.Input["old_string"] != "a" || ev.Attended() {
		t.Errorf("call %+v", c)
	}
	if ev := parse(t, strings.Replace(bash, `"tool_name":"Bash"`, `"tool_name":"Task"`, 1)); ev.Call.Tool != "Agent" || ev.Call.Name != "Task" {
		t.Errorf("alias %+v", ev.Call)
	}
	if ev := parse(t, strings.Replace(bash, `"tool_name":"Bash"`, `"tool_name":"mcp__bash__run"`, 1)); ev.Call.Known {
		t.Error("an MCP tool is known")
	}
	if ev := parse(t, strings.Replace(bash, "PreToolUse", "EventOfTomorrow", 1)); ev.Kind.Answered() || len(ev.Faults) > 0 {
		t.Errorf("an unknown event %+v", ev)
	}
}

// Effects that hold nothing back leave every other event alone.
func TestEventsThatPass(t *testing.T) {
	for _, kind := range []string{"SessionStart", "Setup", "UserPromptSubmit", "UserPromptExpansion", "PermissionDenied",
		"PostToolUse", "PostToolUseFailure", "PostToolBatch", "Notification", "MessageDisplay", "SubagentStart", "SubagentStop",
		"TaskCreated", "TaskCompleted", "Stop", "StopFailure", "TeammateIdle", "InstructionsLoaded", "ConfigChange", "CwdChanged",
		"FileChanged", "DirectoryAdded", "WorktreeCreate", "WorktreeRemove", "PreCompact", "PostCompact", "PreModelSwitch",
		"PostModelSwitch", "Elicitation", "ElicitationResult", "SessionEnd"} {
		ev := parse(t, strings.Replace(bash, "PreToolUse", kind, 1))
		for _, e := range []cardea.Effect{cardea.Abstain, cardea.Allow, cardea.Defer} {
			a := render(ev, verdict(e, "x"))
			if string(ev.Kind) != kind || len(a.Stdout)+len(a.Stderr)+a.Exit != 0 {
				t.Errorf("%s at %s: %+v", kind, e, a)
			}
		}
	}
}

// What each verb becomes on the events that are about no call still to run.
func TestNotifications(t *testing.T) {
	const none = "none"
	for _, tt := range []struct {
		kind   string
		effect cardea.Effect
		want   string
	}{
		{
			"UserPromptSubmit",
			cardea.Deny,
			`{"decision":"block","reason":"Cardea: x (r)","systemMessage":"Cardea: To see why and what you can do, run: cardea explain last",` +
				`"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"Cardea: ctx"}}`,
		},
		{
			"UserPromptSubmit",
			cardea.Halt,
			`{"continue":false,"stopReason":"Cardea: x (r)","decision":"block","reason":"Cardea: x (r)","systemMessage":"Cardea: To see why and what you can do, run: ` +
				`cardea explain last","hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"Cardea: ctx"}}`,
		},
		{"UserPromptSubmit", cardea.Ask, `{"systemMessage":"Cardea: x (r)","hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"Cardea: ctx"}}`},
		{"UserPromptSubmit", cardea.Abstain, `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"Cardea: ctx"}}`},
		{
			"PostToolUse",
			cardea.Deny,
			`{"decision":"block","reason":"Cardea: x (r)","systemMessage":"Cardea: To see why and what you can do, run: cardea explain ` +
				`last","hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"Cardea: ctx"}}`,
		},
		{"PostToolUseFailure", cardea.Deny, `{"systemMessage":"Cardea: x (r)","hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"Cardea: x\nctx\n(r)"}}`},
		{"SessionStart", cardea.Deny, `{"systemMessage":"Cardea: x (r)","hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"Cardea: x\nctx\n(r)"}}`},
		{
			"Stop",
			cardea.Deny,
			`{"decision":"block","reason":"Cardea: x (r)","systemMessage":"Cardea: To see why and what you can do, run: cardea explain ` +
				`last","hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"Cardea: ctx"}}`,
		},
		{
			"SubagentStop",
			cardea.Halt,
			`{"continue":false,"stopReason":"Cardea: x (r)","decision":"block","reason":"Cardea: x (r)","systemMessage":"Cardea: To see why and what you can do, ` +
				`run: cardea explain last","hookSpecificOutput":{"hookEventName":"SubagentStop","additionalContext":"Cardea: ctx"}}`,
		},
		{"SubagentStart", cardea.Abstain, `{"hookSpecificOutput":{"hookEventName":"SubagentStart","additionalContext":"Cardea: ctx"}}`},
		{"PreCompact", cardea.Deny, `{"decision":"block","reason":"Cardea: x (r)","systemMessage":"Cardea: To see why and what you can do, run: cardea explain last"}`},
		{"Notification", cardea.Deny, none},
		{"SessionEnd", cardea.Halt, `{"continue":false,"stopReason":"Cardea: x (r)","systemMessage":"Cardea: To see why and what you can do, run: cardea explain last"}`},
		{"SessionEnd", cardea.Abstain, none},
		{"", cardea.Halt, none},
	} {
		v := verdict(tt.effect, "x")
		v.By, v.Context = "rules:r", []string{"ctx"}
		a := render(&cardea.Event{Kind: cardea.Kind(tt.kind)}, v)
		got := strings.TrimSpace(string(a.Stdout))
		if got == "" {
			got = none
		}
		if got != tt.want || a.Exit != 0 {
			t.Errorf("%s at %s: %s, want %s", tt.kind, tt.effect, got, tt.want)
		}
	}
	for _, kind := range []cardea.Kind{"TaskCompleted", "TeammateIdle"} {
		v := verdict(cardea.Deny, "x")
		v.By = "rules:r"
		if a := render(&cardea.Event{Kind: kind}, v); a.Exit != 2 || string(a.Stderr) != "Cardea: x\nThe person can run: cardea explain last\n(r)\n" || len(a.Stdout) > 0 {
			t.Errorf("%s: %+v", kind, a)
		}
	}
}

func TestRender(t *testing.T) {
	cases := []struct {
		name, message string
		verdict       cardea.Verdict
		want          string
	}{
		{"halt", bash, cardea.Verdict{Effect: cardea.Halt, Reason: "people <&>", Message: "model"},
			`{"continue":false,"stopReason":"Cardea: people <&>","systemMessage":"Cardea: To see why and what you can do, run: cardea explain last",` +
				`"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Cardea: model"}}`,
		},
		{"deny with a better way", bash, cardea.Verdict{Effect: cardea.Deny, By: "readonly", Message: "no force", Instead: "git push --force-with-lease", Context: []string{"c"}},
			`{"systemMessage":"Cardea: To see why and what you can do, run: cardea explain last","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",` +
				`"permissionDecisionReason":"Cardea: no force\nInstead: git push --force-with-lease\n(readonly)","additionalContext":"Cardea: c"}}`},
		{"ask with a better way", bash, cardea.Verdict{Effect: cardea.Ask, Reason: "people", Message: "model", Instead: "x", Context: []string{"c"}},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"Cardea: people\nInstead: ` +
				`x\nTo see why and what you can do, run: cardea explain last","additionalContext":"Cardea: c"}}`,
		},
		{
			"ask without a person",
			strings.Replace(bash, `"default"`, `"bypassPermissions"`, 1),
			cardea.Verdict{Effect: cardea.Ask, By: "rules:a/b", Reason: "people", Message: "Cardea has a reason", Instead: "x"},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"Cardea has a reason\nInstead: x\nThe person can run: cardea explain last\n(a/b)"}}`},
		{"trouble alone", bash, cardea.Verdict{Issues: cardea.Issues{cardea.Warning("", diagnostic.CodeIgnored, "", "a"), cardea.Warning("", diagnostic.CodeIgnored, "", "b")}},
			`{"systemMessage":"Cardea: a\nb"}`},
		{"deny without a word", bash, cardea.Verdict{Effect: cardea.Deny, By: "rules:r", Reason: "withheld"},
			`{"systemMessage":"Cardea: To see why and what you can do, run: cardea explain last",` +
				`"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Cardea: the answer is deny (r)"}}`,
		},
		{"allowed question with context", question, cardea.Verdict{Effect: cardea.Allow, Context: []string{"c"}},
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"Cardea: c"}}`},
		{"request halted", request, cardea.Verdict{Effect: cardea.Halt, Reason: "people", Message: "model", Context: []string{"c"}},
			`{"continue":false,"stopReason":"Cardea: people","hookSpecificOutput":{"hookEventName":"PermissionRequest",` +
				`"decision":{"behavior":"deny","message":"Cardea: model\nc\nThe person can run: cardea explain last","interrupt":true}}}`,
		},
		{"request with trouble", request, cardea.Verdict{Effect: cardea.Ask, Issues: cardea.Issues{cardea.Warning("", diagnostic.CodeIgnored, "", "a")}},
			`{"systemMessage":"Cardea: a"}`},
	}
	for _, c := range cases {
		a := render(parse(t, c.message), c.verdict)
		if string(a.Stdout) != c.want+"\n" || a.Exit != 0 || len(a.Stderr) > 0 {
			t.Errorf("%s: exit %d %s\nwant %s", c.name, a.Exit, a.Stdout, c.want)
		}
	}
}

func TestRenderUnwritable(t *testing.T) {
	v := cardea.Verdict{Effect: cardea.Allow, Rewrite: map[string]any{"f": func() {}}}
	if a := render(parse(t, bash), v); a.Exit != 0 || !strings.Contains(string(a.Stdout), `"permissionDecision":"deny"`) {
		t.Errorf("PreToolUse: %+v", a)
	}
	if a := render(parse(t, request), v); a.Exit != 0 || !strings.Contains(string(a.Stdout), `"behavior":"deny"`) {
		t.Errorf("PermissionRequest: %+v", a)
	}
}

func TestUnsandboxed(t *testing.T) {
	for in, want := range map[string]bool{
		`{"command":"x"}`: false, `{"command":"x","dangerouslyDisableSandbox":false}`: false,
		`{"command":"x","dangerouslyDisableSandbox":true}`:                                   true,
		`{"command":"x","dangerouslyDisableSandbox":"true"}`:                                 true,
		`{"command":"x","dangerouslyDisableSandbox":false,"dangerouslyDisableSandbox":true}`: true,
		`{"command":"x","DangerouslyDisableSandbox":true}`:                                   true,
	} {
		raw := `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":` + in + `}`
		if got := parse(t, raw).Call.Unsandboxed; got != want {
			t.Errorf("%s: %v", in, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{bash, subagentEdit, request, question, `{}`, `{"hook_event_name":"PreToolUse","tool_input":[]}`} {
		f.Add([]byte(s), uint8(1))
	}
	f.Fuzz(func(t *testing.T, raw []byte, effect uint8) {
		p, err := harness.Read(raw)
		if err != nil {
			return
		}
		ev := claudecode.Adapter{}.Parse(p)
		v := verdict(cardea.Effect(effect%6), "r")
		out := render(ev, v)
		if len(out.Stdout) > 0 {
			if _, err := harness.Read(out.Stdout); err != nil {
				t.Fatal(err)
			}
		}
		if got := conformance.ReadClaudeCode(ev, out); v.Effect >= cardea.Deny && ev.Kind.Answered() && got < conformance.Blocked {
			t.Fatalf("%s is understood as %s", v.Effect, got)
		} else if v.Effect != cardea.Allow && got == conformance.Runs {
			t.Fatalf("%s runs", v.Effect)
		}
	})
}
