package project

import (
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
)

// ThisMachine asks the machine that the process runs on.
func ThisMachine(env func(string) string) Machine {
	return Machine{OS: runtime.GOOS, Env: env, Home: passwordHome, User: passwordName, Foreign: Foreign,
		System: programData(env), Guarded: func(string) string { return "" }}
}

// programData is Cardea's folder in ProgramData. The project can set the
// variable, so only a ProgramData at the top of a drive is believed. Who may
// write there is the administrator's business: access lists are not read.
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

// Foreign is false: profile folders are closed to other users by their access
// lists, which the standard library does not read.
func Foreign(string) bool { return false }
