//go:build unix

package archives

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"cardea.dev/internal/command/disk"
)

// TestMembers reads archives that real programs have created.
func TestMembers(t *testing.T) {
	dir := t.TempDir()
	run := func(script string) {
		t.Helper()
		cmd := exec.Command("bash", "-ec", script)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", script, err, out)
		}
	}
	run(`mkdir -p p/.claude && echo x > p/.claude/settings.json && echo a > p/a && tar -cf x.tar p && tar -czf x.tgz p && tar -cf - p | bzip2 > x.tbz
cp -r p q && echo y > q/.claude/settings.json; diff -ru p q > x.patch || true; head -c 700 x.tgz > cut.tgz; head -c 100 x.tgz > short.tgz; echo text > text; head -c 2000 /dev/urandom > noise`)
	for _, name := range []string{"x.tar", "x.tgz", "x.tbz"} {
		found, ok := disk.Members(filepath.Join(dir, name))
		if !ok || !slices.Contains(found, "p/.claude/settings.json") {
			t.Errorf("%s: %q, %v", name, found, ok)
		}
	}
	if found, ok := disk.Members(filepath.Join(dir, "x.patch")); !ok || !slices.Contains(found, ".claude/settings.json") {
		t.Errorf("the patch: %q, %v", found, ok)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"short.tgz", "text", "noise", "fifo", "missing", "p"} {
		if found, ok := disk.Members(filepath.Join(dir, name)); ok {
			t.Errorf("%s: %q is taken for all of it", name, found)
		}
	}
	if _, ok := disk.Members("/dev/zero"); ok {
		t.Error("a device has no members")
	}
	os.RemoveAll(dir)
}
