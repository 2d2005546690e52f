//go:build !linux

package control

import "errors"

// StampOf returns "": this system does not report which program is at a socket's other end,
// so there is no daemon.
func StampOf(string) string { return "" }

// Listens returns false: there is no daemon.
func Listens(string) bool { return false }

// SameView returns an error: this system does not show what a process sees.
func SameView(int) error { return errors.New("this system does not tell what a process sees") }
