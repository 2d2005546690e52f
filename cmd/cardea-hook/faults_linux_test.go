package main

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cardea.dev/internal/testing/testrun"
)

// chaos is a daemon that suffers faults.
type chaos struct {
	*fixture
	r      *rand.Rand
	daemon *exec.Cmd
}

// begin starts a daemon, and waits until it listens.
func (c *chaos) begin() {
	c.daemon = exec.Command(c.bin+"/cardea-engine", "serve")
	c.daemon.Dir, c.daemon.Env = c.home, c.env
	if err := c.daemon.Start(); err != nil {
		c.t.Error(err)
		return
	}
	c.listens()
}

func (c *chaos) kill() {
	_ = c.daemon.Process.Kill()
	_ = c.daemon.Wait()
}

func (c *chaos) moment(most time.Duration) { time.Sleep(time.Duration(c.r.Int64N(int64(most)))) }

// happen causes one fault, and repairs it.
func (c *chaos) happen() {
	c.moment(30 * time.Millisecond)
	switch c.r.IntN(4) {
	case 0, 1:
		c.kill()
		c.moment(20 * time.Millisecond)
		c.begin()
	case 2:
		_ = c.daemon.Process.Signal(syscall.SIGSTOP)
		c.moment(800 * time.Millisecond)
		_ = c.daemon.Process.Signal(syscall.SIGCONT)
	case 3:
		// Another program listens instead, and never answers.
		c.kill()
		_ = os.Remove(c.socket())
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		if err == nil {
			err = errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: c.socket()}), os.Chmod(c.socket(), 0o600), syscall.Listen(fd, 100))
		}
		if err != nil {
			c.t.Error(err)
		}
		c.moment(50 * time.Millisecond)
		_ = syscall.Close(fd)
		c.begin()
	}
}

// If a fault hits the daemon during calls, each call gets the right answer in time.
func TestFaults(t *testing.T) {
	c := &chaos{fixture: newFixture(t, all...), r: rand.New(rand.NewPCG(18, 5))}
	c.begin()
	defer func() { c.kill() }()
	var left, happened atomic.Int64
	left.Store(int64(testrun.Pick(80, 1000)))
	const limit = 20 * time.Second // for a busy machine
	var calls sync.WaitGroup
	for range 4 {
		calls.Go(func() {
			for left.Add(-1) >= 0 || happened.Load() < 5 {
				begin := time.Now()
				deny, what := left.Load()%2 == 0, "ls"
				if deny {
					what = "git push --force origin main"
				}
				got := c.call("cardea-hook", strings.NewReader(c.message(what)), "--harness", "claude-code", "--limit", limit.String())
				if want := map[bool]string{true: "deny", false: "allow"}[deny]; got.exit != 0 || !strings.Contains(got.out, `"permissionDecision":"`+want+`"`) || strings.Count(got.out, "\n") != 1 {
					t.Errorf("%s: %+v", what, got)
				}
				if took := time.Since(begin); took > limit {
					t.Errorf("%s: answered after %s", what, took)
				}
			}
		})
	}
	over := make(chan struct{})
	go func() { calls.Wait(); close(over) }()
	for ; ; happened.Add(1) {
		select {
		case <-over:
			return
		default:
			c.happen()
		}
	}
}

// A full disk changes no answer, with the daemon and without.
func TestFullDisk(t *testing.T) {
	s := newFixture(t, all...)
	state := s.home + "/.local/state"
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("none", state, "tmpfs", 0, "size=64k"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("a small file system is needed, which root may mount: %v", err)
		}
		t.Logf("not tried: a small file system cannot be mounted: %v", err)
		return
	}
	t.Cleanup(func() { _ = syscall.Unmount(state, syscall.MNT_DETACH) })
	s.daemon()
	s.denied("some room")
	fill, err := os.Create(filepath.Join(state, "fill"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fill.Write(bytes.Repeat([]byte("x"), 1<<20)); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	_ = fill.Close()
	for _, program := range []string{"cardea-hook", "cardea", "cardea-hook"} {
		for what, want := range map[string]string{"git push --force origin main": "deny", "ls": "allow"} {
			got := s.call(program, strings.NewReader(s.message(what)), "--harness", "claude-code", "--limit", "1m")
			if got.exit != 0 || !strings.Contains(got.out, `"permissionDecision":"`+want+`"`) {
				t.Errorf("%s: %s: %+v", program, what, got)
			}
		}
	}
	if err := os.Remove(fill.Name()); err != nil {
		t.Fatal(err)
	}
	s.denied("room again")
}
