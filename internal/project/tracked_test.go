package project

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A file that git tracks came with the repository, in every form of the index.
func TestTracked(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("the tests need git")
	}
	for name, args := range map[string][]string{
		"plain":      {"config", "core.quotepath", "true"},
		"compressed": {"config", "index.version", "4"},
		"split":      {"update-index", "--split-index"},
	} {
		dir := filepath.Join(realTemp(t), "repo")
		run := func(args ...string) {
			t.Helper()
			cmd := exec.Command(git, append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: git %s: %v\n%s", name, strings.Join(args, " "), err, out)
			}
		}
		write(t, filepath.Join(dir, ".claude/settings.json"), "{}")
		run("init", "-q")
		local := filepath.Join(dir, ".claude/settings.local.json")
		write(t, local, "{}")
		for _, f := range []string{"a", "sub/.claude/settings.local.json", "z"} {
			write(t, filepath.Join(dir, f), "x")
		}
		run(args...)
		run("add", "a", "sub", "z", ".claude/settings.json")
		run("commit", "-qm", "x")
		if Tracked(local) {
			t.Errorf("%s: a file that was never added is tracked", name)
		}
		if !Tracked(filepath.Join(dir, ".claude/settings.json")) || !Tracked(filepath.Join(dir, "sub/.claude/settings.local.json")) {
			t.Errorf("%s: files that were added are not tracked", name)
		}
		run("add", "-f", ".claude/settings.local.json")
		if !Tracked(local) {
			t.Errorf("%s: a file that was added is not tracked", name)
		}
		run("worktree", "add", "-q", filepath.Join(dir, "../tree"))
		if !Tracked(filepath.Join(dir, "../tree/a")) || Tracked(filepath.Join(dir, "../tree/b")) {
			t.Errorf("%s: in a worktree of its own", name)
		}
	}
	if Tracked(filepath.Join(realTemp(t), "x")) {
		t.Error("tracked without a repository")
	}
	for _, broken := range []string{"", "DIRC", "DIRC\x00\x00\x00\x04\x00\x00\x00\x09", "XXXX\x00\x00\x00\x02\x00\x00\x00\x00"} {
		dir := realTemp(t)
		write(t, filepath.Join(dir, ".git/index"), broken)
		if !Tracked(filepath.Join(dir, "x")) {
			t.Errorf("an index that cannot be read, %q, does not have it", broken)
		}
	}
}
