package peer

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestListenFarDown checks a state folder whose path is longer than a socket path may be.
func TestListenFarDown(t *testing.T) {
	for name, dir := range map[string]string{"short": "run", "long": strings.Repeat("deep/", 60) + "run"} {
		t.Run(name, func(t *testing.T) {
			base := filepath.Join(t.TempDir(), dir)
			path := filepath.Join(base, "socket")
			l, err := Listen(path, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Release()
			if info, err := os.Lstat(path); err != nil || info.Mode() != os.ModeSocket|0o600 {
				t.Fatalf("the socket is %v, %v", info, err)
			}
			conn, err := Dial(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if pid, err := PID(conn); err != nil || pid != os.Getpid() {
				t.Errorf("process %d listens, %v", pid, err)
			}
			if _, err := Listen(path, 0); !errors.Is(err, ErrTaken) {
				t.Errorf("a second one listens, too: %v", err)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if left, err := filepath.Glob(filepath.Join(base, "*")); err != nil || len(left) != 1 {
				t.Errorf("%q is left, %v", left, err)
			}
		})
	}
}
