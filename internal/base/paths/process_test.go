package paths

import (
	"strings"
	"testing"
)

func TestThroughProcess(t *testing.T) {
	for _, c := range []struct {
		name, at, rest string
		of             Process
	}{
		{"/proc/self/cwd/.env", "/w/p/.env", "", OwnProcess},
		{"/proc/self/cwd", "/w/p", "", OwnProcess},
		{"/proc/self/cwd/../x", "/w/x", "", OwnProcess},
		{"//proc/./self//cwd/", "/w/p", "", OwnProcess},
		{"/proc/thread-self/cwd/x", "/w/p/x", "", OwnProcess},
		{"/proc/self/task/12/cwd/x", "/w/p/x", "", OwnProcess},
		{"/proc/self/root/etc/x", "/etc/x", "", OwnProcess},
		{"/proc/self/root", "/", "", OwnProcess},
		{"/proc/self/root/proc/self/cwd/x", "/w/p/x", "", OwnProcess},
		{"/x/../proc/self/cwd/x", "/w/p/x", "", OwnProcess},
		{"/dev/fd/../cwd/x", "/w/p/x", "", OwnProcess},
		{"/proc/12/cwd/../x", "/w/x", "../x", OtherProcess},
		{"/proc/$$/cwd/x", "/w/p/x", "x", OtherProcess},
		{"/proc/12/root/etc/x", "/etc/x", "etc/x", OtherProcess},
		{"/proc/self/fd/3/x", "/w/p/x", "x", OtherProcess},
		{"/dev/fd/3/../x", "/w/x", "../x", OtherProcess},
		{"/dev/stdin/x", "/w/p/x", "x", OtherProcess},
		{"/proc/self/status", "/proc/self/status", "", NoProcess},
		{"/proc/self/cwd2/x", "/proc/self/cwd2/x", "", NoProcess},
		{"/proc/self/cwd/../../proc/self/status", "/proc/self/status", "", OwnProcess},
		{"/home/proc/self/cwd/x", "/home/proc/self/cwd/x", "", NoProcess},
		{"/dev/null", "/dev/null", "", NoProcess},
		{"/dev/fd/3", "/proc/self/fd/3", "", NoProcess},
		{"/w/p/x", "/w/p/x", "", NoProcess},
	} {
		at, rest, of := ThroughProcess(c.name, "/w/p", false)
		if of != c.of || rest != c.rest || of != NoProcess && at != c.at {
			t.Errorf("%s: %q, %q, %d", c.name, at, rest, of)
		}
	}
	if at, _, _ := ThroughProcess("/proc/self/cwd/x", "", false); at != "" {
		t.Errorf("in a folder that is not known: %q", at)
	}
	if _, _, of := ThroughProcess("/p*/*/c?d/x", "/w", true); of != OtherProcess {
		t.Error("a pattern names no link")
	}
	if _, _, of := ThroughProcess("/proc/self/cwd/"+strings.Repeat("a/", maxPath), "/w", true); of != NoProcess {
		t.Error("no system opens a path of that length")
	}
	for name, is := range map[string]bool{"/dev/fd/3": true, "/dev/stdin": true, "/proc/self/fd/3": true, "/proc/12/fd/3": true, "/proc/12/fdinfo/3": false, "/dev/tty": false} {
		if IsDescriptor(name) != is {
			t.Errorf("%s: %v", name, !is)
		}
	}
}
