// Package peer knows who is at the other end of a local socket, and opens sockets at
// which one process of a user listens.
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

// peer is who is at the other end of a socket.
type peer struct{ uid, pid int }

// PID is the process at the other end: who connected, or who began to listen. It is an
// error where that is not a process of this user that can be seen.
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

// ErrTaken is the error of [Listen] where another process listens.
var ErrTaken = errors.New("another process listens there already")

// Listener listens at a socket, as the only process.
type Listener struct {
	*net.UnixListener
	path string
	lock *os.File
}

// Listen opens the socket at a path, for this user alone, in a folder that is this
// user's alone. Another process that listens there is waited for, at most for a time.
// Who listens holds a lock, which the system gives back however the process ends: what
// was left behind is no obstacle.
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
	// Who holds the lock knows that nobody listens: what lies there was left behind.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(err, lock.Close())
	}
	var l *net.UnixListener
	err = byShortName(path, func(name string) error {
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
		return err
	})
	if err == nil {
		l.SetUnlinkOnClose(false) // its name may be one that is gone by then
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

// longestName is the longest path of a socket that all systems take, in bytes: sun_path
// holds 104 on macOS, 108 on Linux, with a zero at the end (unix(4), unix(7)).
const longestName = 100

// byShortName calls use with a name of the path that the system takes for a socket.
func byShortName(path string, use func(name string) error) error {
	if len(path) <= longestName {
		return use(path)
	}
	return throughFolder(path, use)
}

// Release gives the lock back. The listener must be closed, and what it began ended.
func (l *Listener) Release() error { return l.lock.Close() }
