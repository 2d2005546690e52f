package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"cardea.dev/internal/hook/control"
)

// falseDaemon builds the false daemon.
func falseDaemon(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fake")
	build := exec.Command("go", "build", "-o", path, "./testdata/fake")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// starts starts a program with more variables and an open standard input.
func (s *fixture) starts(words []string, more ...string) *exec.Cmd {
	s.t.Helper()
	c := exec.Command(words[0], words[1:]...)
	c.Dir, c.Env, c.Stderr = s.home, append(s.env[:len(s.env):len(s.env)], more...), os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := c.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = in.Close(); s.ends(c) })
	return c
}

// ends ends a program and its children, and removes the socket.
func (s *fixture) ends(c *exec.Cmd) {
	_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	_ = c.Wait()
	_ = os.Remove(s.socket())
}

// becomes waits until a process runs a program.
func (s *fixture) becomes(pid int, program string) {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if at, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe"); err == nil && at == program {
			return
		}
		if time.Now().After(end) {
			s.t.Fatal("the false daemon does not become ", program)
		}
	}
}

// A false daemon that becomes the true program is not trusted, whichever of its processes
// answers. The true daemon is trusted afterwards.
func TestFalseDaemon(t *testing.T) {
	fake := falseDaemon(t)
	for name, words := range map[string][]string{
		"another command":               {"child", "mcp"},
		"a child's work":                {"child", "policies"},
		"serves elsewhere":              {"elsewhere", "serve"},
		"serves elsewhere with options": {"elsewhere", "serve", "--idle", "1h", "--log", "-"},
		"passes the connection on":      {"passed", "mcp"},
		"passes on, and serves":         {"passed", "serve", "--idle=1h"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t, all...)
			engine := s.bin + "/cardea-engine"
			c := s.starts(append([]string{fake, words[0], engine, engine}, words[1:]...))
			s.listensAt()
			s.becomes(c.Process.Pid, engine)
			s.denied(name)
			s.ends(c)
			s.daemon()
			if err := os.Remove(s.bin + "/cardea"); err != nil {
				t.Fatal(err)
			}
			s.denied("the true daemon, alone")
		})
	}
}

// listensAt waits for the socket, without connecting.
func (s *fixture) listensAt() {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if info, err := os.Lstat(s.socket()); err == nil && info.Mode().Perm() == 0o600 {
			return
		}
		if time.Now().After(end) {
			s.t.Fatal("nobody listens")
		}
	}
}

// The true program is not trusted if the process that started it may make it do other things.
func TestTrueProgramInFalseHands(t *testing.T) {
	fake := falseDaemon(t)
	s := newFixture(t, all...)
	engine := s.bin + "/cardea-engine"
	other := s.dir + "/other"
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(engine, other+"/cardea-engine"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(engine, other+"/linked"); err != nil {
		t.Fatal(err)
	}
	as := func(name string, words ...string) []string {
		return append([]string{"bash", "-c", `exec -a "$0" "$@"`, name, engine}, words...)
	}
	for _, c := range []struct {
		why   string
		words []string
		more  []string
	}{
		{"another program", []string{other + "/cardea-engine", "serve"}, nil},
		{"not started as", as(other+"/cardea", "serve"), nil},
		{"not started as", as("serve", "serve"), nil},
		{"not started as", as("", "serve"), nil},
		{"not started as", []string{other + "/linked", "serve"}, nil},
		{"load other code", []string{engine, "serve"}, []string{"LD_PRELOAD=/x.so"}},
		{"load other code", []string{engine, "serve"}, []string{strings.Repeat("A", 10000) + "=1", "LD_AUDIT=/x.so"}},
		{"too many", []string{engine, "serve"}, []string{strings.Repeat("A", 100000) + "=1", "LD_AUDIT=/x.so"}},
		{"load other code", []string{engine, "serve"}, []string{"GLIBC_TUNABLES=x"}},
		{"filter of system calls", []string{fake, "filter", engine, engine, "serve"}, nil},
		{"", []string{engine, "serve"}, nil},
		{"", []string{s.bin + "/cardea", "serve"}, []string{"LD_PRELOAD="}},
	} {
		d := s.starts(c.words, c.more...)
		s.listensAt()
		err := s.believes()
		if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%q %.50q: %v", c.words, c.more, err)
		}
		s.denied(c.why)
		s.ends(d)
	}
}

func (s *fixture) believes() error {
	line, err := control.Remote{Path: s.socket(), Program: s.bin + "/cardea-engine"}.Connect()
	if err == nil {
		line.Close()
	}
	return err
}

// A daemon is not trusted while it is debugged.
func TestDebugged(t *testing.T) {
	s := newFixture(t, all...)
	d := s.daemon()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := syscall.PtraceAttach(d.Process.Pid); err != nil {
		t.Skip("no process can be debugged: ", err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(d.Process.Pid, &status, 0, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.believes(); err == nil || !strings.Contains(err.Error(), "debugger") {
		t.Errorf("it is believed: %v", err)
	}
	s.denied("debugged")
	if err := syscall.PtraceDetach(d.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if err := s.believes(); err != nil {
		t.Error(err)
	}
}
