package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "cardea.dev/internal/base/document/yamltext" // reads YAML
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/decide/policy/rego"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/hook/control"
)

// place is a person and a project.
type place struct {
	t          testing.TB
	home, work string
	memory     *inforce.Memory
	program    string
}

// inProcess is a policy engine in this process.
type inProcess struct{ rego.Engine }

func (inProcess) Close() {}

func newPlace(t testing.TB) *place {
	t.Helper()
	dir := t.TempDir()
	p := &place{t, filepath.Join(dir, "home"), filepath.Join(dir, "work"), inforce.NewMemory(time.Now, func() inforce.ClosingEngine { return inProcess{} }), filepath.Join(dir, "none")}
	p.write(filepath.Join(p.work, ".git/x"), "")
	return p
}

func (p *place) write(path, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// ask sends a call as a harness does, with more variables, and returns the answer.
func (p *place) ask(event, fields string, more ...string) (control.CheckResult, error) {
	p.t.Helper()
	message := fmt.Sprintf(`{"session_id":"s","transcript_path":"/t","cwd":%q,"permission_mode":"default","hook_event_name":%q,%s}`, p.work, event, fields)
	c := control.CheckRequest{Args: []string{"--harness", "claude-code", "--limit", "1m"}, Dir: p.work, Message: []byte(message),
		Variables: control.VariablesOf(append([]string{"HOME=" + p.home, "CLAUDE_PROJECT_DIR=" + p.work}, more...))}
	process := hook.ThisProcess(p.program)
	return Local{Memory: p.memory, Process: process}.Check(c, time.Time{})
}

func bash(command string) string {
	text, _ := json.Marshal(command)
	return fmt.Sprintf(`"tool_name":"Bash","tool_input":{"command":%s}`, text)
}

// left checks that a call is left, and that nothing was recorded.
func (p *place) left(why, event, fields string, more ...string) {
	p.t.Helper()
	a, err := p.ask(event, fields, more...)
	var left control.LeftError
	if !errors.As(err, &left) || !strings.Contains(string(left), why) || a.Exit != 0 || len(a.Stdout)+len(a.Stderr) > 0 {
		p.t.Errorf("%s: %+v, %v", why, a, err)
	}
	for _, name := range []string{"ledger", "sessions"} {
		if found, _ := filepath.Glob(filepath.Join(p.home, ".local/state/cardea", name, "*.json*")); len(found) > 0 {
			p.t.Errorf("%s: written down: %v", why, found)
		}
	}
}

func TestAnswers(t *testing.T) {
	p := newPlace(t)
	a, err := p.ask("PreToolUse", bash("git push --force origin main"))
	if err != nil || a.Exit != 0 || !strings.Contains(string(a.Stdout), `"permissionDecision":"deny"`) {
		t.Fatalf("%+v, %v", a, err)
	}
	if found, _ := filepath.Glob(filepath.Join(p.home, ".local/state/cardea/ledger/*.jsonl")); len(found) != 1 {
		t.Errorf("it is not recorded: %v", found)
	}
}

// The daemon leaves what only a process of the caller's own may do.
func TestLeft(t *testing.T) {
	p := newPlace(t)
	settings := filepath.Join(p.home, ".config/cardea/cardea.yaml")
	p.left("typed for Cardea", "UserPromptSubmit", `"prompt":"/cardea disable"`)
	p.left("typed for Cardea", "UserPromptSubmit", `"prompt":"/cardea register full-access"`, "CLAUDE_CODE_SESSION_ATTENDED=1")
	p.write(settings, "judge: {enabled: true, chain: [{type: openai}]}\n")
	p.left("a judge is to be asked", "PermissionRequest", bash("frobnicate"))
	p.write(settings, "actions: {on_any_denial: [{command: 'touch x'}]}\n")
	p.left("commands are to run", "PreToolUse", bash("git push --force origin main"))
	p.write(settings, "")
	p.write(
		filepath.Join(p.home, ".config/cardea/lessons/ask.jsonl"),
		`{"v":1,"effect":"ask","tool":"Bash","subject":"npm run dev","role":"*","dir":".","by":"person","who":"liam","when":"2026-11-20T10:00:00Z"}`+"\n",
	)
	p.left("by their meaning", "PermissionRequest", bash("pnpm dev"))
	p.write(filepath.Join(p.home, ".config/cardea/lessons/ask.jsonl"), "")
	p.write(filepath.Join(p.home, ".config/cardea/policies/a.rego"), strings.Replace(policyText, "required_events", "required_signals: [s]\n#     required_events", 1))
	p.write(filepath.Join(p.home, ".config/cardea/signals/s"), "#!/bin/sh\n")
	if err := os.Chmod(filepath.Join(p.home, ".config/cardea/signals/s"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.left("signals are to run", "PreToolUse", bash("ls"))
}

const policyText = `# METADATA
# scope: package
# custom:
#   routing:
#     required_events: [PreToolUse]
package cardea.policies.a

import rego.v1

deny contains {"rule_id": "G", "reason": "r", "severity": "HIGH"} if input.tool_name == "Bash"
`

// Policies that need no other program are evaluated here, in their current form at each call.
func TestPolicies(t *testing.T) {
	p := newPlace(t)
	at := filepath.Join(p.home, ".config/cardea/policies/a.rego")
	answers := func(word string) {
		t.Helper()
		if a, err := p.ask("PreToolUse", bash("ls")); err != nil || !strings.Contains(string(a.Stdout), `"permissionDecision":"`+word+`"`) {
			t.Errorf("not %s: %s, %v", word, a.Stdout, err)
		}
	}
	answers("allow")
	p.write(at, policyText)
	answers("deny")
	answers("deny")
	p.write(at, strings.Replace(policyText, `"Bash"`, `"Read"`, 1))
	answers("allow")
	p.write(at, policyText+"this is no Rego\n")
	answers("ask")
	if err := os.Remove(at); err != nil {
		t.Fatal(err)
	}
	answers("allow")
}

// A variable whose value was not sent is treated as unknown.
func TestEnvironment(t *testing.T) {
	e := &hook.Handover{}
	env, exported := environment(control.VariablesOf([]string{"HOME=/h", "OTHER=x"}), e)
	if env("HOME") != "/h" || env("NONE") != "" || !exported("OTHER") || !exported("HOME") || exported("NONE") || e.Why() != "" {
		t.Error("what is known is not known: ", e.Why())
	}
	if env("OTHER") != "" || !strings.Contains(e.Why(), "OTHER") {
		t.Error("a variable is read that was not sent: ", e.Why())
	}
}
