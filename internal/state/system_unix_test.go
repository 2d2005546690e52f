//go:build unix

package state

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A pipe or a device in the place of a file holds nobody.
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
	// Only root may read this one, which waits for the kernel to say something.
	for range 100 {
		if _, err := ReadLinked("/proc/kmsg", 1<<20); err != nil {
			break
		}
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}
