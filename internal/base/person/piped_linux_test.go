package person

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"unsafe"
)

// TestPiped checks that a process that reads from a pipe is distinguished from one at a
// terminal.
func TestPiped(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	_, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	for name, want := range map[string]bool{"pipe": true, "nothing": true, "terminal": false} {
		c := exec.Command("sleep", "30")
		switch name {
		case "pipe":
			if _, err := c.StdinPipe(); err != nil {
				t.Fatal(err)
			}
		case "terminal":
			var n, unlock int32
			raw, err := terminal.SyscallConn()
			if err != nil {
				t.Fatal(err)
			}
			if err := raw.Control(func(fd uintptr) {
				_, _, e := syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCSPTLCK, uintptr(unsafe.Pointer(&unlock)))
				_, _, e2 := syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCGPTN, uintptr(unsafe.Pointer(&n)))
				if e != 0 || e2 != 0 {
					t.Error(e, e2)
				}
			}); err != nil {
				t.Fatal(err)
			}
			terminal, err := os.OpenFile("/dev/pts/"+strconv.Itoa(int(n)), os.O_RDWR|syscall.O_NOCTTY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer terminal.Close()
			c.Stdin, c.Stdout = terminal, terminal
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if got := PipedFrom(c.Process.Pid)(0); got != want {
			t.Errorf("%s: %v", name, got)
		}
		if got := AtTerminal(c.Process.Pid); got == want {
			t.Errorf("%s: at a terminal: %v", name, got)
		}
		if err := c.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = c.Wait()
	}
	if PipedFrom(os.Getpid())(maxAncestors + 1) {
		t.Error("a process that is not there")
	}
}
