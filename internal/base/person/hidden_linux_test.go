package person

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestMain runs the processes of [TestHidden]; the first argument selects the part.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && strings.HasPrefix(os.Args[1], "part-") {
		part(os.Args[1], os.Args[2])
		return
	}
	os.Exit(m.Run())
}

// part runs one process of the test. It starts "part-seat", which writes the result of a
// Terminal to a file.
func part(name, out string) {
	self := os.Args[0]
	if name == "part-seat" {
		s := Terminal{Stdin: device{os.ModeDevice | os.ModeCharDevice}, Ancestors: aboveThis}
		_ = os.WriteFile(out+".new", fmt.Appendf(nil, "%v", s.Attending()), 0o644)
		_ = os.Rename(out+".new", out)
		return
	}
	hide := map[string]func(){
		"part-plain":  func() {},
		"part-unread": func() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) },
		"part-zero":   zeroVariables,
	}[name]
	if hide != nil {
		hide()
	}
	args := []string{"part-seat", out}
	if name == "part-start" { // the agent, which ends
		args[0] = os.Getenv("PART")
	}
	c := exec.Command(self, args...)
	c.Env = []string{"HOME=/", "PART=" + os.Getenv("PART")}
	if name == "part-start" {
		// The hiding process has the agent's variable, like a fork of the agent.
		c.Env = append(c.Env, "CLAUDECODE=1", "LATER="+fmt.Sprint(os.Getpid()))
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		_ = c.Start()
		return
	}
	for i := 0; os.Getenv("LATER") == fmt.Sprint(os.Getppid()) && i < 500; i++ {
		time.Sleep(10 * time.Millisecond) // until the agent ended
	}
	_ = c.Run()
}

// zeroVariables writes zeros over the variables with which this process was started.
func zeroVariables() {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+2:]))
	var begin, end uintptr
	_, _ = fmt.Sscan(fields[47], &begin) // env_start is field 50, of which 2 are cut off
	_, _ = fmt.Sscan(fields[48], &end)
	clear(unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&begin))), end-begin))
}

// TestHidden checks that a process of this user that hides its variables, or is in its own
// namespace, is not taken for a person's.
func TestHidden(t *testing.T) {
	folder, err := os.MkdirTemp("", "person")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	self := filepath.Join(folder, "x.test")
	data, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(self, data, 0o755); err != nil {
		t.Fatal(err)
	}
	// Root sees everything, so the test needs another user.
	user := &syscall.SysProcAttr{}
	if os.Geteuid() == 0 {
		user.Credential = &syscall.Credential{Uid: 12345, Gid: 12345}
	}
	person := Terminal{Stdin: device{os.ModeDevice | os.ModeCharDevice}, Ancestors: aboveThis}.Attending() == nil
	run := func(t *testing.T, environ []string, words ...string) string {
		out := filepath.Join(folder, strings.ReplaceAll(t.Name(), "/", "-"))
		c := exec.Command(words[0], append(words[1:], out)...)
		c.Env, c.SysProcAttr, c.Dir = append(environ, "HOME=/", "PATH="+os.Getenv("PATH")), user, "/"
		said, err := c.CombinedOutput()
		for range 1000 {
			if got, err := os.ReadFile(out); err == nil {
				return string(got)
			}
			if err != nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if words[0] == "unshare" {
			t.Skipf("unshare is missing or not permitted: %v, %s", err, said)
		}
		t.Fatalf("%v, %s", err, said)
		return ""
	}
	for _, c := range []struct {
		name, want string
		environ    []string
		words      []string
	}{
		{"a person", "<nil>", nil, []string{self, "part-seat"}},
		{"below another process", "<nil>", nil, []string{self, "part-plain"}},
		{"a variable above", "CLAUDECODE was set", []string{"CLAUDECODE=1"}, []string{self, "part-plain"}},
		{"cut off", "CLAUDECODE was set", []string{"PART=part-plain"}, []string{self, "part-start"}},
		{"cut off and not to be read", "hides its variables", []string{"PART=part-unread"}, []string{self, "part-start"}},
		{"cut off and written over", "hides its variables", []string{"PART=part-zero"}, []string{self, "part-start"}},
		{"pid 1 of a namespace", "namespace of its own", nil, []string{"unshare", "-Upf", "--mount-proc", self, "part-plain"}},
		{"with this user", "namespace of its own", nil, []string{"unshare", "-Ucpf", "--mount-proc", self, "part-plain"}},
		{"with root of it", "namespace of its own", nil, []string{"unshare", "-Urpf", "--mount-proc", self, "part-plain"}},
		{"with the old proc", "namespace of its own", []string{"CLAUDECODE=1"}, []string{"unshare", "-Ucpf", self, "part-plain"}},
		{"cut off with root of it", "CLAUDECODE was set", []string{"PART=part-unread"}, []string{"unshare", "-Ur", self, "part-start"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.want == "<nil>" && !person {
				t.Skip("an agent runs the tests")
			}
			if got := run(t, c.environ, c.words...); !strings.Contains(got, c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
