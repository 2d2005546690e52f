package importer

import (
	"strings"
	"testing"

	"cardea.dev"
)

func TestCupcake(t *testing.T) {
	got := Cupcake("rulebook.yml", []byte(`version: "1"
signals:
  text: whoami
  map: {command: "it's", timeout_seconds: 2}
actions:
  on_any_denial: [{command: a}, b]
  on_halt: {command: c}
  by_rule_id: {R: [{command: d}]}
builtins:
  git_pre_check: {enabled: true, checks: [{command: npm test, message: m}, x, {message: only}, 'npm start &']}
  protected_paths: {enabled: true, paths: [/etc/], message: m}
  claude_code_always_inject_on_prompt: {context: [a b, {file: x}, {content: c}]}
  claude_code_enforce_full_file_read: {enabled: true}
  post_edit_check: {enabled: true}
  sensitive_data_protection: {enabled: true}
  global_file_lock: {enabled: true}
  system_protection: {enabled: false}
  odd: true
watchdog: {enabled: true}
`))
	settings := strings.Join(got.Settings, "\n")
	want := `packs: {full-reads: on}
policies:
  checks:
    - 'npm test'
    - 'x'
    - 'npm start &'
  protected:
    - '/etc/'
  context:
    - 'a b'
    - 'c'
signals:
  'text': {command: 'whoami', timeout_seconds: 5}
  'map': {command: 'it''s', timeout_seconds: 2}
actions:
  on_any_denial:
    - command: 'a'
    - command: 'b'
  on_halt:
    - command: 'c'
  violations:
    'R':
      - command: 'd'`
	if settings != want {
		t.Errorf("settings:\n%s", settings)
	}
	var notes []string
	for _, n := range got.Notes {
		if n.Severity == cardea.LevelError {
			t.Errorf("a mistake: %+v", n)
		}
		notes = append(notes, n.String())
	}
	all := strings.Join(notes, "\n")
	for _, says := range []string{"an entry of checks is not taken over", "an entry of context is not taken over", "post_edit_check is not taken over", "sensitive_data_protection needs no setting",
		"global_file_lock is not taken over", "watchdog", "git_pre_check are settled by evidence",
		`the check "npm start &" can never hold: its last command runs in the background`} {
		if !strings.Contains(all, says) {
			t.Errorf("no %q in\n%s", says, all)
		}
	}
	if strings.Contains(all, "system_protection") {
		t.Error("what is switched off is told")
	}
	if broken := Cupcake("r.yml", []byte("signals: {a: {}}\nx: [")); len(broken.Notes) == 0 {
		t.Error("a broken file is not told")
	}
}
