//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// In a short run of every way and every fault, no answer is wrong or late. Only root can
// fill the disk.
func TestShortRun(t *testing.T) {
	program := filepath.Join(t.TempDir(), "load")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	faults := "none,kill,hang,ledger,queue,clock,slow"
	if os.Geteuid() == 0 {
		faults += ",disk"
	} else if os.Getenv("CI") != "" {
		t.Error("this test must run as root, to fill a disk")
	}
	c := exec.Command(program, "-clients", "4", "-calls", "30", "-limit", "1m", "-faults", faults)
	out, err := c.CombinedOutput()
	rows := regexp.MustCompile(`(?m)^(http|socket|process) +(\w+) +4 +(\d+) .* 0 +0 +(\d+)$`).FindAllStringSubmatch(string(out), -1)
	if want := 3*strings.Count(faults, ",") + 1; err != nil || len(rows) != want {
		t.Fatalf("%v, %d rows, not %d:\n%s", err, len(rows), want, out)
	}
	for _, row := range rows {
		if row[4] != "0" && !(row[1] == "http" && row[2] == "kill") {
			t.Errorf("%s, %s: %s calls are blocked", row[1], row[2], row[4])
		}
	}
}

// While calls wait for a person, only those that a person allowed may be allowed.
func TestRight(t *testing.T) {
	s := &testbed{want: map[string]string{"ls": "allow", "rm": "deny", "npm test": "", approved: ""}, event: permissionRequest}
	for line, answers := range map[string]string{"ls": "allow", "rm": "deny", "npm test": "deny", approved: "allow deny"} {
		for _, got := range []string{"allow", "deny", "ask", "", "unreadable"} {
			if right := slices.Contains(strings.Fields(answers), got); s.right(line, got) != right {
				t.Errorf("%s: %q counts as right: %v", line, got, !right)
			}
		}
	}
	s.event = ""
	if s.right("npm test", "deny") || !s.right("npm test", "") || s.right(approved, "allow") {
		t.Error("without the queue, another answer counts")
	}
}

// Wrong answers are detected: here a program that allows everything replaces cardea.
func TestNotices(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "load")
	for _, args := range [][]string{{"-o", program, "."}, {"-o", dir + "/", "cardea.dev/cmd/..."}} {
		if out, err := exec.Command("go", append([]string{"build"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	script := "#!/bin/sh\necho '{\"hookSpecificOutput\":{\"permissionDecision\":\"allow\"}}'\n"
	if err := os.WriteFile(dir+"/cardea-hook", []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "-bin", dir, "-clients", "1", "-calls", "30", "-ways", "process", "-faults", "none").CombinedOutput()
	if err == nil || !strings.Contains(string(out), `"allow", not "deny"`) {
		t.Errorf("%v\n%s", err, out)
	}
}
