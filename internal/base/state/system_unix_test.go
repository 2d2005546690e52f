//go:build unix

package state

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestPipesAndDevices checks that a pipe or device in the place of a file does not block
// readers.
func TestPipesAndDevices(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	for _, path := range []string{pipe, os.DevNull, "/dev/zero"} {
		for _, flag := range []int{os.O_RDONLY, os.O_WRONLY | os.O_APPEND, os.O_RDWR | os.O_CREATE} {
			if _, _, err := Open(path, flag); !errors.Is(err, ErrNotRegular) {
				t.Errorf("%s: %v", path, err)
			}
		}
		if _, err := Names(path, 10); !errors.Is(err, ErrNotFolder) {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := ReadLinked(path, 10); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", path, err)
		}
	}
	// Only root may read this file, which blocks until the kernel has a message.
	for range 100 {
		if _, err := ReadLinked("/proc/kmsg", 1<<20); err != nil {
			break
		}
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestReadProc checks that a file that Linux returns in one piece is read as a whole, for
// any length.
func TestReadProc(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no /proc")
	}
	for _, n := range []int{0, 1, 2 << 10, 5000, 70_000} {
		c := exec.Command("/bin/sh", "-c", "read x", strings.Repeat("x", n))
		in, err := c.StdinPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		path := fmt.Sprintf("/proc/%d/cmdline", c.Process.Pid)
		want, err := os.ReadFile(path)
		for end := time.Now().Add(10 * time.Second); err == nil && len(want) < n+len("read x") && time.Now().Before(end); {
			time.Sleep(time.Millisecond) // the command line is set a moment after the start
			want, err = os.ReadFile(path)
		}
		got, err2 := ReadProc(path, 1<<20)
		if err != nil || err2 != nil || string(got) != string(want) || len(got) < n {
			t.Errorf("%d bytes of %d, %v, %v", len(got), len(want), err, err2)
		}
		if _, err := ReadProc(path, int64(len(want)-1)); err == nil {
			t.Errorf("%d bytes are more than the limit", len(want))
		}
		_ = in.Close()
		_ = c.Wait()
	}
}
