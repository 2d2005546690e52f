package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/conformance"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/hook/gate"
	"cardea.dev/internal/testing/testrun"
)

// sender is a harness that sends messages to a hook, and a reader of the answers.
type sender struct {
	name, hook string
	kinds      []cardea.Kind
	// message returns a message about a shell command, or of an event without a call.
	message func(kind cardea.Kind, mode, cwd, command string) string
	read    func(*cardea.Event, harness.Output) conformance.Outcome
}

func senders() []sender {
	pascal := func(more string) func(cardea.Kind, string, string, string) string {
		return func(kind cardea.Kind, mode, cwd, command string) string {
			return fmt.Sprintf(`{"session_id":"s1","cwd":%s,"permission_mode":%s,"hook_event_name":%s,"tool_name":"Bash","tool_input":{"command":%s}%s}`,
				asJSON(cwd), asJSON(mode), asJSON(string(kind)), asJSON(command), more)
		}
	}
	as := func(name string) func(*cardea.Event, harness.Output) conformance.Outcome {
		return func(ev *cardea.Event, o harness.Output) conformance.Outcome {
			return conformance.ReadSender(name, ev, o)
		}
	}
	copilot := func(kind cardea.Kind, _, cwd, command string) string {
		fields := map[cardea.Kind]string{cardea.PreToolUse: `"toolArgs"`, cardea.PermissionRequest: `"hookName":"permissionRequest","toolInput"`,
			"Stop": `"hookName":"agentStop","stopReason":"end_turn","x"`}
		return fmt.Sprintf(`{"sessionId":"s1","timestamp":1,"cwd":%s,"toolName":"bash",%s:{"command":%s}}`, asJSON(cwd), fields[kind], asJSON(command))
	}
	both, more := []cardea.Kind{cardea.PreToolUse, cardea.PermissionRequest}, []cardea.Kind{cardea.PreToolUse, cardea.PermissionRequest, "Stop", "PostToolUse"}
	return []sender{
		{"claude-code", "claude-code", more, pascal(`,"transcript_path":"/t.jsonl"`), conformance.ReadClaudeCode},
		{"copilot-cli", "copilot-cli", more[:3], copilot, conformance.ReadCopilot},
		{"copilot-cli", "claude-code", both, copilot, as("copilot-cli")},
		{"cursor", "claude-code", both, pascal(`,"cursor_version":"3"`), as("cursor")},
		{"factory-droid", "claude-code", both[:1], func(kind cardea.Kind, _, cwd, command string) string {
			return pascal(`,"transcript_path":"/t.jsonl"`)(kind, "auto-low", cwd, command)
		}, as("factory-droid")},
		{"gemini-cli", "", both[:1], func(_ cardea.Kind, mode, cwd, command string) string {
			return strings.Replace(pascal("")("BeforeTool", mode, cwd, command), `"Bash"`, `"run_shell_command"`, 1)
		}, conformance.Reader("gemini-cli")},
		{"codex", "codex", both, pascal(`,"turn_id":"t","model":"m"`), conformance.Reader("codex")},
		{"cline", "cline", both[:1], func(_ cardea.Kind, _, cwd, command string) string {
			return fmt.Sprintf(`{"clineVersion":"","taskId":"s1","workspaceRoots":[%s],"hookName":"tool_call","tool_call":{"name":"run_commands","input":{"commands":[%s]}}}`,
				asJSON(cwd), asJSON(command))
		}, conformance.Reader("cline")},
		{"hermes-agent", "", both[:1], func(_ cardea.Kind, mode, cwd, command string) string {
			return strings.Replace(pascal("")("pre_tool_call", mode, cwd, command), `"Bash"`, `"terminal"`, 1)
		}, as("hermes-agent")},
	}
}

// The ledger records the answer that a reader of the harness gets, for each harness, event,
// mode, setting, opinion and call.
func TestTheLedgerRecordsWhatWasAnswered(t *testing.T) {
	n, run := 0, 0
	for _, attended := range []string{"abstain", "allow", "ask", "deny"} {
		for _, more := range []string{
			"",
			"on_error: deny\n",
			"on_error: allow\n",
			"permissions: {expand: true}\n",
			"nonsense: [\n",
		} {
			var d *fixture
			for _, s := range senders() {
				for _, kind := range s.kinds {
					for _, mode := range []string{"default", "acceptEdits", "bypassPermissions"} {
						for _, e := range append(cardea.Effects(), cardea.Effect(99)) {
							for _, command := range []string{"make", "echo x > .npmrc", "rm -rf ~", "$x", "ls"} {
								if n++; n%testrun.Pick(131, 17) > 0 {
									continue
								}
								if run++; d == nil {
									d = newFixture(t)
									d.settings(fmt.Sprintf("default: {attended: %s, unattended: %s}\n%s", attended, attended, more))
									d.write(d.home+"/.claude/settings.json", `{"permissions":{"allow":["Bash(make)"],"ask":["Bash(ls *)"]}}`)
								}
								d.checkRecorded(s, kind, mode, e, command)
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d of %d", run, n)
}

// checkRecorded compares the ledger's entry for a message with the sender's result, for a
// rule with an effect.
func (d *fixture) checkRecorded(s sender, kind cardea.Kind, mode string, e cardea.Effect, command string) {
	d.t.Helper()
	rule := ""
	if e <= cardea.Halt {
		rule = fmt.Sprintf(`rules: [{id: forced, tool: "*", event: "*", effect: %s, message: R, instead: other, match: {pattern: '(?s).*'}}]`, e)
	}
	d.rules(rule)
	before := len(d.entries())
	args := []string{"check"}
	if s.hook != "" {
		args = append(args, "--harness", s.hook)
	}
	raw := s.message(kind, mode, d.project, command)
	out, errs, code := d.run(raw, args...)
	oneObject(d.t, out, errs, code)
	m, err := harness.Hook{Harness: s.hook, Env: d.process(nil, nil, nil).Env, Adapters: hook.Adapters()}.Open([]byte(raw))
	if err != nil || m.Unread || m.Sender != s.name {
		d.t.Fatalf("%s is read as one of %q: %v", raw, m.Sender, err)
	}
	got := s.read(m.Event, harness.Output{Stdout: []byte(out), Stderr: []byte(errs), Exit: code})
	recorded := cardea.Abstain
	if all := d.stored(); len(all) > before {
		recorded, err = cardea.ParseEffect(all[before]["effect"].(string))
	} else if kind.Answered() {
		d.t.Errorf("%s of %s is not recorded", kind, s.name)
	}
	if err != nil || !conformance.Agrees(m.Event.Kind, recorded, got) {
		d.t.Errorf("%s of %s at the hook %q, mode %s, rule %s, %q: recorded as %s, read as %s: %s%s", kind, s.name, s.hook, mode, e, command, recorded, got, out, errs)
	}
}

// An allow that only a person may give becomes silence, and is recorded as silence.
func TestAllowsThatAPersonGivesAreRecordedAsSilence(t *testing.T) {
	d := newFixture(t)
	d.settings("default: {attended: allow}\nrules: {off: [executed-files]}")
	call := strings.Replace(d.call("PermissionRequest", "default", "x"), `"tool_name":"Bash","tool_input":{"command":"x"}`,
		`"tool_name":"Write","tool_input":{"file_path":`+asJSON(d.project+"/.npmrc")+`,"content":"x"}`, 1)
	out, errs, code := d.run(call, "check", "--harness", "claude-code")
	all := d.stored()
	if out != "" || code != exitOK || len(all) != 1 || all[0]["effect"] != "abstain" || all[0]["decided"] != "allow" || fmt.Sprint(all[0]["limits"]) != "[protected-path]" {
		t.Fatalf("exit %d, %q, %q, %v", code, out, errs, all)
	}
	shown, _, _ := d.run("", "explain", "-v", all[0]["id"].(string))
	if !strings.Contains(shown, "decided: allow") || !strings.Contains(shown, "limit: protected-path: the call may write to a protected path") {
		t.Errorf("explain: %s", shown)
	}
	args := []string{"--tool", "Write", "--event", "PermissionRequest", "--json", `{"file_path": ".npmrc", "content": "x"}`}
	if out, _, _ := d.run("", append([]string{"try"}, args...)...); !strings.Contains(out, `"effect":"allow"`) || !strings.Contains(out, `"answer":{"effect":"abstain","limits":["protected-path"]}`) {
		t.Errorf("try --json: %s", out)
	}
	args = append(args[:4:4], args[5])
	if out, _, _ := d.run("", append([]string{"try", "-v"}, args...)...); !strings.Contains(out, "left to Claude Code instead of allow\n  protected-path: ") {
		t.Errorf("try: %s", out)
	}
}

// No analysis, decider, last gate step or renderer changes an event that other code may hold.
func TestEventsStayAsTheyAre(t *testing.T) {
	d := newFixture(t)
	d.settings("permissions: {expand: true}")
	d.write(d.home+"/.claude/settings.json", `{"permissions":{"allow":["Bash(npm *)"],"deny":["Read(secrets/**)"]}}`)
	d.rules(`rules: [{id: to, tool: Bash, match: {command: make}, effect: ask, rewrite: {command: make all}}]`)
	rewrites := false
	for _, command := range []string{
		"make",
		"cd web && FOO=1 timeout 5 npm test > out.log; rm -rf build | tee .npmrc",
		"$x; eval y",
		"cat secrets/a",
		"git push -f",
	} {
		for _, kind := range []string{"PreToolUse", "PermissionRequest", "PostToolUse"} {
			p := d.process(nil, nil, nil)
			m, err := harness.Hook{Harness: "claude-code", Env: p.Env, Adapters: hook.Adapters()}.Open([]byte(d.call(kind, "default", command)))
			if err != nil {
				t.Fatal(err)
			}
			came := shapeOf(m.Event)
			j := newEvaluation(p, m.Event)
			placed, event := shapeOf(j.Event), j.Event
			j.Analyse()
			analysed := shapeOf(j.Event)
			v := gate.Build(j.Loaded, gate.SessionFacts{}, j.Analysis(), nil).Decide(context.Background(), j.Event)
			rewrites = rewrites || v.Rewrite != nil
			m.Write(j.Event, cardea.Express(v, m.Capabilities(), j.Event))
			if shapeOf(m.Event) != came || shapeOf(event) != placed || shapeOf(j.Event) != analysed {
				t.Errorf("%s of %q: an event was changed", kind, command)
			}
		}
	}
	if !rewrites {
		t.Error("no input was rewritten")
	}
}

// shapeOf returns an event with all its fields as text.
func shapeOf(ev *cardea.Event) string { return fmt.Sprintf("%+v %+v", *ev, *ev.Call) }
