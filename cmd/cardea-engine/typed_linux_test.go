package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"cardea.dev/internal/person"
)

// asClaude is this program as Claude Code, which tells a hook of a prompt that was typed:
// by one end of a pair of sockets, or by a file where the first argument is "file". What
// the hook writes goes to standard output.
func asClaude(args []string) int {
	for {
		above, err := person.Lineage(os.Getppid())
		if err != nil || !strings.HasPrefix(nameOf(above[0].PID), "sh") {
			break // whoever runs the tests is above no longer
		}
		time.Sleep(5 * time.Millisecond)
	}
	dir, err := os.Getwd()
	if err != nil {
		fmt.Println(err)
		return 1
	}
	c := exec.Command("sh", "-c", args[1])
	c.Env = append(os.Environ(), "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ATTENDED=1", "CLAUDE_PROJECT_DIR="+dir)
	c.Stdout, c.Stderr = os.Stdout, os.Stdout
	message := fmt.Sprintf(`{"session_id":"s","transcript_path":"/t","cwd":%q,"permission_mode":"default","hook_event_name":"UserPromptSubmit","prompt":%q}`, dir, args[2])
	if err := speak(c, args[0], message); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// nameOf is the name of a process.
func nameOf(pid int) string {
	name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)) // a process that has ended has no name
	return string(name)
}

// speak runs a hook with a message on its standard input.
func speak(c *exec.Cmd, by, message string) error {
	if by == "file" {
		c.Stdin = strings.NewReader(message)
		return c.Run()
	}
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	own, theirs := os.NewFile(uintptr(pair[0]), "own"), os.NewFile(uintptr(pair[1]), "theirs")
	if _, err := own.WriteString(message); err != nil {
		return err
	}
	if err := own.Close(); err != nil {
		return err
	}
	c.Stdin = theirs
	return c.Run()
}

// typed is what a hook answers to a prompt that a person typed.
func (s *site) typed(by, prompt string) string {
	s.t.Helper()
	claude := filepath.Join(s.bin, "claude")
	if _, err := os.Lstat(claude); err != nil {
		own, err := os.Executable()
		if err == nil {
			err = os.Symlink(own, claude)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	// The shell ends at once, so that nobody is above the harness.
	c := exec.Command("/bin/sh", "-c", `"$@" &`, "sh", claude, by, s.exe("cardea")+" check --harness claude-code --limit 1m", prompt)
	c.Dir, c.Env = s.work, []string{"HOME=" + s.home, "PATH=/usr/bin:/bin"}
	out, err := c.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// The first command that a person types after an edit is carried out: cardea-engine compiles
// the files, and cardea, which the harness started, makes sure of the person.
func TestTypedAfterAnEdit(t *testing.T) {
	s := install(t)
	settings, roles := filepath.Join(s.home, ".config/cardea/cardea.yaml"), filepath.Join(s.home, ".config/cardea/roles.yaml")
	role := "roles: {mine: {description: mine, paths: {allow_write: [\"src/**\"]}}}\n"
	for _, tt := range []struct{ name, settings, roles, by, prompt, want string }{
		{"settings", "packs: {web: off}\n", "", "socket", "/cardea register planner", `as \"planner\"`},
		{"settings and roles", "packs: {git: off}\n", role, "socket", "/cardea switch mine", `to \"mine\"`},
		{"nothing new", "", "", "socket", "/cardea switch planner", `to \"planner\"`},
		{"roles alone", "", "# mine\n" + role, "socket", "/cardea switch mine", `to \"mine\"`},
		{"the state", "packs: {web: off} # again\n", "", "socket", "/cardea status", `mine`},
		{"not by the harness", "packs: {web: off} # and again\n", "", "file", "/cardea switch planner", "did not come from the harness itself"},
		{"nor what was compiled", "", "", "file", "/cardea switch planner", "did not come from the harness itself"},
		{"a mistake", "packs: {web: off\n", "", "socket", "/cardea switch planner", "was not carried out, since settings, rules or roles cannot be read"},
		{"mended", "packs: {web: off} # mended\n", "", "socket", "/cardea register coder", `to \"coder\"`},
	} {
		for path, text := range map[string]string{settings: tt.settings, roles: tt.roles} {
			if text != "" {
				s.write(path, text)
			}
		}
		if got := s.typed(tt.by, tt.prompt); !strings.Contains(got, tt.want) || strings.Count(got, `"block"`) != 1 {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
	// What cannot be compiled is told, and nothing is carried out.
	if err := os.Remove(s.exe("cardea-engine")); err != nil {
		t.Fatal(err)
	}
	if got := s.typed("socket", "/cardea disable"); !strings.Contains(got, "was not carried out") || !strings.Contains(got, "cardea-engine is missing") {
		t.Errorf("without cardea-engine: %s", got)
	}
	if found, _ := filepath.Glob(filepath.Join(s.home, ".local/state/cardea/ledger/*.jsonl")); len(found) != 1 {
		t.Errorf("ledger: %v", found)
	} else if text, err := os.ReadFile(found[0]); err != nil || strings.Count(string(text), "\n") != 10 {
		t.Errorf("each prompt is recorded once: %s, %v", text, err)
	}
}
