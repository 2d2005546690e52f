package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// commitAfter returns the answer to a commit after lines that succeeded, with these checks
// in the settings. cwd is the folder that the harness reports.
func commitAfter(t *testing.T, checks []string, cwd string, lines ...string) (effect, text string) {
	t.Helper()
	d := newFixture(t)
	d.vars["CLAUDE_PROJECT_DIR"] = d.project
	d.settings("version: 1\npolicies: {checks: " + marshalled(checks) + "}\n")
	d.write(filepath.Join(d.project, "web", "package.json"), "{}")
	send := func(event, cwd, line string) (effect, text string) {
		out, errs, code := d.run(marshalled(map[string]any{
			"session_id": "s", "transcript_path": "/t.jsonl", "permission_mode": "default", "hook_event_name": event, "cwd": cwd,
			"tool_name": "Bash", "tool_input": map[string]any{"command": line}, "tool_response": map[string]any{"stdout": "", "interrupted": false},
		}), "check", "--harness", "claude-code")
		if code != exitOK {
			t.Errorf("%s: exit %d, %s%s", line, code, out, errs)
		}
		return answered(out)
	}
	for _, line := range lines {
		send("PreToolUse", d.project, line)
		send("PostToolUse", filepath.Join(d.project, cwd), line)
	}
	return send("PreToolUse", d.project, "git commit -m x")
}

// Running the line that a person set as a check satisfies the check.
func TestEveryCheckCanBeMet(t *testing.T) {
	for _, check := range []string{
		"CI=1 npm test",
		`pytest -k "a and b"`,
		"make  lint",
		"npm test && npm run lint",
		"go vet ./... 2>&1",
		`bash -c "npm test"`,
		`test -z "$(gofmt -l .)"`,
		"npm test # all",
		"npm test > test.log",
		"if npm test; then true; else false; fi",
		"$CHECK all",
		"make check \\\n  all",
		"cd web && npm test",
		"! grep -rn FIXME src",
	} {
		if effect, text := commitAfter(t, []string{check}, "", check); effect != "nothing" {
			t.Errorf("%q is not met: %s %s", check, effect, text)
		}
		if effect, _ := commitAfter(t, []string{check}, ""); effect != "deny" {
			t.Errorf("%q is met by nothing", check)
		}
		other := "CI=1 make lint"
		if effect, text := commitAfter(t, []string{other, check}, "", check, other); effect != "nothing" {
			t.Errorf("%q takes away what %q says: %s %s", other, check, effect, text)
		}
	}
}

func TestWhatMeetsACheck(t *testing.T) {
	for _, c := range []struct{ check, cwd, line, want string }{
		{"npm test", "", "  npm test\n", "nothing"},
		// Claude Code reports the folder in which the line ended.
		{"cd web && npm test", "web", "cd web && npm test", "nothing"},
		{"npm test", "web", "npm test", "nothing"},
		// This is another line.
		{"make  lint", "", "make lint", "deny"},
		{"npm test;", "", "npm test", "deny"},
		{"CI=1 npm test", "", "npm ci && CI=1 npm test", "deny"},
		{"CI=1 npm test", "", "CI=1 npm test || true", "deny"},
		{"npm test", "", "npm test > a.js", "deny"},
		{"npm test", "", "npm test &", "deny"},
	} {
		if effect, text := commitAfter(t, []string{c.check}, c.cwd, c.line); effect != c.want {
			t.Errorf("check %q after %q in %q: %s, not %s: %s", c.check, c.line, c.cwd, effect, c.want, text)
		}
	}
}

// Lint reports only checks that can never hold.
func TestLintFindsChecksThatNeverHold(t *testing.T) {
	d := newFixture(t)
	d.settings("version: 1\npolicies:\n  checks: ['npm start &', \"echo 'x\", '# all', 'make > a.log', 'make lint > b.log', 'cd web && CI=1 npm test;']\n")
	out, _, code := d.run("", "lint")
	for _, want := range []string{
		`the check "npm start &" can never hold: its last command runs in the background`, `the check "echo 'x" can never hold: `,
		`the check "# all" can never hold: it runs nothing`,
		"cardea.yaml:3", "3 errors",
	} {
		if code != exitError || !strings.Contains(out, want) {
			t.Errorf("lint does not say %q: exit %d\n%s", want, code, out)
		}
	}
}

// Cardea recognizes what real git treats as a commit or a merge, with any spelling of the
// options.
func TestWhatGitPublishes(t *testing.T) {
	git := func(dir string, args ...string) string {
		c := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@x.example", "-c", "init.defaultBranch=main"}, args...)...)
		c.Dir, c.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_EDITOR=true"}
		out, err := c.CombinedOutput()
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(out))
	}
	for line, want := range map[string]bool{
		"commit --mess --dry-run -a": true, "commit --m --dry-run -a": true, "commit --dry-run --no-dry-run -am x": true, "commit -uno -am x": true,
		"merge --into --abort b --no-ff": true, "merge --i --abort b": true,
		"commit -am x --dry-run": false, "commit -u --dry-run -am x": false, "commit -S --dry-run -am x": false, "merge --abort": false,
	} {
		d := newFixture(t)
		d.vars["CLAUDE_PROJECT_DIR"] = d.project
		d.settings("version: 1\npolicies: {checks: [npm test]}\n")
		d.write(filepath.Join(d.project, "a"), "a")
		for _, setup := range []string{
			"init -q",
			"add a",
			"commit -qm a",
			"checkout -qb b",
			"commit -qm b --allow-empty",
			"checkout -q main",
		} {
			git(d.project, strings.Fields(setup)...)
		}
		if strings.HasPrefix(line, "commit") {
			d.write(filepath.Join(d.project, "a"), "b")
		}
		said, _, _ := d.run(marshalled(map[string]any{"session_id": "s", "hook_event_name": "PreToolUse", "cwd": d.project, "permission_mode": "default",
			"tool_name": "Bash", "tool_input": map[string]any{"command": "git " + line}}), "check", "--harness", "claude-code")
		before := git(d.project, "rev-parse", "HEAD")
		git(d.project, strings.Fields(line)...)
		published := before == "" || git(d.project, "rev-parse", "HEAD") != before
		if effect, _ := answered(said); published != want || (effect == "deny") != want {
			t.Errorf("git %s: published %v, %s", line, published, effect)
		}
	}
}
