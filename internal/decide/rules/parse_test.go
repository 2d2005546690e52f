package rules_test

import (
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/call"
)

func TestParseProblems(t *testing.T) {
	for _, c := range []struct {
		text, want string
		left       int
		warning    bool
	}{
		{"rules: [{id: a, effect: deny, tool: X}, {effect: deny, tool: X}]", `f.yaml:1:41: "id" is missing`, 1, false},
		{"rules: [{id: a b, effect: deny, tool: X}]", `"a b" is no id`, 0, false},
		{"rules: [{id: a}]", "neither an effect nor advice", 0, false},
		{"rules: [{id: a, effect: dney, tool: X}]", `did you mean "deny"?`, 0, false},
		{"rules: [{id: a, effect: allow}]", "the rule allows everything", 0, false},
		{"rules: [{id: a, effect: allow, tool: '*'}]", "the rule allows everything", 0, false},
		{"rules: [{id: a, effect: allow, match: {opaque: true}}]", "cannot be allowed by rule", 0, false},
		{"rules: [{id: a, effect: allow, match: {any: [{flow: download-run}]}}]", "cannot be allowed by rule", 0, false},
		{"rules: [{id: a, effect: allow, tools: Bash, match: {command: x}}]", `unknown key "tools"`, 0, false},
		{"rules: [{id: a, effect: deny, mesage: x, match: {command: x}}]", `unknown key "mesage"; did you mean "message"?`, 0, false},
		{"rules: [{id: a, effect: deny, tol: Bash}]", `unknown key "tol"; did you mean "tool"?`, 0, false},
		{"rules: [{id: a, effect: deny, match: {comand: x}}]", `unknown key "comand"; did you mean "command"?`, 0, false},
		{"rules: [{id: a, effect: deny}]", "the rule is about every call", 1, true},
		{"rules: [{id: a, effect: deny, match: {}}]", "an empty match", 0, false},
		{"rules: [{id: a, effect: deny, match: {command: []}}]", "an empty condition", 0, false},
		{"rules: [{id: a, effect: deny, match: {command: ''}}]", "an empty condition", 0, false},
		{"rules: [{id: a, effect: deny, match: {any: []}}]", "any is empty", 0, false},
		{"rules: [{id: a, effect: deny, match: {opaque: false}}]", "opaque must be true", 0, false},
		{"rules: [{id: a, effect: deny, match: {pattern: ''}}]", "an empty expression", 0, false},
		{"rules: [{id: a, effect: deny, match: {pattern: 'a(?=b)'}}]", "f.yaml:1:48: the expression cannot be run: invalid or unsupported Perl syntax: `(?=`; RE2 has no lookahead", 0, false},
		{"rules: [{id: a, effect: deny, match: {args: '(a)\\1'}}]", "RE2 has no backreferences", 0, false},
		{"rules: [{id: a, effect: deny, match: {args: 'a{1001}'}}]", "at most 1000 times", 0, false},
		{"rules: [{id: a, effect: deny, match: {args: 'a**'}}]", "no possessive repeats", 0, false},
		{"rules: [{id: a, effect: deny, match: {args: '(?>a)'}}]", "does not know this group", 0, false},
		{"rules: [{id: a, effect: deny, match: {args: 'a)|(b'}}]", "check brackets", 0, false},
		{"rules: [{id: a, effect: deny, match: {path: '*.{a,b}'}}]", "globs have no braces", 0, false},
		{"rules: [{id: a, effect: deny, match: {path: '!x'}}]", "cannot be negated", 0, false},
		{"rules: [{id: a, effect: deny, match: {path: '~root/x'}}]", "homes of other users", 0, false},
		{"rules: [{id: a, effect: deny, match: {flags: [force]}}]", `"force" is no option`, 0, false},
		{"rules: [{id: a, effect: deny, match: {access: reed}}]", `did you mean "read"?`, 0, false},
		{"rules: [{id: a, effect: deny, match: {flow: x}}]", `unknown value "x"`, 0, false},
		{"rules: [{id: a, effect: deny, tool: X, person: true}]", "person has a meaning for effect: ask only", 1, true},
		{"rules: [{id: a, effect: deny, tool: X, rewrite: {b: c}}]", "a denied call is never rewritten", 1, true},
		{"rules: [{id: a, effect: deny, tool: X}, {id: a, effect: ask, tool: X}]", `id "a" is given twice, first in line 1; both rules stay`, 2, true},
		{"rules: [{id: a, effect: deny, tool: X, tests: [{expect: deny}]}]", "the test has no input", 0, false},
		{"rules: [{id: a, effect: deny, tool: X, tests: [{input: {}, expect: no}]}]", `unknown value "no"`, 0, false},
		{"rules: [{id: a, effect: deny, tool: X, tests: [{input: {}}]}]", `"expect" is missing`, 0, false},
		{"rules: [{id: a, effect: deny, tool: X, event: UserPromptSubmitt}]", `f.yaml:1:47: there is no event "UserPromptSubmitt", so the rule is not asked on it; write "UserPromptSubmit"`, 1, true},
		{"rules: [{id: a, effect: deny, tool: X, event: pretooluse}]", `write "PreToolUse"`, 1, true},
		{"rules: [{id: a, effect: deny, tool: X, event: [Stop, Sotp]}]", `f.yaml:1:54: there is no event "Sotp"`, 1, true},
		{"rules: [{id: a, effect: deny, tool: X, event: 'Post*'}]", `there is no event "Post*"`, 1, true},
		{"rules: [{id: a, effect: deny, tool: X, event: [{}]}]", `must be text, not a map`, 0, false},
		{"rules: [3]", "must be a map, not a number", 0, false},
		{"rules: {a: b}", "must be a list, not a map", 0, false},
		{"rulez: []", "the file has no rules", 0, false},
		{"version: 2\nrules: []", "out of range", 0, false},
		{"rules: [", "not valid YAML", 0, false},
	} {
		list, problems := rules.Parse("f.yaml", []byte(c.text), rules.Origin{Scope: cardea.ScopeUser, Tool: harness.ToolWord, Events: []string{"PreToolUse", "UserPromptSubmit", "Stop"}})
		var told []string
		for _, p := range problems {
			told = append(told, p.String())
		}
		if all := strings.Join(told, "\n"); !strings.Contains(all, c.want) {
			t.Errorf("%s: got %q, want %q", c.text, all, c.want)
		}
		if len(list) != c.left {
			t.Errorf("%s: %d rules are left, want %d", c.text, len(list), c.left)
		}
		if diagnostic.HasError(problems) == c.warning {
			t.Errorf("%s: warning is %v", c.text, !c.warning)
		}
	}
	if list, problems := rules.Parse("f.yaml", nil, rules.Origin{}); len(list)+len(problems) != 0 {
		t.Error("an empty file has no rules and no problems")
	}
}

func TestInlineTests(t *testing.T) {
	list := parse(t, `
rules:
  - id: deny-push
    tool: Bash
    match: {command: git push}
    effect: deny
    message: no pushing
    tests:
      - {input: {command: git push}, expect: deny, contains: pushing}
      - {input: {command: git pull}, expect: none}
      - {tool_name: Bash, tool_input: {command: git push}, expect: block}
      - {input: {tool_name: bash, tool_input: {command: git pull}}, expect: allow}
      - {tool: Bash, input: {command: git push}, expect: ask}          # wrong
      - {input: {command: git push}, expect: deny, contains: absent}   # wrong
      - {input: {command: git push}, expect: allow}                    # wrong
      - {input: {command: git push}, expect: none}                     # wrong
      - {input: {command: git pull}, expect: deny}                     # wrong
      - {input: {command: git pull}, expect: block}                    # wrong
  - id: allow-ls
    match: {command: ls}
    effect: allow
    tests:
      - {input: {command: ls}, expect: allow}
      - {input: {command: cat}, expect: allow}                         # wrong
  - id: fetch
    event: PermissionRequest
    match: {host: go.dev}
    effect: ask
    tests:
      - {input: {url: "https://go.dev"}, expect: ask}
      - {input: {url: "https://go.dev"}, event: PreToolUse, expect: none}
  - id: role
    match: {role: tester, path: a/x, access: write}
    effect: halt
    tests:
      - {input: {file_path: x, content: y}, role: tester, cwd: /home/user/project/a, expect: halt}
      - {input: {file_path: x, content: y}, role: tester, expect: none}
      - {input: {file_path: a/x, old_string: y}, expect: none}
`)
	known := func(name string) bool { _, ok := harness.Tool(name); return ok }
	results := rules.RunTests(list, rules.Stand{Options: rules.Options{Home: home}, Project: project, Known: known},
		func(ev *cardea.Event) *cardea.Event { return call.Analyse(ev, knowledge.System{Home: home}) })
	wrong := []int{13, 14, 15, 16, 17, 18, 24}
	if len(results) != 17 {
		t.Fatalf("%d results", len(results))
	}
	for _, r := range results {
		if (r.Problem != "") != slices.Contains(wrong, r.Test.Line) {
			t.Errorf("line %d of %s: got %s, problem %q", r.Test.Line, r.Rule, r.Got, r.Problem)
		}
	}
}
