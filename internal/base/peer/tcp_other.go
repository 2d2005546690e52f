//go:build !linux

package peer

import (
	"errors"
	"net"
)

var errNotLocals = errors.New("this system does not tell who is at the other end of a TCP connection")

// CallerOf returns an error: this system does not report the caller.
func CallerOf(conn net.Conn) (Caller, error) {
	if _, _, err := ends(conn); err != nil {
		return Caller{}, err
	}
	return Caller{}, errNotLocals
}

// PID always returns an error.
func (c Caller) PID() (int, error) { return 0, errNotLocals }
