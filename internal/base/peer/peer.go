// Package peer identifies the process at the other end of a local socket. It also opens
// sockets at which only one process of a user listens.
package peer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"cardea.dev/internal/base/state"
)

// peer is the process at the other end of a socket.
type peer struct{ uid, pid int }

// PID returns the process at the other end, which connected or began to listen. It fails if
// that is not a visible process of this user.
func PID(conn net.Conn) (int, error) {
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, errors.New("this is no local socket")
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var p peer
	var perr error
	if err := raw.Control(func(fd uintptr) { p, perr = peerOf(int(fd)) }); err != nil {
		return 0, err
	}
	switch {
	case perr != nil:
		return 0, fmt.Errorf("it cannot be told who is at the other end: %w", perr)
	case p.uid != os.Geteuid():
		return 0, errors.New("another user is at the other end")
	case p.pid <= 0:
		return 0, errors.New("the process at the other end cannot be seen from here")
	}
	return p.pid, nil
}

// ErrTaken is the error of [Listen] if another process listens.
var ErrTaken = errors.New("another process listens there already")

// Listener is a socket at which only this process listens.
type Listener struct {
	*net.UnixListener
	path string
	lock *os.File
}

// Listen opens the socket at a path, in a folder that only this user can access. If another
// process listens there, Listen waits for at most wait. The listener holds a lock, which
// the system releases when the process ends, so leftovers of earlier processes do not
// matter.
func Listen(path string, wait time.Duration) (*Listener, error) {
	if err := state.PrivateFolder(filepath.Dir(path)); err != nil {
		return nil, err
	}
	lock, err := state.OpenLocked(path+".lock", wait)
	if errors.Is(err, state.ErrBusy) {
		return nil, ErrTaken
	}
	if err != nil {
		return nil, err
	}
	// The holder of the lock is the only listener, so an existing socket is a leftover.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(err, lock.Close())
	}
	var l *net.UnixListener
	err = byShortName(path, func(name string) error {
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
		return err
	})
	if err == nil {
		l.SetUnlinkOnClose(false) // its name may no longer exist
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listen on %s: %w", path, err), lock.Close())
	}
	return &Listener{l, path, lock}, nil
}

// Close stops listening and removes the socket.
func (l *Listener) Close() error {
	err := l.UnixListener.Close()
	if gone := os.Remove(l.path); gone != nil && !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// Dial connects to the socket at a path.
func Dial(ctx context.Context, path string) (conn net.Conn, err error) {
	err = byShortName(path, func(name string) error {
		conn, err = (&net.Dialer{}).DialContext(ctx, "unix", name)
		return err
	})
	return conn, err
}

// longestName is the maximum length in bytes of a socket path on all systems. sun_path
// holds 104 on macOS and 108 on Linux, with a zero at the end (unix(4), unix(7)).
const longestName = 100

// byShortName calls use with a name of the path that is short enough for a socket.
func byShortName(path string, use func(name string) error) error {
	if len(path) <= longestName {
		return use(path)
	}
	return throughFolder(path, use)
}

// Release releases the lock. Before, close the listener and end all of its work.
func (l *Listener) Release() error { return l.lock.Close() }
