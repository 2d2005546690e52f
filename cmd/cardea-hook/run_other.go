//go:build !linux

package main

import (
	"os"
	"path/filepath"

	"cardea.dev/internal/script"
)

// run has cardea answer: this system does not tell who listens at a socket.
func run(args []string) int {
	own, err := os.Executable()
	if err == nil {
		own, err = filepath.EvalSymlinks(own)
	}
	if err != nil {
		return blocked("cardea cannot be found: " + err.Error())
	}
	cardea := filepath.Join(filepath.Dir(own), "cardea"+filepath.Ext(own))
	code, err := script.Become(cardea, append([]string{cardea}, args...))
	if err != nil {
		return blocked(err.Error())
	}
	return code
}
