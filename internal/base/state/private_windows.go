package state

import "errors"

// errNoSockets is the error of what needs sockets whose owner can be known.
var errNoSockets = errors.New("on Windows it cannot be told who listens to a socket, so none is used")

// PrivateFolder is an error: see errNoSockets.
func PrivateFolder(string) error { return errNoSockets }

// PrivateSocket is an error: see errNoSockets.
func PrivateSocket(string) error { return errNoSockets }

// PrivateFile is an error: see errNoSockets.
func PrivateFile(string) error { return errNoSockets }
