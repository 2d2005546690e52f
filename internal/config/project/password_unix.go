//go:build unix && !darwin

package project

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"cardea.dev/internal/base/state"
)

// The password file is read here instead of with os/user. With os/user, the Go tool links
// the C library if a C compiler is present. Then LD_PRELOAD, which a project's settings can
// set, loads code into the gate.

// passwordFile lists the users of this machine (passwd(5)). maxPasswords is its maximum
// size in bytes.
const (
	passwordFile = "/etc/passwd"
	maxPasswords = 16 << 20
)

// passwordHome returns the home folder of this process's user.
func passwordHome() (string, error) { return passwordEntry(5) }

// passwordName returns the login name of the same entry.
func passwordName() (string, error) { return passwordEntry(0) }

// passwordEntry returns a field of the first line with this process's user id.
func passwordEntry(field int) (string, error) {
	data, err := state.ReadLinked(passwordFile, maxPasswords)
	if err != nil {
		return "", err
	}
	return entryIn(data, os.Geteuid(), field)
}

func entryIn(data []byte, uid, field int) (string, error) {
	const fields, number = 7, 2
	want := strconv.Itoa(uid)
	for line := range bytes.Lines(data) {
		f := strings.Split(strings.TrimSuffix(string(line), "\n"), ":")
		if len(f) == fields && f[number] == want && f[0] != "" && f[0][0] != '+' && f[0][0] != '-' {
			return f[field], nil
		}
	}
	return "", fmt.Errorf("%s has no user %d", passwordFile, uid)
}
