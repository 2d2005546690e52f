//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The hook lets cardea-engine look into archives. A call with an archive that cannot be
// read must not run, since an archive may contain files that determine what agents may do.
func TestArchivesByTheEngine(t *testing.T) {
	if err := build(); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	work := filepath.Join(home, "work")
	make := exec.Command("sh", "-ec", `mkdir -p work/.claude work/p && cd work && echo '{}' > .claude/settings.json && echo x > p/a
tar -czf bad.tgz .claude && tar -cf good.tar p && rm -r .claude p`)
	make.Dir = home
	if out, err := make.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	ask := func(program, line string) (decision, reason string) {
		t.Helper()
		message, err := json.Marshal(map[string]any{"session_id": "s", "cwd": work, "permission_mode": "default", "hook_event_name": "PreToolUse",
			"tool_name": "Bash", "tool_input": map[string]any{"command": line}, "tool_use_id": "t"})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program, "check", "--harness", "claude-code")
		cmd.Env, cmd.Dir, cmd.Stdin = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, work, bytes.NewReader(message)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v: %s", line, err, errs.String())
		}
		var answer struct {
			HookSpecificOutput struct{ PermissionDecision, PermissionDecisionReason string }
		}
		if len(bytes.TrimSpace(out)) > 0 {
			if err := json.Unmarshal(out, &answer); err != nil {
				t.Fatalf("%s: %v: %s", line, err, out)
			}
		}
		return answer.HookSpecificOutput.PermissionDecision, answer.HookSpecificOutput.PermissionDecisionReason
	}
	both := filepath.Join(builtIn, "cardea")
	alone := filepath.Join(home, "alone", "cardea")
	text, err := os.ReadFile(both)
	if err == nil {
		err = os.Mkdir(filepath.Dir(alone), 0o755)
	}
	if err == nil {
		err = os.WriteFile(alone, text, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ program, line, decision, reason string }{
		{both, "tar -xzf bad.tgz", "ask", ".claude/settings.json"},
		{both, "tar -xf good.tar", "", ""},
		{alone, "tar -xzf bad.tgz", "ask", "cardea-engine does not answer"},
		{alone, "tar -xf good.tar", "ask", "cardea-engine does not answer"},
		{alone, "git status", "allow", ""}, // nothing needs it
	} {
		decision, reason := ask(tt.program, tt.line)
		if decision != tt.decision || !strings.Contains(reason, tt.reason) {
			t.Errorf("%s %s: %q, %q", filepath.Dir(tt.program), tt.line, decision, reason)
		}
	}
}
