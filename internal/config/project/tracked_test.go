package project

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTracked checks that a tracked file is recognized in every form of the index.
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

// TestCheckedIsRemembered checks that a file once tracked stays suspicious after its
// removal from the index, until the user accepts it.
func TestCheckedIsRemembered(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("the tests need git")
	}
	for name, untrack := range map[string]func(dir string){
		"index removed": func(dir string) { remove(t, filepath.Join(dir, ".git/index")) },
		"index emptied": func(dir string) { runGit(t, git, dir, "read-tree", "--empty") },
		"repository removed": func(dir string) {
			if err := os.RemoveAll(filepath.Join(dir, ".git")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		dir, b := filepath.Join(realTemp(t), "repo"), Checked{State: filepath.Join(realTemp(t), "state")}
		local, link := filepath.Join(dir, ".claude/settings.local.json"), filepath.Join(dir, "../link")
		write(t, local, "{}")
		write(t, filepath.Join(b.State, "other"), "")
		if err := os.Symlink(dir, link); err != nil {
			t.Fatal(err)
		}
		runGit(t, git, dir, "init", "-q")
		if b.Tracked(local) {
			t.Errorf("%s: a file that was never added came with the repository", name)
		}
		runGit(t, git, dir, "add", "-f", ".claude/settings.local.json")
		if !b.Tracked(filepath.Join(link, ".claude/settings.local.json")) {
			t.Errorf("%s: a file that git tracks did not come with the repository", name)
		}
		if err := b.Forget(local); err != nil || !b.Tracked(local) {
			t.Errorf("%s: a file that git tracks was forgotten: %v", name, err)
		}
		untrack(dir)
		if !b.Tracked(local) || Tracked(local) || (Checked{State: filepath.Join(b.State, "new")}).Tracked(local) {
			t.Errorf("%s: a file that git tracked is not remembered", name)
		}
		if err := b.Forget(local); err != nil || b.Tracked(local) {
			t.Errorf("%s: a file that was accepted came with the repository: %v", name, err)
		}
	}
	if (Checked{State: realTemp(t)}).Forget(filepath.Join(realTemp(t), "x")) != nil {
		t.Error("forgetting what was never known fails")
	}
}

func runGit(t *testing.T, git, dir string, args ...string) {
	t.Helper()
	if out, err := exec.Command(git, append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}
