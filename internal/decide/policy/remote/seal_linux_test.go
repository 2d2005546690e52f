package remote

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The process inherits two pipes only: no variables, no open files, no working folder of
// the agent.
func TestNothingIsInherited(t *testing.T) {
	t.Setenv("CARDEA_SECRET", "x")
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Open(secret, syscall.O_RDONLY, 0) // without O_CLOEXEC
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	e := client(t, Program)
	if _, err := e.Parse(within(t, time.Minute), files()); err != nil {
		t.Fatal(err)
	}
	proc := fmt.Sprintf("/proc/%d/", e.child.Pid())
	if env, err := os.ReadFile(proc + "environ"); err != nil || strings.Contains(string(env), "=") {
		t.Errorf("environment %q, %v", env, err)
	}
	if dir, err := os.Readlink(proc + "cwd"); err != nil || dir == "" || strings.Contains(dir, "policy/remote") {
		t.Errorf("in %s, %v", dir, err)
	}
	open, err := os.ReadDir(proc + "fd")
	if err != nil || len(open) < 3 {
		t.Fatal(open, err)
	}
	for _, f := range open {
		if to, _ := os.Readlink(proc + "fd/" + f.Name()); to == secret || f.Name() == "2" && to != os.DevNull {
			t.Errorf("%s is %s", f.Name(), to)
		}
	}
}
