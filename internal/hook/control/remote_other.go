//go:build !linux

package control

import "errors"

// StampOf is "": this system does not tell which program is at the other end of a socket,
// so there is no daemon.
func StampOf(string) string { return "" }

// Listens is false: there is no daemon.
func Listens(string) bool { return false }

// SameView is an error: this system does not tell.
func SameView(int) error { return errors.New("this system does not tell what a process sees") }
