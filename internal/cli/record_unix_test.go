//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A process that holds the ledger's lock, such as a stopped one, delays no answer. The next
// one with the lock writes the entry.
func TestLockedLedger(t *testing.T) {
	d := newFixture(t)
	call := d.call("PreToolUse", "default", "git push --force")
	d.run(call, "check", "--harness", "claude-code")
	head, err := os.OpenFile(filepath.Join(d.state(), "ledger/head"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer head.Close()
	if err := syscall.Flock(int(head.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	out, errs, code := d.run(call, "check", "--harness", "claude-code", "--limit", "1m")
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("the answer took %s", took)
	}
	if code != exitOK || !strings.Contains(out, `"permissionDecision":"deny"`) || errs != "" {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	if out, _, _ := d.run("", "audit", "search"); strings.Count(out, "\n") != 2 {
		t.Errorf("what waits in the spool is not found: %q", out)
	}
	if err := syscall.Flock(int(head.Fd()), syscall.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	d.run(call, "check", "--harness", "claude-code")
	if out, _, code := d.run("", "audit", "verify"); code != exitOK || !strings.HasPrefix(out, "3 entries") {
		t.Errorf("verify: exit %d, %q", code, out)
	}
}
