//go:build unix

package project

import (
	"os"
	"runtime"
	"syscall"
)

// ThisMachine returns the Machine of this process.
func ThisMachine(env func(string) string) Machine {
	return Machine{OS: runtime.GOOS, Env: env, Home: passwordHome, User: passwordName, Foreign: Foreign,
		System: "/etc/cardea", Guarded: Guarded}
}

// Guarded returns why a path is not the system's own, or "": an owner other than root, or a
// mode that lets others write. A missing path has no owner, so it returns "".
func Guarded(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid != 0 {
		return "does not belong to root; run: chown root " + path
	}
	if info.Mode().Perm()&0o022 != 0 {
		return "can be written by others than root; run: chmod go-w " + path
	}
	return ""
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
