package control

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestMain runs the tests. This program is also their daemon if it is started to serve, and
// a false daemon if it is to answer early.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "serve":
		time.Sleep(time.Minute)
	case len(os.Args) > 1 && os.Args[1] == "early":
		early(os.Args[2])
	}
	os.Exit(m.Run())
}

// early answers before it is asked, and then becomes the daemon with the same connection.
func early(socket string) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		err = errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: socket}), os.Chmod(socket, 0o600), syscall.Listen(fd, 1))
	}
	conn, _, aerr := syscall.Accept(fd)
	if err = errors.Join(err, aerr); err != nil {
		panic(err)
	}
	_, _ = syscall.Write(conn, CheckResult{Stdout: []byte("allow")}.Bytes())
	panic(syscall.Exec(os.Args[0], []string{os.Args[0], "serve"}, nil))
}

// An answer written before the process became the daemon is not accepted, although the
// process is the same.
func TestAnswerBeforeTheCall(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r := Remote{Path: filepath.Join(dir, "s"), Program: program}
	c := exec.Command(program, "early", r.Path)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	var l *Line
	wait(t, "listen", func() bool { l, err = r.dial(); return err == nil })
	defer l.Close()
	wait(t, "become the daemon", func() bool { return l.believe() == nil })
	if a, err := l.Check(CheckRequest{}, time.Now().Add(time.Minute)); !errors.Is(err, errNonce) {
		t.Errorf("got %q, %v", a.Stdout, err)
	}
}

func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the process does not ", what)
		}
	}
}

// A process that has ended is never mistaken for another one with the same number.
func TestEnded(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, "serve")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	p, err := processOf(int32(c.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	wait(t, "serve", func() bool { return p.serves(program) == nil })
	if err := p.runs(program); err != nil {
		t.Error(err)
	}
	if err := p.serves("/bin/sh"); !errors.Is(err, errProgram) {
		t.Error(err)
	}
	_ = c.Process.Kill()
	for _, when := range []string{"a zombie", "gone"} {
		time.Sleep(20 * time.Millisecond)
		if p.runs(program) == nil || p.serves(program) == nil {
			t.Errorf("it is believed when it is %s", when)
		}
		_ = c.Wait()
	}
}
