//go:build unix

package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGuarded(t *testing.T) {
	dir := t.TempDir()
	own := write(t, filepath.Join(dir, "own"), "")
	open := write(t, filepath.Join(dir, "open"), "")
	if err := os.Chmod(open, 0o666); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if why := Guarded(own); why != "" {
			t.Errorf("root's own: %s", why)
		}
		if why := Guarded(open); !strings.Contains(why, "chmod go-w") {
			t.Errorf("open: %q", why)
		}
		if err := os.Chown(own, 12345, 0); err != nil {
			t.Fatal(err)
		}
	}
	if why := Guarded(own); !strings.Contains(why, "chown root") {
		t.Errorf("somebody's: %q", why)
	}
	if why := Guarded(filepath.Join(dir, "none")); why != "" {
		t.Errorf("nothing: %s", why)
	}
}
