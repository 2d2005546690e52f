package config

import (
	"os"
	"os/user"
	"runtime"
)

// ThisMachine asks the machine that the process runs on.
func ThisMachine(env func(string) string) Machine {
	return Machine{OS: runtime.GOOS, Env: env, Home: passwordHome, Foreign: Foreign}
}

func passwordHome() (string, error) {
	u, err := user.Current()
	if err != nil {
		return "", err
	}
	return u.HomeDir, nil
}

// Foreign is false: profile folders are closed to other users by their access
// lists, which the standard library does not read.
func Foreign(string) bool { return false }

// openFile opens a file. There are no pipes in folders here.
func openFile(path string) (*os.File, error) { return os.Open(path) }
