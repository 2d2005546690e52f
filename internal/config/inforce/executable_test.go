//go:build unix

package inforce_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev/internal/config/inforce"
)

// TestNotExecutable checks that scripts that are started directly but not executable are
// reported. Scripts passed to a program, and other files next to scripts, are not.
func TestNotExecutable(t *testing.T) {
	s := newFixture(t)
	for name, mode := range map[string]os.FileMode{"branch.sh": 0o644, "who": 0o640, "py.py": 0o600, "good.sh": 0o755, "README.md": 0o644} {
		text := "x\n"
		if name == "py.py" {
			text = "#!/usr/bin/env python3\n"
		}
		s.user("signals/"+name, text)
		if err := os.Chmod(filepath.Join(s.where.Dirs.User, "signals", name), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(s.where.Project, "tools", "a.sh"), "#!/bin/sh\n")
	s.project("cardea.yaml", "version: 1\nsignals:\n  a: {command: 'cd tools && timeout 5 ./a.sh x'}\n  b: {command: 'sh tools/a.sh; . tools/a.sh; tools/none.sh; cat ./tools/a.sh'}\n")
	var got []string
	for _, p := range inforce.Load(s.where).NotExecutable() {
		got = append(got, p.String())
	}
	all := strings.Join(got, "\n")
	for _, want := range []string{"signals/branch.sh:1:1: this signal cannot be started", "signals/who:1:1: ", "signals/py.py:1:1: ",
		`cardea.yaml:3:1: "cd tools && timeout 5 ./a.sh x" cannot be started: ` + filepath.Join(s.where.Project, "tools", "a.sh") + " is not executable"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	if len(got) != 4 {
		t.Errorf("%d are told:\n%s", len(got), all)
	}
}
