package peer

import (
	"errors"
	"net"
	"net/netip"
)

// Caller is the other end of a TCP connection within this machine.
type Caller struct {
	// UID is the user that opened the socket.
	UID int
	// socket identifies the socket for PID on Linux.
	socket string
}

var (
	errNotTCP   = errors.New("this is no TCP connection")
	errLoopback = errors.New("the other end of the connection is on another machine")
)

// ends returns both ends of a connection: the caller's and this process's. It fails for
// other machines.
func ends(conn net.Conn) (caller, here netip.AddrPort, err error) {
	far, ok := conn.RemoteAddr().(*net.TCPAddr)
	near, too := conn.LocalAddr().(*net.TCPAddr)
	if !ok || !too {
		return caller, here, errNotTCP
	}
	caller, here = far.AddrPort(), near.AddrPort()
	caller = netip.AddrPortFrom(caller.Addr().Unmap().WithZone(""), caller.Port())
	here = netip.AddrPortFrom(here.Addr().Unmap().WithZone(""), here.Port())
	if !caller.Addr().IsLoopback() || !here.Addr().IsLoopback() {
		return caller, here, errLoopback
	}
	return caller, here, nil
}
