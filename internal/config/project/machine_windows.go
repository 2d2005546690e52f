package project

import (
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
)

// ThisMachine returns the Machine of this process.
func ThisMachine(env func(string) string) Machine {
	return Machine{OS: runtime.GOOS, Env: env, Home: passwordHome, User: passwordName, Foreign: Foreign,
		System: programData(env), Guarded: func(string) string { return "" }}
}

// programData returns Cardea's folder in ProgramData. A project can set the variable, so
// only a ProgramData at the top of a drive is trusted. Access lists are not read: the
// administrator decides who may write there.
func programData(env func(string) string) string {
	dir := filepath.Clean(env("ProgramData"))
	if len(dir) == len(`C:\ProgramData`) && strings.EqualFold(dir[1:], `:\ProgramData`) {
		return filepath.Join(dir, "cardea")
	}
	return `C:\ProgramData\cardea`
}

func passwordHome() (string, error) {
	u, err := user.Current()
	if err != nil {
		return "", err
	}
	return u.HomeDir, nil
}

func passwordName() (string, error) {
	u, err := user.Current()
	if err != nil {
		return "", err
	}
	return u.Username, nil
}

// Foreign returns false: access lists, which the standard library does not read, close
// profile folders to other users.
func Foreign(string) bool { return false }
