package state

import "errors"

// errNoSockets is the error of functions that need sockets with a known owner.
var errNoSockets = errors.New("on Windows it cannot be told who listens to a socket, so none is used")

// PrivateFolder returns errNoSockets.
func PrivateFolder(string) error { return errNoSockets }

// PrivateSocket returns errNoSockets.
func PrivateSocket(string) error { return errNoSockets }

// PrivateFile returns errNoSockets.
func PrivateFile(string) error { return errNoSockets }
