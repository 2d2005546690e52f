package person

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

type device struct{ mode os.FileMode }

func (d device) Stat() (os.FileInfo, error) {
	if d.mode == 0 {
		return nil, errors.New("closed")
	}
	return info{mode: d.mode}, nil
}

type info struct {
	os.FileInfo
	mode os.FileMode
}

func (i info) Mode() os.FileMode { return i.mode }
func (i info) Sys() any          { return nil }

func TestAttending(t *testing.T) {
	tty := device{os.ModeDevice | os.ModeCharDevice}
	shell := func(names ...string) func() ([]Ancestor, error) {
		return func() ([]Ancestor, error) {
			return []Ancestor{{Names: []string{"bash", "-bash"}, Environ: []string{"HOME=/h", "CLAUDECODE="}}, {Names: names}, {Names: []string{"systemd"}}}, nil
		}
	}
	cutOff := func() ([]Ancestor, error) {
		return []Ancestor{{Names: []string{"python3"}, Environ: []string{}}, {Names: []string{"x.py"}, Environ: []string{"CLAUDECODE=1"}}, {Names: []string{"systemd"}}}, nil
	}
	for _, c := range []struct {
		name     string
		terminal Terminal
		want     string
	}{
		{"a person", Terminal{tty, []string{"HOME=/h", "TERM=xterm", "CLAUDECODE="}, shell("gnome-terminal")}, ""},
		{"an editor of a file that is called so", Terminal{tty, nil, shell("vim", "vim", "claude.md")}, ""},
		{"claude's variable", Terminal{tty, []string{"CLAUDECODE=1"}, shell()}, "CLAUDECODE is set"},
		{"another of claude's", Terminal{tty, []string{"CLAUDE_CODE_ENTRYPOINT=cli"}, shell()}, "CLAUDE_CODE_ENTRYPOINT is set"},
		{"copilot's", Terminal{tty, []string{"COPILOT_AGENT_ID=x"}, shell()}, "COPILOT_AGENT_ID is set"},
		{"pi's variable", Terminal{tty, []string{"PI_CODING_AGENT=true"}, shell()}, "PI_CODING_AGENT is set"},
		{"a person's settings for agents", Terminal{tty, []string{"PI_CODING_AGENT_DIR=/x", "CLAUDE_CODE_USE_BEDROCK=1", "CLAUDE_CODE_SSE_PORT=1", "COPILOT_HOME=/x", "OPENCODE_CONFIG=/x"}, shell()}, ""},
		{"a pipe", Terminal{strings.NewReader("code"), nil, shell()}, "no terminal"},
		{"a file", Terminal{device{0o644}, nil, shell()}, "no terminal"},
		{"closed", Terminal{device{}, nil, shell()}, "no terminal"},
		{"an agent above", Terminal{tty, nil, shell("claude")}, "(claude)"},
		{"as a script of node", Terminal{tty, nil, shell("node", "node", "/usr/lib/node_modules/x/bin/gemini.js")}, "gemini"},
		{"of another case", Terminal{tty, nil, shell("OpenCode")}, "OpenCode"},
		{"cursor", Terminal{tty, nil, shell("node", "/opt/cursor-agent")}, "cursor-agent"},
		{"pi", Terminal{tty, nil, shell("pi", "pi")}, "(pi)"},
		{"pi as a script", Terminal{tty, nil, shell("MainThread", "node", "/usr/local/bin/pi")}, "bin/pi)"},
		{"hermes", Terminal{tty, nil, shell("python3.12", "/usr/bin/python3", "/opt/hermes")}, "hermes"},
		{"agy", Terminal{tty, nil, shell("agy", "/usr/bin/agy")}, "(agy)"},
		{"cn", Terminal{tty, nil, shell("node", "node", "/usr/bin/cn.js")}, "cn.js"},
		{"a user who is called so", Terminal{tty, nil, shell("su", "su", "pi")}, ""},
		{"a folder that is called so", Terminal{tty, nil, shell("xterm", "xterm", "/home/pi")}, ""},
		{"a name that begins so", Terminal{tty, nil, shell("pipenv", "python3", "/usr/bin/pipenv")}, ""},
		{"cut off from an agent", Terminal{tty, nil, cutOff}, "CLAUDECODE was set for x.py above it"},
		{"one that hides its variables", Terminal{tty, nil, func() ([]Ancestor, error) { return []Ancestor{{PID: 7, Names: []string{"x"}, Hidden: true}}, nil }}, "x (process 7) hides"},
		{"unknown", Terminal{tty, nil, func() ([]Ancestor, error) { return nil, errors.New("hidden") }}, "cannot be told"},
	} {
		err := c.terminal.Attending()
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "; do this ")) {
			t.Errorf("%s: %v", c.name, err)
		}
		// A script differs only in the terminal.
		c.terminal.Stdin = nil
		fine := runtime.GOOS != "windows" && (c.want == "" || strings.Contains(c.want, "no terminal"))
		if err := c.terminal.UnderAgent(); (err == nil) != fine || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, in a script: %v", c.name, err)
		}
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if IsTerminal(null) {
		t.Error("the null device is a terminal")
	}
}

// TestAncestors checks the real ancestors: a program with the name of an agent that starts
// this one is found.
func TestAncestors(t *testing.T) {
	if os.Getenv("PERSON_TEST_CHILD") != "" {
		all, err := aboveThis()
		found := false
		for _, a := range all {
			for _, n := range a.Names {
				found = found || isAgent(n)
			}
		}
		if err != nil || !found {
			t.Errorf("%v, %v", all, err)
		}
		return
	}
	if runtime.GOOS == "windows" {
		t.Skip("nothing to look at")
	}
	all, err := aboveThis()
	if err != nil || len(all) == 0 {
		t.Fatalf("%v, %v", all, err)
	}
	agent := filepath.Join(t.TempDir(), "claude")
	if err := os.WriteFile(agent, []byte("#!/bin/sh\n\"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(agent, os.Args[0], "-test.run=^TestAncestors$")
	cmd.Env = append(os.Environ(), "PERSON_TEST_CHILD=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestProcAndPS checks that both implementations agree.
func TestProcAndPS(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("both are on Linux only")
	}
	parent, names, err := proc(os.Getpid())
	if err != nil || parent != os.Getppid() || len(names) < 2 {
		t.Errorf("proc: %d, %v, %v", parent, names, err)
	}
	if _, err := os.Stat("/bin/ps"); err == nil {
		if parent, names, err := ps(os.Getpid()); err != nil || parent != os.Getppid() || len(names) == 0 {
			t.Errorf("ps: %d, %v, %v", parent, names, err)
		}
	}
	const none = 1 << 30
	if _, _, err := proc(none); err == nil {
		t.Error("proc of nobody")
	}
	if _, _, err := ps(none); err == nil {
		t.Error("ps of nobody")
	}
}

func TestClimb(t *testing.T) {
	if err := climb(5, func(int) (int, error) { return 5, nil }); err == nil {
		t.Error("a ring has an end")
	}
	if err := climb(5, func(int) (int, error) { return 0, errors.New("hidden") }); err == nil {
		t.Error("what is hidden is skipped")
	}
	if err := climb(2, func(pid int) (int, error) {
		if pid == 1 {
			return 0, errors.New("another user's")
		}
		return 1, nil
	}); err != nil {
		t.Error(err)
	}
	var all []int
	err := climb(3, func(pid int) (int, error) {
		all = append(all, pid)
		return pid - 1, nil
	})
	if err != nil || len(all) != 3 {
		t.Errorf("%v, %v", all, err)
	}
}

func TestCode(t *testing.T) {
	a, b := Code(), Code()
	if len(a) != 6 || a == b || strings.Trim(a, letters) != "" {
		t.Errorf("%q, %q", a, b)
	}
}

func TestThisTerminal(t *testing.T) {
	if s := ThisTerminal(); s.Ancestors == nil || s.Stdin == nil || len(s.Environ) == 0 {
		t.Errorf("%+v", s)
	}
}

func TestCommandLines(t *testing.T) {
	lines := CommandLines()
	if runtime.GOOS != "linux" {
		if lines != nil {
			t.Errorf("%q", lines)
		}
		return
	}
	// The first is the parent, the go command or a test's own shell.
	if len(lines) == 0 || len(lines[0]) == 0 || lines[0][0] == "" {
		t.Errorf("%q", lines)
	}
}
