package control

import (
	"bufio"
	"errors"
	"os"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"cardea.dev/internal/base/limit"
)

// StampOf returns the stamp of a program, which changes if the file or its content is
// replaced. It is "" if there is no such file.
func StampOf(path string) string {
	var at syscall.Stat_t
	if syscall.Stat(path, &at) != nil || at.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return ""
	}
	out := make([]byte, 0, 80)
	for _, n := range [...]int64{int64(at.Dev), int64(at.Ino), at.Size, at.Mtim.Nano(), at.Ctim.Nano()} {
		out = append(strconv.AppendInt(out, n, 10), '.')
	}
	return string(out)
}

// Remote is the daemon at a socket.
type Remote struct {
	// Path is the socket.
	Path string
	// Program is the file that must be running at the socket's other end.
	Program string
}

// The errors for a socket that is not trusted.
var (
	errFolder = errors.New("the socket's folder is open to others, or not this user's")
	errSocket = errors.New("the socket is open to others, or not this user's")
	errPeer   = errors.New("another user is at the other end of the socket")
	errTime   = errors.New("there is no time left")
)

// Listens reports whether a process listens at a socket.
func Listens(path string) bool {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil || path == "" {
		return false
	}
	defer syscall.Close(fd)
	err = syscall.Connect(fd, &syscall.SockaddrUnix{Name: path})
	return err == nil || err == syscall.EAGAIN // the queue of waiting connections is full
}

// Line is a connection to the daemon on which nothing was sent yet.
type Line struct {
	fd      int
	daemon  *process
	program string
}

// Connect connects and checks the listener: the socket and its folder belong only to this
// user, and the listening process is the program, started to serve.
func (r Remote) Connect() (*Line, error) {
	l, err := r.dial()
	if err == nil {
		err = l.believe()
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// dial connects. The caller must close the line even if dial fails.
func (r Remote) dial() (*Line, error) {
	dir := r.Path
	for dir != "" && dir[len(dir)-1] != '/' {
		dir = dir[:len(dir)-1]
	}
	l := &Line{fd: -1, program: r.Program}
	if !private(dir+".", syscall.S_IFDIR) {
		return l, errFolder
	}
	if !private(r.Path, syscall.S_IFSOCK) {
		return l, errSocket
	}
	var err error
	if l.fd, err = syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0); err != nil {
		return l, err
	}
	// The kernel adds the sender to data only if this is set before connecting.
	if err := errors.Join(l.within(limit.DaemonSilence), syscall.SetsockoptInt(l.fd, syscall.SOL_SOCKET, syscall.SO_PASSCRED, 1)); err != nil {
		return l, err
	}
	return l, syscall.Connect(l.fd, &syscall.SockaddrUnix{Name: r.Path})
}

// within limits the time of each read and write.
func (l *Line) within(d time.Duration) error {
	t := syscall.NsecToTimeval(int64(max(d, time.Millisecond)))
	return errors.Join(syscall.SetsockoptTimeval(l.fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &t), syscall.SetsockoptTimeval(l.fd, syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &t))
}

// Close ends the connection.
func (l *Line) Close() {
	if l.daemon != nil {
		_ = syscall.Close(l.daemon.folder)
	}
	_ = syscall.Close(l.fd)
}

// private reports whether a file of this kind belongs to this user, without access for others.
func private(path string, kind uint32) bool {
	var at syscall.Stat_t
	return syscall.Lstat(path, &at) == nil && at.Mode&syscall.S_IFMT == kind && int(at.Uid) == os.Geteuid() && at.Mode&0o077 == 0
}

// believe checks the process that listens.
func (l *Line) believe() error {
	cred, err := syscall.GetsockoptUcred(l.fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil {
		return err
	}
	if int(cred.Uid) != os.Geteuid() || cred.Pid <= 0 {
		return errPeer
	}
	if l.daemon, err = processOf(cred.Pid); err != nil {
		return err
	}
	return l.daemon.serves(l.program)
}

// Check asks the daemon.
func (r Remote) Check(c CheckRequest, until time.Time) (CheckResult, error) {
	l, err := r.Connect()
	if err != nil {
		return CheckResult{}, err
	}
	defer l.Close()
	return l.Check(c, until)
}

// Check sends a call and waits for the answer until a time, as long as the daemon shows
// that it works. The answer is valid if the daemon wrote all of it after the call, and
// still runs the same program.
func (l *Line) Check(c CheckRequest, until time.Time) (CheckResult, error) {
	var nonce [16]byte
	if _, _, err := unix.Syscall(unix.SYS_GETRANDOM, uintptr(unsafe.Pointer(&nonce)), unsafe.Sizeof(nonce), 0); err != 0 {
		return CheckResult{}, err
	}
	c.Nonce = string(nonce[:])
	all, err := c.Bytes()
	if err != nil {
		return CheckResult{}, err
	}
	timed := &timed{l, until}
	for len(all) > 0 {
		n, err := timed.Write(all)
		if err != nil {
			return CheckResult{}, err
		}
		all = all[n:]
	}
	a, err := ReadAnswer(bufio.NewReader(timed))
	if err == nil && a.Nonce != c.Nonce {
		err = errNonce
	}
	if err == nil {
		err = l.daemon.runs(l.program) // checked again
	}
	return a, err
}

// timed is a line that is used only until a time.
type timed struct {
	*Line
	until time.Time
}

func (t *timed) left() error {
	left := time.Until(t.until)
	switch {
	case left <= 0:
		return errTime
	case left < limit.DaemonSilence:
		return t.within(left)
	}
	return nil
}

func (t *timed) Write(p []byte) (int, error) {
	for {
		if err := t.left(); err != nil {
			return 0, err
		}
		// A closed connection must be an error, not a signal.
		n, err := syscall.SendmsgN(t.fd, p, nil, nil, syscall.MSG_NOSIGNAL)
		if err != syscall.EINTR {
			return n, err
		}
	}
}

// Read reads what the daemon wrote, until the time is up. It fails if another process wrote.
func (t *timed) Read(p []byte) (int, error) {
	for {
		if err := t.left(); err != nil {
			return 0, err
		}
		n, writer, err := receive(t.fd, p)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, err
		case n > 0 && writer != t.daemon.pid:
			return 0, errWriter
		case n == 0:
			return 0, errEnded
		default:
			return n, nil
		}
	}
}

var errEnded = errors.New("the daemon ended the connection")
