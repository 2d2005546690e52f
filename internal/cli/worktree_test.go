package cli

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// In a worktree of Claude Code, denies about files of the project apply to files with the
// same names. Its repository is the project's.
func TestWorktreesOfTheProject(t *testing.T) {
	d := newFixture(t)
	d.vars["CLAUDE_PROJECT_DIR"], d.vars["PATH"] = d.project, "/usr/bin:/bin"
	for name, text := range map[string]string{"src/a.go": "package a\n", "tests/t.go": "x", "sec/a": "x", "gen/x": "x", ".gitignore": ".claude\n"} {
		d.write(filepath.Join(d.project, name), text)
	}
	tree := filepath.Join(d.project, ".claude", "worktrees", "x")
	script := `rm -rf .git && git init -q . && git add -A && git -c user.email=a@b -c user.name=n commit -qm x && git worktree add -q .claude/worktrees/x -b x`
	c := exec.Command("sh", "-c", script)
	c.Dir, c.Env = d.project, []string{"HOME=" + d.home, "PATH=/usr/bin:/bin:/usr/local/bin"}
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	d.write(filepath.Join(d.project, ".claude", "settings.local.json"), `{"permissions":{"deny":["Edit(/tests/**)","Read(/sec/**)"]}}`)
	d.rules("version: 1\nrules:\n  - {id: no-gen, match: {access: [write, delete], path: [\"gen/**\"]}, effect: deny, message: no}\n")
	d.write(filepath.Join(tree, "evil", ".git"), "gitdir: "+filepath.Join(tree, "repo.git", "worktrees", "x")+"\n")
	d.write(filepath.Join(tree, "dotted", ".git"), "gitdir: "+filepath.Join(d.project, "link")+"/../.git/worktrees/x\n")
	for _, c := range []struct{ tool, input, want string }{
		{"Edit", `{"file_path":"TREE/tests/t.go","old_string":"x","new_string":"y"}`, "deny"},
		{"Write", `{"file_path":"TREE/tests/new.go","content":"x"}`, "deny"},
		{"Read", `{"file_path":"TREE/sec/a"}`, "deny"},
		{"Write", `{"file_path":"TREE/gen/x","content":"x"}`, "deny"},
		{"Bash", "echo x > tests/t.go", "deny"},
		{"Bash", "cat sec/a", "deny"},
		{"Bash", "cat sec/*", "deny"},
		{"Bash", "cat s?c/a", "deny"},
		{"Bash", "rm -r gen", "deny"},
		{"Bash", "echo x > ../x/gen/y", "deny"},
		{"Bash", "cp src/a.go gen/", "deny"},
		{"Bash", "cd gen && touch z", "deny"},
		{"Bash", "echo x > ../../../gen/y", "deny"},
		{"Bash", "cat src/a.go", "allow"},
		{"Bash", "cat gen/x", "allow"},
		{"Bash", "git status", "allow"},
		{"Bash", "git log -p src", "allow"},
		{"Bash", "git diff", "allow"},
		{"Bash", "cd evil && git status", ""},
		{"Bash", "cd dotted && git status", ""},
		{"Bash", "echo x > src/new.go", ""},
		{"Bash", "rm -rf build", ""},
		{"Bash", "cd .. && rm -rf x", ""},
		{"Bash", "npm test", ""},
		{"Write", `{"file_path":"TREE/src/b.go","content":"x"}`, ""},
		{"Write", `{"file_path":"TREE/testsuite/b.go","content":"x"}`, ""},
	} {
		input := strings.ReplaceAll(c.input, "TREE", tree)
		if c.tool == "Bash" {
			input = marshalled(map[string]any{"command": input})
		}
		out, errs, _ := d.run(marshalled(map[string]any{"hook_event_name": "PreToolUse", "session_id": "s", "cwd": tree, "permission_mode": "default", "transcript_path": "/t",
			"tool_name": c.tool, "tool_input": json.RawMessage(input)}), "check", "--harness", "claude-code")
		if got := strings.Contains(out, `"permissionDecision":"`+c.want+`"`); c.want != "" && !got || c.want == "" && strings.Contains(out, "permissionDecision\"") {
			t.Errorf("%s %s: %s %s, want %q", c.tool, c.input, out, errs, c.want)
		}
	}
}
