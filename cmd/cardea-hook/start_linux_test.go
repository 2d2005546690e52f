package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cardea.dev/internal/hook/control"
)

// settings writes the person's settings.
func (s *fixture) settings(text string) {
	s.t.Helper()
	if err := os.MkdirAll(s.home+"/.config/cardea", 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(s.home+"/.config/cardea/cardea.yaml", []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// daemonPID returns the process that listens, 0 for none.
func (s *fixture) daemonPID() int {
	pid := 0
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	defer syscall.Close(fd)
	if syscall.Connect(fd, &syscall.SockaddrUnix{Name: s.socket()}) == nil {
		if cred, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED); err == nil {
			pid = int(cred.Pid)
		}
	}
	return pid
}

// endsWithTest ends the daemon that a hook started, by its process number.
func (s *fixture) endsWithTest() {
	s.t.Cleanup(func() {
		if pid := s.daemonPID(); pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
}

// A hook that finds no daemon starts one after its answer, if the person's settings say so.
// Many hooks start only one, without the harness's variables.
func TestStartOnDemand(t *testing.T) {
	s := newFixture(t, all...)
	s.endsWithTest()
	s.denied("without the setting")
	if s.daemonPID() != 0 {
		t.Fatal("it is started although no settings say so")
	}
	// A project cannot start it.
	if err := os.MkdirAll(s.work+"/.cardea", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.work+"/.cardea/cardea.yaml", []byte("daemon: {start: true}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = s.call("cardea-hook", strings.NewReader(s.message("ls")), "--harness", "claude-code")
	if err := os.Remove(s.work + "/.cardea/cardea.yaml"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(s.home + "/.local/state/cardea/daemon-started"); err == nil || s.daemonPID() != 0 {
		t.Fatal("a project has it started")
	}
	s.settings("daemon: {start: true, idle: 1h}\n")
	s.denied("reads the settings") // by cardea-engine, which compiles them
	var calls sync.WaitGroup
	for range 32 {
		calls.Go(func() { s.denied("while it starts") })
	}
	calls.Wait()
	s.listens()
	pid := s.daemonPID()
	s.denied("the daemon is there")
	if got := s.daemonPID(); got != pid {
		t.Errorf("another daemon: %d, %d", got, pid)
	}
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		t.Fatal(err)
	}
	for v := range strings.SplitSeq(strings.TrimRight(string(environ), "\x00"), "\x00") {
		if name, _, _ := strings.Cut(v, "="); name != "HOME" && !strings.HasPrefix(name, "XDG_") {
			t.Errorf("the daemon has the variable %s", name)
		}
	}
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil || !strings.Contains(string(line), "serve\x00--idle\x001h0m0s") {
		t.Errorf("%q, %v", line, err)
	}
	// Leftovers of a killed daemon do no harm, after a while.
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); s.daemonPID() != 0 && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	s.denied("nobody listens, and one was started just now")
	if s.daemonPID() != 0 {
		t.Error("one is started at every call")
	}
	// A daemon that answers over HTTP stays.
	s.settings("daemon: {start: true, idle: 1h, http: '127.0.0.1:0'}\n")
	s.denied("reads the settings again")
	long := time.Now().Add(-time.Minute)
	if err := os.Chtimes(s.home+"/.local/state/cardea/daemon-started", long, long); err != nil {
		t.Fatal(err)
	}
	s.denied("some time later")
	s.listens()
	line, err = os.ReadFile("/proc/" + strconv.Itoa(s.daemonPID()) + "/cmdline")
	if err != nil || !strings.Contains(string(line), "serve\x00--idle\x000s") {
		t.Errorf("%q, %v", line, err)
	}
	s.denied("the next one")
}

// Of many daemons that start at the same time, one stays.
func TestRacingDaemons(t *testing.T) {
	s := newFixture(t, all...)
	s.endsWithTest()
	ended := make(chan error, 32)
	for range 32 {
		c := exec.Command(s.bin+"/cardea-engine", "serve")
		c.Dir, c.Env = s.home, s.env
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Process.Kill() })
		go func() { ended <- c.Wait() }()
	}
	for range 31 {
		select {
		case err := <-ended:
			if err == nil {
				t.Error("a daemon that is not needed ended without an error")
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("more than one daemon stays")
		}
	}
	s.listens()
	s.denied("the one")
	if len(ended) != 0 {
		t.Error("the last one ended, too")
	}
}

// doctor reports on the daemon, and install registers the hook that asks it.
func TestDoctor(t *testing.T) {
	s := newFixture(t, all...)
	doctor := func() map[string]any {
		t.Helper()
		c := exec.Command(s.bin+"/cardea", "doctor", "--json")
		c.Dir, c.Env = s.work, s.env
		out, _ := c.Output() // it ends with 1 if nothing is installed
		var all struct{ Daemon map[string]any }
		if err := json.Unmarshal(out, &all); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return all.Daemon
	}
	if d := doctor(); d["state"] != "does not run" || d["asked"] != false || d["socket"] != s.socket() {
		t.Errorf("no daemon: %v", d)
	}
	d := s.daemon()
	if d := doctor(); d["state"] != "runs" || d["why"] != "" {
		t.Errorf("the daemon: %v", d)
	}
	if err := d.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if d := doctor(); d["state"] != "does not answer" {
		t.Errorf("stopped: %v", d)
	}
	_ = d.Process.Kill()
	_ = d.Wait()
	if err := os.MkdirAll(s.home+"/.claude", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(
		s.home+"/.claude/settings.json",
		fmt.Appendf(nil, `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"%s/cardea-hook check --harness claude-code --limit 8s","timeout":10}]}]}}`, s.bin),
		0o600,
	); err != nil {
		t.Fatal(err)
	}
	if d := doctor(); d["asked"] != true {
		t.Errorf("a hook asks it: %v", d)
	}
	c := exec.Command(s.bin+"/cardea", "doctor")
	c.Dir, c.Env = s.work, s.env
	if out, _ := c.CombinedOutput(); !strings.Contains(string(out), `"rm -rf /" is denied`) || !strings.Contains(string(out), "a hook asks the daemon, and it does not run") {
		t.Errorf("%s", out)
	}
}

// A daemon that sees other files is not asked, and never uses its own files for such a caller.
func TestOtherView(t *testing.T) {
	s := newFixture(t, all...)
	try := exec.Command("unshare", "-m", "true")
	if out, err := try.CombinedOutput(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("a mount namespace is needed: %v %s", err, out)
		}
		t.Logf("not tried: no mount namespace can be made: %s", out)
		return
	}
	c := exec.Command("unshare", "-m", s.bin+"/cardea-engine", "serve")
	c.Dir, c.Env, c.Stderr = s.home, s.env, os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	s.listens()
	remote := control.Remote{Path: s.socket(), Program: s.bin + "/cardea-engine"}
	if _, err := remote.Connect(); err == nil || !strings.Contains(err.Error(), "sees other files") {
		t.Errorf("it is believed: %v", err)
	}
	s.denied("in another view")
	// The reverse: the call of a process with another view is left.
	conn, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(conn)
	if err := syscall.Connect(conn, &syscall.SockaddrUnix{Name: s.socket()}); err != nil {
		t.Fatal(err)
	}
	call := control.CheckRequest{Program: control.StampOf(remote.Program), Args: []string{"--harness", "claude-code"}, Dir: s.work, Variables: control.VariablesOf(s.env),
		Message: []byte(s.message("ls"))}
	all, err := call.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := syscall.Write(conn, all); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 1000)
	n, err := syscall.Read(conn, answer)
	if err != nil || !strings.Contains(string(answer[:n]), "sees other files") {
		t.Errorf("%q, %v", answer[:max(n, 0)], err)
	}
}
