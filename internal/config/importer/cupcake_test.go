package importer_test

import (
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/config/importer"
)

func cupcake(text string) importer.Imported {
	return importer.Cupcake("rulebook.yml", []byte(text), importer.CupcakeOptions{Moved: func(c string) string { return c }})
}

func TestCupcakeSettings(t *testing.T) {
	got := cupcake(`version: "1"
signals:
  text: whoami
  map: {command: "it's", timeout_seconds: 2}
actions:
  on_any_denial: [{command: a}, b]
  by_rule_id: {R: [{command: d}]}
builtins:
  git_pre_check: {enabled: true, checks: [npm test, 'npm start &']}
  protected_paths: {enabled: true, paths: [/etc/, src/legacy/], message: leave it}
  claude_code_always_inject_on_prompt: {enabled: true, context: [a b, {content: c}]}
  claude_code_enforce_full_file_read: {enabled: true, max_lines: 10}
  sensitive_data_protection: {enabled: true}
  global_file_lock: {enabled: true}
  system_protection: {enabled: false}
  rulebook_security_guardrails: {protected_paths: [x/]}
  odd: true
watchdog: {enabled: true}
`)
	want := `signals:
  map: {command: 'it''s', timeout_seconds: 2}
  text: {command: 'whoami', timeout_seconds: 5}
actions:
  violations:
    R:
      - {command: 'd'}
  on_any_denial:
    - {command: 'a'}
    - {command: 'b'}
policies:
  context:
    - 'a b'
    - 'c'
  protected:
    - '/etc/'
    - 'src/legacy/'
  checks:
    - 'npm test'
    - 'npm start &'
packs:
  full-reads: on
`
	if text := settingsOf(t, got); text != want {
		t.Errorf("settings:\n%s", text)
	}
	table := tableOf(got)
	for _, says := range []string{
		"the pack secrets-exposure",
		"global_file_lock: left out: lost true",
		"watchdog: left out: lost true: no model looks at calls, since the judge is off",
		"must have succeeded since the last change",
		`the check "npm start &" can never hold: its last command runs in the background`,
		"system_protection: left out: lost false: it was off",
		"rulebook_security_guardrails: left out: lost false: it was off, since Cupcake wants enabled: true",
		"odd: left out: lost false",
	} {
		if !strings.Contains(table, says) {
			t.Errorf("no %q in\n%s", says, table)
		}
	}
	if broken := cupcake("signals: {a: {}}\nx: ["); !diagnostic.HasError(broken.Problems) {
		t.Error("a broken file is not told")
	}
}

// TestCupcakeNull reads keys with only comments below them, as init writes them.
func TestCupcakeNull(t *testing.T) {
	for _, text := range []string{
		"signals:\n  # a: b\nbuiltins:\n  # x:\n", "signals: {}\nactions:\nwatchdog:\nversion:\n", "signals: ~\nactions: {on_any_denial: , by_rule_id: null}\nbuiltins: null\n",
		"signals: {a: }\nactions: {on_ask: [null], violations: {R: }}\n", "builtins:\n  git_pre_check:\n  post_edit_check: ~\n", "# nothing\n",
		"builtins: {git_pre_check: {enabled: true, checks: , operations: , message: }, post_edit_check: {enabled: true, by_extension: {rs: }}, rulebook_security_guardrails: {enabled: }}\n",
	} {
		got := cupcake(text)
		if len(got.Problems) > 0 {
			t.Errorf("%q: %v", text, got.Problems)
		}
		for _, r := range got.Table {
			if r.Lost() {
				t.Errorf("%q: %s: %s", text, r.What, r.How)
			}
		}
	}
	with, without := cupcake("signals:\nbuiltins: {system_protection: {enabled: true, message: }}\n"), cupcake("builtins: {system_protection: {enabled: true}}\n")
	if rulesOf(with) != rulesOf(without) || len(with.Files) != 1 {
		t.Errorf("%s\nis not\n%s", rulesOf(with), rulesOf(without))
	}
	if broken := cupcake("signals: text\n"); !diagnostic.HasError(broken.Problems) {
		t.Error("a text is taken for a map")
	}
}

// TestBuiltinVerbs checks that BuiltinVerbs knows exactly the builtins that the import
// translates.
func TestBuiltinVerbs(t *testing.T) {
	names := strings.Fields(`protected_paths rulebook_security_guardrails git_block_no_verify git_pre_check post_edit_check system_protection
		sensitive_data_protection cupcake_exec_protection enforce_full_file_read always_inject_on_prompt my_own`)
	for _, name := range names {
		known := !strings.Contains(tableOf(cupcake("builtins: {"+name+": {enabled: true}}")), "does not know it")
		if verbs, _ := importer.BuiltinVerbs(name); known != (verbs != nil) {
			t.Errorf("%s: known %v, verbs %v", name, known, verbs)
		}
	}
}

// TestCupcakeRules checks that imported builtins deny with the user's own message.
func TestCupcakeRules(t *testing.T) {
	got := cupcake(`builtins:
  protected_paths: {enabled: true, paths: ["/etc/", "src/legacy/", "*.lock"], message: it's legacy}
  rulebook_security_guardrails: {enabled: true, message: hands off}
  git_block_no_verify: {enabled: true, message: hooks run, exceptions: [x]}
  sensitive_data_protection: {enabled: true, additional_patterns: [".vault", "customers/"], message: secret}
  system_protection: {enabled: true, additional_paths: ["/srv/db/"]}
  cupcake_exec_protection: {enabled: true}
`)
	d := decider(t, got)
	for _, c := range []struct {
		tool  string
		input map[string]any
		want  cardea.Effect
	}{
		{"Write", map[string]any{"file_path": "/home/user/p/src/legacy/a.c", "content": "x"}, cardea.Deny},
		{"Write", map[string]any{"file_path": "/home/user/p/lib/src/legacy/a.c", "content": "x"}, cardea.Deny},
		{"Bash", map[string]any{"command": "rm yarn.lock"}, cardea.Deny},
		{"Bash", map[string]any{"command": "cat src/legacy/a.c"}, cardea.Abstain},
		{"Read", map[string]any{"file_path": "/home/user/p/.cupcake/rulebook.yml"}, cardea.Deny},
		{"Bash", map[string]any{"command": "echo .cupcake/"}, cardea.Abstain},
		{"Bash", map[string]any{"command": "git commit -n -m x"}, cardea.Deny},
		{"Bash", map[string]any{"command": "git commit -m 'about --no-verify'"}, cardea.Abstain},
		{"Bash", map[string]any{"command": "cat app.vault"}, cardea.Deny},
		{"Read", map[string]any{"file_path": "/home/user/p/customers/a.csv"}, cardea.Deny},
		{"Read", map[string]any{"file_path": "/home/user/p/src/a.c"}, cardea.Abstain},
		{"Bash", map[string]any{"command": "touch /srv/db/x"}, cardea.Deny},
		{"Bash", map[string]any{"command": "cupcake eval"}, cardea.Deny},
	} {
		if got := effect(t, d, c.tool, c.input); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.tool, c.input, got, c.want)
		}
	}
	for _, message := range []string{"'it''s legacy'", "'hands off'", "'hooks run'", "'secret'"} {
		if !strings.Contains(rulesOf(got), message) {
			t.Errorf("no message %s", message)
		}
	}
}

func TestUnrouted(t *testing.T) {
	text := "deny if input.tool_name == \"Write\"\n# input.tool_name == \"Read\"\nask if {\n\tinput.tool_name in {" +
		"\"Edit\", \"Bash\",\n\t\"Task\"}\n\tinput.hook_event_name == \"Stop\"\n\tinput.tool_name != \"Glob\"\n}\n"
	for _, c := range []struct {
		events, tools []string
		want          string
	}{
		{[]string{"PreToolUse"}, []string{"Bash"}, "Write Edit Task Stop"},
		{[]string{"PreToolUse"}, nil, "Stop"},
		{[]string{"*"}, []string{"*"}, ""},
		{[]string{"PreToolUse", "Stop"}, []string{"Write", "Edit", "Bash", "Task"}, ""},
		{nil, nil, ""},
	} {
		if got := strings.Join(importer.Unrouted(text, c.events, c.tools), " "); got != c.want {
			t.Errorf("%v %v: %q, want %q", c.events, c.tools, got, c.want)
		}
	}
}
