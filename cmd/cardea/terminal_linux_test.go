package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"golang.org/x/sys/unix"
)

// terminal is a pseudo-terminal with a program, and its screen.
type terminal struct {
	t      *testing.T
	master *os.File
	screen *vt.SafeEmulator
	ended  chan error
}

// onTerminal starts a program on a new terminal.
func onTerminal(t *testing.T, c *exec.Cmd, width, height int) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = master.Close() })
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	err = errors.Join(err, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0),
		unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(height), Col: uint16(width)}))
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, master: master, screen: vt.NewSafeEmulator(width, height), ended: make(chan error, 1)}
	go func() { _, _ = io.Copy(x.screen, master) }()
	go func() { _, _ = io.Copy(master, x.screen) }() // the terminal's replies
	go func() { x.ended <- c.Wait() }()
	t.Cleanup(func() { _ = c.Process.Kill() })
	return x
}

// text returns the text on the screen, without blanks at the ends of lines.
func (x *terminal) text() string {
	// Render takes the screen's lock, String does not.
	lines := strings.Split(ansi.Strip(x.screen.Render()), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \r")
	}
	return strings.Join(lines, "\n")
}

// waits waits until all texts are on the screen.
func (x *terminal) waits(wants ...string) string {
	x.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		got, missing := x.text(), ""
		for _, want := range wants {
			if !strings.Contains(got, want) {
				missing = want
			}
		}
		switch {
		case missing == "":
			return got
		case time.Now().After(end):
			x.t.Fatalf("no %q on the screen:\n%s", missing, got)
		}
	}
}

// types presses keys.
func (x *terminal) types(keys string) {
	x.t.Helper()
	if _, err := io.WriteString(x.master, keys); err != nil {
		x.t.Fatal(err)
	}
}

// ends waits until the program has ended.
func (x *terminal) ends() {
	x.t.Helper()
	select {
	case err := <-x.ended:
		if err != nil {
			x.t.Errorf("it ended with %v:\n%s", err, x.text())
		}
	case <-time.After(time.Minute):
		x.t.Fatalf("it does not end:\n%s", x.text())
	}
}
