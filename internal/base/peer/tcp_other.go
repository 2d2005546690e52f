//go:build !linux

package peer

import (
	"errors"
	"net"
)

var errNotLocals = errors.New("this system does not tell who is at the other end of a TCP connection")

// CallerOf is an error: this system does not tell who connected.
func CallerOf(conn net.Conn) (Caller, error) {
	if _, _, err := ends(conn); err != nil {
		return Caller{}, err
	}
	return Caller{}, errNotLocals
}

// PID is an error here.
func (c Caller) PID() (int, error) { return 0, errNotLocals }
