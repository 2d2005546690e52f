//go:build unix && !darwin

package project

import (
	"os"
	"os/user"
	"strconv"
	"testing"
)

// TestPasswords compares the entry with that of the system's own reader.
func TestPasswords(t *testing.T) {
	u, err := user.LookupId(strconv.Itoa(os.Geteuid()))
	if err != nil {
		t.Fatal(err)
	}
	if home, err := passwordHome(); home != u.HomeDir || err != nil {
		t.Errorf("the home is %q, %v; it should be %q", home, err, u.HomeDir)
	}
	if name, err := passwordName(); name != u.Username || err != nil {
		t.Errorf("the name is %q, %v; it should be %q", name, err, u.Username)
	}
	file := []byte("# comment\nshort:x:7\n+nis:x:7:7::/nis:/bin/sh\na:x:70:7::/other:/bin/sh\nb:x:7:7:B,,:/home/b:/bin/sh\nc:x:7:7::/home/c:/bin/sh")
	if home, err := entryIn(file, 7, 5); home != "/home/b" || err != nil {
		t.Errorf("%q, %v", home, err)
	}
	if _, err := entryIn(file, 8, 5); err == nil {
		t.Error("a user that is not there is found")
	}
}
