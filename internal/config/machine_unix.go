//go:build unix

package config

import (
	"os"
	"os/user"
	"runtime"
	"strconv"
	"syscall"
)

// ThisMachine asks the machine that the process runs on.
func ThisMachine(env func(string) string) Machine {
	return Machine{OS: runtime.GOOS, Env: env, Home: passwordHome, Foreign: Foreign}
}

// passwordHome looks the user id up; user.Current would believe HOME.
func passwordHome() (string, error) {
	u, err := user.LookupId(strconv.Itoa(os.Geteuid()))
	if err != nil {
		return "", err
	}
	return u.HomeDir, nil
}

// Foreign reports whether a path exists and belongs to another user.
func Foreign(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) != os.Geteuid()
}

// openFile opens a file without waiting, since a pipe in the place of a file
// would hang the hook.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}
