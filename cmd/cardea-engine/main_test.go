package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

const policy = `# METADATA
# scope: package
# title: Guard
# authors: [Me]
# custom:
#   routing:
#     required_events: [PreToolUse]
#     required_tools: [Bash]
package cardea.policies.guard

import rego.v1

deny contains {"rule_id": "G", "reason": "guarded by a policy", "severity": "HIGH"} if contains(input.tool_input.command, "danger")
`

// hanging is a project's policy that never ends.
const hanging = `# METADATA
# scope: package
# custom:
#   routing:
#     required_events: [PreToolUse]
package cardea.policies.hanging

import rego.v1

deny contains {"rule_id": "H", "reason": "x"} if {
	some a in numbers.range(1, 100000)
	some b in numbers.range(1, 100000)
	a * b == -1
}
`

// fixture is the two installed programs, and a person with a policy.
type fixture struct {
	t               *testing.T
	bin, home, work string
	env             []string
}

// built is the folder in which TestMain builds the two programs, once for all tests.
var built string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "cardea-engine-test-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		built = dir
		build := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "cardea.dev/cmd/cardea", "cardea.dev/cmd/cardea-engine")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// install returns the programs in a new folder.
func install(t *testing.T) *fixture {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &fixture{t: t, bin: filepath.Join(dir, "bin"), home: filepath.Join(dir, "home"), work: filepath.Join(dir, "work")}
	if err := os.Mkdir(s.bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"cardea", "cardea-engine"} {
		if err := os.Link(filepath.Join(built, filepath.Base(s.exe(name))), s.exe(name)); err != nil {
			t.Fatal(err)
		}
	}
	s.write(filepath.Join(s.work, ".git", "x"), "")
	s.write(filepath.Join(s.home, ".config/cardea/policies/guard.rego"), policy)
	s.env = []string{"HOME=" + s.home, "USERPROFILE=" + s.home, "PATH=" + s.work, "CLAUDE_PROJECT_DIR=" + s.work, "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
	return s
}

func (s *fixture) write(path, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

func (s *fixture) exe(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(s.bin, name)
}

// run runs the program in the project.
func (s *fixture) run(stdin string, args ...string) string {
	s.t.Helper()
	c := exec.Command(s.exe("cardea"), args...)
	c.Dir, c.Env, c.Stdin = s.work, s.env, strings.NewReader(stdin)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	_ = c.Run() // its output is checked
	return out.String()
}

// check runs the hook, with time enough for a busy machine unless more sets another limit.
func (s *fixture) check(command string, more ...string) string {
	s.t.Helper()
	return s.run(`{"session_id":"s","transcript_path":"/t","cwd":"`+filepath.ToSlash(s.work)+`","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"`+
		command+`"}}`,
		append([]string{"check", "--harness", "claude-code", "--limit", "1m"}, more...)...)
}

// The two programs as they are installed.
func TestInstalled(t *testing.T) {
	s := install(t)
	for range 3 { // with and without an index
		if got := s.check("danger"); !strings.Contains(got, `"permissionDecision":"deny"`) || !strings.Contains(got, "guarded by a policy") {
			t.Fatalf("denied: %s", got)
		}
		if got := s.check("echo hello"); strings.Contains(got, "guarded") || strings.Contains(got, "cardea-engine") {
			t.Errorf("not denied: %s", got)
		}
		time.Sleep(150 * time.Millisecond)
	}
	if got := s.run("", "policy", "validate"); !strings.Contains(got, "1 file, 0 errors") {
		t.Errorf("validate: %s", got)
	}
	if got := s.check("danger " + strings.Repeat("x", 4<<20)); !strings.Contains(got, "guarded by a policy") {
		t.Errorf("a huge call: %.300s", got)
	}
}

// A project's policy that never ends uses its share of the time, and the person's policy
// still applies.
func TestHangingProject(t *testing.T) {
	s := install(t)
	s.write(filepath.Join(s.work, ".cardea/policies/hanging.rego"), hanging)
	begin := time.Now()
	got := s.check("danger", "--limit", "3s")
	if !strings.Contains(got, `"permissionDecision":"deny"`) || !strings.Contains(got, "guarded by a policy") {
		t.Errorf("the person's: %s", got)
	}
	if got := s.check("echo hello", "--limit", "3s"); !strings.Contains(got, `"permissionDecision":"ask"`) || !strings.Contains(got, "hanging.rego") {
		t.Errorf("the project's: %s", got)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
}

// Only programs in the folder of the program are started, as they were installed.
func TestOtherPrograms(t *testing.T) {
	s := install(t)
	program := s.exe("cardea-engine")
	real, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	// An agent may put programs into the project and PATH.
	s.write(filepath.Join(s.work, filepath.Base(program)), string(real))
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	asks := func(why string) {
		t.Helper()
		begin, limit := time.Now(), "15s"
		if why == "no time" {
			limit = "3s" // the limit passes
		}
		if got := s.check("danger", "--limit", limit); !strings.Contains(got, `"permissionDecision":"ask"`) || !strings.Contains(got, why) {
			t.Errorf("no %q: %s", why, got)
		}
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("it took %s", took)
		}
	}
	asks("cardea-engine is missing beside cardea")
	if got := s.run("", "policy", "test"); !strings.Contains(got, "go install ./cmd/...") {
		t.Errorf("test: %s", got)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for script, why := range map[string]string{
		"#!/bin/sh\nsleep 60\n": "no time",
		"#!/bin/sh\necho nonsense that is longer than the head of a message; read x": "not understood",
		"#!/bin/sh\nexit 1\n": "ended without an answer",
	} {
		s.write(program, script)
		asks(why)
	}
	s.write(program, string(real))
	if err := os.Chmod(program, 0o757); err != nil {
		t.Fatal(err)
	}
	asks("may be written by others")
}
