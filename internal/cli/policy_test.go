package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev/internal/testing/sharedtest"
)

const guardPolicy = `# METADATA
# scope: package
# title: Guard
# authors: [Me]
# custom:
#   routing:
#     required_events: ["*"]
package cardea.policies.guard

import rego.v1

halt contains {"rule_id": "H", "reason": "halted by a policy", "severity": "HIGH"} if input.cardea.settings.context[_] == "halt"

deny contains {"rule_id": "D", "reason": "denied by a policy", "severity": "HIGH"} if not input.cardea.settings.context[0]

add_context contains "context of a policy"
`

func (d *fixture) policy(name, text string) string {
	d.t.Helper()
	path := filepath.Join(d.home, ".config/cardea/policies", name)
	d.write(path, text)
	return path
}

// A policy for all events and tools runs on every real message of both harnesses.
func TestPoliciesOnRealMessages(t *testing.T) {
	for harness, words := range map[string]struct{ says []string }{
		"claude-code": {[]string{"denied by a policy"}},
		"copilot-cli": {[]string{"denied by a policy"}},
	} {
		files, err := filepath.Glob(filepath.Join(sharedtest.Path(t, "payloads", harness), "*.json"))
		if err != nil || len(files) < 10 {
			t.Fatalf("%d messages, %v", len(files), err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			d := newFixture(t)
			d.policy("guard.rego", guardPolicy)
			out, errs, code := d.run(string(raw), "check", "--harness", harness)
			all := out + errs
			if (code != exitOK && code != exitDeny) || !strings.Contains(all, words.says[0]) {
				t.Errorf("%s: exit %d, %s %s", filepath.Base(file), code, out, errs)
			}
			if out != "" && !json.Valid([]byte(out)) {
				t.Errorf("%s: no JSON: %s", filepath.Base(file), out)
			}
			d.settings("policies: {context: [halt]}\n")
			out, errs, _ = d.run(string(raw), "check", "--harness", harness)
			if harness == "claude-code" && !strings.Contains(out, `"continue":false`) || !strings.Contains(out+errs, "halted by a policy") {
				t.Errorf("%s: not halted: %s %s", filepath.Base(file), out, errs)
			}
		}
	}
}

func TestPolicyCommands(t *testing.T) {
	d := newFixture(t)
	if out, _, code := d.run("", "policy", "inspect"); code != exitOK || !strings.Contains(out, "there are no policies here") {
		t.Errorf("nothing: exit %d, %s", code, out)
	}
	for _, args := range [][]string{{"policy", "new", "first"}, {"policy", "new", "--user", "second"}} {
		if out, errs, code := d.run("", args...); code != exitOK || !strings.Contains(out, "wrote ") {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
	for _, args := range [][]string{{"policy", "new", "first"}, {"policy", "new", "No"}, {"policy", "new", "x_test"}, {"policy", "validate", "nowhere"},
		{"policy", "test", "nowhere"}, {"policy", "inspect", "nowhere"}, {"policy", "input", "--harness", "none", "x"}, {"try", "--trace", "none", "x"}} {
		if _, errs, code := d.run("", args...); code == exitOK || errs == "" {
			t.Errorf("%v: exit %d, %q", args, code, errs)
		}
	}
	for _, tt := range []struct {
		args []string
		want []string
		code int
	}{
		{[]string{"policy", "inspect"}, []string{"cardea.policies.first  first", "cardea.policies.second", "verbs: ask", "not trusted: it may deny and ask"}, exitOK},
		{[]string{"policy", "inspect", "--json"}, []string{`"package":"cardea.policies.first"`, `"trusted":false`, `"required_events":["PreToolUse"]`}, exitOK},
		{[]string{"policy", "validate"}, []string{"4 files, 0 errors, 2 warnings", "the reason is still to be written"}, exitOK},
		{[]string{"policy", "validate", "--json"}, []string{`"code":"decision"`}, exitOK},
		{[]string{"policy", "test"}, []string{"pass  cardea.policies.first_test.test_asked", "4 tests, 0 failed, 100 % of the lines evaluated"}, exitOK},
		{[]string{"policy", "test", "--coverage"}, []string{"100 %  "}, exitOK},
		{[]string{"policy", "test", "--json"}, []string{`"pass":true`, `"diagnostics":[]`}, exitOK},
		{[]string{"policy", "input", "--tool", "Glob", "{a,b}/*"}, []string{`"pattern": "{a,b}/*"`}, exitOK},
		{[]string{"policy", "input", "{ ls; }"}, []string{`"command": "{ ls; }"`}, exitOK},
		{[]string{"policy", "input", "git push -f"}, []string{`"tool_name": "Bash"`, `"name": "-f"`}, exitOK},
		{[]string{"policy", "input", "--event", "UserPromptSubmit", "hello"}, []string{`"prompt": "hello"`}, exitOK},
		{[]string{"policy", "input", "--event", "Stop", `{"stop_hook_active": true}`}, []string{`"stop_hook_active": true`}, exitOK},
		{[]string{"policy", "input", "--event", "Stop", `{}`}, []string{`"hook_event_name": "Stop"`}, exitOK},
		{[]string{"policy"}, []string{"validate"}, exitOK},
		{[]string{"list"}, []string{"cardea.policies.first"}, exitOK},
		{[]string{"lint"}, []string{"0 errors"}, exitOK},
		{[]string{"try", "--json", "rm migrations/1.sql"}, []string{`"decider":"policies","rule":"first"`, `"rule":"second"`}, exitOK},
	} {
		out, errs, code := d.run("", tt.args...)
		for _, want := range tt.want {
			if code != tt.code || !strings.Contains(out, want) {
				t.Errorf("%v: exit %d, no %q in %s%s", tt.args, code, want, out, errs)
			}
		}
	}
	_, errs, _ := d.run("", "try", "--trace", "policy,signals", "rm migrations/1.sql")
	if !strings.Contains(errs, "compile") || !strings.Contains(errs, "rule  cardea.policies.second.ask") {
		t.Errorf("trace: %s", errs)
	}
	// Mistakes and failed tests end with exit code 1.
	bad := d.policy("bad.rego", "package cardea.policies.bad\n\ndeny := 1\n")
	d.policy(
		"bad_test.rego",
		"package cardea.policies.bad_test\n\nimport rego.v1\n\ntest_no if {\n\tprint(\"see\")\n\tfalse\n}\n\ntodo_test_x if true\n\ntest_error if { {k: v | some k in [1, 1]; some v in [1, 2]} }\n",
	)
	for _, args := range [][]string{{"policy", "validate"}, {"policy", "validate", bad}, {"policy", "test"}, {"policy", "validate", "--json"}} {
		if out, _, code := d.run("", args...); code != exitError {
			t.Errorf("%v: exit %d, %s", args, code, out)
		}
	}
	out, _, _ := d.run("", "policy", "test")
	for _, want := range []string{"FAIL  cardea.policies.bad_test.test_no", "printed ", "todo  ", "object keys must be unique"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	d.policy("broken.rego", "package x\n\nboo(\n")
	out, _, code := d.run("", "policy", "test")
	if code != exitError || !strings.Contains(out, "broken.rego:4: error: ") {
		t.Errorf("broken: exit %d, %s", code, out)
	}
	if out, _, _ := d.run("", "policy", "inspect"); !strings.Contains(out, "broken: ") || !strings.Contains(out, "a library") {
		t.Errorf("inspect: %s", out)
	}
}

// The files of "policy new" parse and their tests pass, with every allowed name. Words with
// a meaning in Rego are refused.
func TestPolicyNewNames(t *testing.T) {
	d := newFixture(t)
	for _, name := range strings.Fields("if in as with not null true import package default else every some contains data input v1 call count d") {
		if _, errs, code := d.run("", "policy", "new", "--user", name); code != exitUsage || !strings.Contains(errs, "cannot name a policy") {
			t.Errorf("%s: exit %d, %s", name, code, errs)
		}
	}
	names := strings.Fields("rego json regex concat startswith kind path print walk set array object ask deny policies cardea future test access decision time")
	for _, name := range names {
		if _, errs, code := d.run("", "policy", "new", "--user", name); code != exitOK {
			t.Errorf("%s: exit %d, %s", name, code, errs)
		}
	}
	out, _, code := d.run("", "policy", "test")
	if code != exitOK || !strings.Contains(out, fmt.Sprintf("%d tests, 0 failed", 2*len(names))) {
		t.Errorf("exit %d, %s", code, out)
	}
	if out, _, code := d.run("", "policy", "validate"); code != exitOK || !strings.Contains(out, fmt.Sprintf("0 errors, %d warnings", len(names))) {
		t.Errorf("exit %d, %s", code, out)
	}
}

func TestImportCupcake(t *testing.T) {
	d := newFixture(t)
	from := filepath.Join(d.project, ".cupcake")
	if _, errs, code := d.run("", "import", "cupcake"); code != exitError || !strings.Contains(errs, "there is no folder") {
		t.Errorf("nothing: exit %d, %s", code, errs)
	}
	d.write(filepath.Join(from, "policies/claude/a.rego"), guardPolicy)
	d.write(filepath.Join(from, "policies/claude/builtins/git_pre_check.rego"), "package cupcake.policies.builtins.git_pre_check\n")
	d.write(filepath.Join(from, "policies/claude/system/s.rego"), "package cupcake.system\n")
	d.write(filepath.Join(from, "policies/opencode/c.rego"), "package cupcake.policies.c\n")
	d.write(filepath.Join(from, "policies/claude/broken.rego"), "package x\n\nboo(\n")
	d.write(filepath.Join(from, "policies/claude/notes.txt"), "x")
	d.write(filepath.Join(from, "signals/s.sh"), "echo 1\n")
	d.write(filepath.Join(from, "actions/a.sh"), "echo 1\n")
	d.write(filepath.Join(from, "rulebook.yml"), "signals: {a: {command: x}}\n")
	out, _, code := d.run("", "import", "cupcake")
	if _, err := os.Stat(filepath.Join(d.project, ".cardea")); code != exitError || err == nil || !strings.Contains(out, "would be written") {
		t.Errorf("without --write: exit %d, %s", code, out)
	}
	out, errs, code := d.sits("abc234\n", "import", "cupcake", from, "--write", "--accept-losses")
	for _, want := range []string{
		"policies/cupcake/a.rego",
		"left out",
		"gathers the verbs",
		"does not switch builtins.git_pre_check on",
		"it is broken",
		"it runs if actions in cardea.yaml name it",
		"a: {command: 'x', timeout_seconds: 5}",
	} {
		if code != exitOK || !strings.Contains(out+errs, want) {
			t.Errorf("exit %d, no %q in %s%s", code, want, out, errs)
		}
	}
	if out, _, _ := d.sits("abc234\n", "import", "cupcake", "--user", "--write", "--accept-losses"); !strings.Contains(out, d.home) {
		t.Errorf("for the person: %s", out)
	}
	if out, _, _ := d.run("", "import", "cupcake"); !strings.Contains(out, "is there already") {
		t.Errorf("again: %s", out)
	}
	d.write(filepath.Join(from, "rulebook.yml"), "signals: {a: {}}\nstrange: 1\n")
	if _, _, code := d.sits("abc234\n", "import", "cupcake", "--write", "--accept-losses"); code != exitError {
		t.Errorf("mistakes: exit %d", code)
	}
}

// A hook starts its actions with its own program after the answer is out.
func TestHookStartsActions(t *testing.T) {
	d := newFixture(t)
	d.settings("actions: {on_any_denial: [{command: x}], violations: {D: [{command: y, when: {tools: Read}}]}}\n")
	d.policy("guard.rego", guardPolicy)
	_, errs, code := d.run(d.call("PreToolUse", "default", "make"), "check", "--harness", "claude-code")
	if code != exitOK || !strings.Contains(errs, "start the action on_any_denial") || strings.Contains(errs, "violations") {
		t.Errorf("exit %d, %s", code, errs) // this process has no program to start
	}
	if _, errs, code := d.run("nothing", "perform-action"); code != exitError || !strings.Contains(errs, "read the action") {
		t.Errorf("exit %d, %s", code, errs)
	}
	if _, errs, code := d.run(`{"command":"true"}`, "perform-action"); code != exitOK {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// A tool with the harness's own name has the harness's own fields, in the input and in the
// message as sent.
func TestPolicyInputOfAHarness(t *testing.T) {
	d := newFixture(t)
	out, errs, code := d.run("", "policy", "input", "--harness", "copilot-cli", "--tool", "view", `{"path":"/a"}`)
	var in struct {
		Input map[string]string `json:"tool_input"`
		Tool  string            `json:"tool_name"`
		Raw   struct {
			Tool string            `json:"toolName"`
			Args map[string]string `json:"toolArgs"`
		} `json:"raw"`
	}
	if err := json.Unmarshal([]byte(out), &in); err != nil || code != exitOK || in.Tool != "Read" || in.Input["file_path"] != "/a" || in.Raw.Tool != "view" || in.Raw.Args["path"] != "/a" {
		t.Errorf("%v, exit %d, %s\n%s", err, code, errs, out)
	}
	d.rules("rules: [{id: own, tool: Read, match: {path: /a/**, access: read}, effect: deny, message: no}]")
	if out, _, _ := d.run("", "try", "--harness", "copilot-cli", "--tool", "view", `{"path":"/a/b"}`); !strings.HasPrefix(out, "deny") {
		t.Errorf("%s", out)
	}
}
