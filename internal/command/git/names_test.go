package git_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cardea.dev/internal/command/git"
)

// TestDifferingWithoutCommit checks that before the first commit a branch adds all of
// its files, and a missing branch adds none.
func TestDifferingWithoutCommit(t *testing.T) {
	dir := t.TempDir()
	run := func(in string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.email=a@b", "-c", "user.name=n"}, args...)...)
		cmd.Dir = filepath.Join(dir, in)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	run("", "init", "-q", "full")
	if err := os.WriteFile(filepath.Join(dir, "full", "a"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	run("full", "add", "-A")
	run("full", "commit", "-q", "-m", "x")
	run("full", "branch", "-m", "b")
	run("", "init", "-q", "empty")
	run("empty", "fetch", "-q", "../full", "b:b")
	r, err := git.Open(filepath.Join(dir, "empty"), os.Environ(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	names, err := r.Differing(context.Background(), "b")
	if err != nil || strings.Join(names, " ") != "a" {
		t.Errorf("%q %v", names, err)
	}
	for _, none := range []string{"c", "HEAD", "b..c"} {
		if names, err := r.Differing(context.Background(), none); err == nil || !strings.Contains(err.Error(), "unknown revision") {
			t.Errorf("%s: %q %v", none, names, err)
		}
	}
}
