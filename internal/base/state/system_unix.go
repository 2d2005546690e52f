//go:build unix

package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The system refuses to follow a link, and to wait for the other end of a pipe.
const (
	noFollow = syscall.O_NOFOLLOW
	noWait   = syscall.O_NONBLOCK
	safeOpen = true
)

// openFolder opens a folder. The system refuses to open a pipe in its place before it
// waits for one. It is not asked whether it can tell of changes in
// it, as os.OpenFile does with four calls.
func openFolder(path string) (*os.File, error) {
	fd, err := 0, error(nil)
	if err = retry(func() error {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_DIRECTORY, 0)
		return err
	}); err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// lookAt tells whether a link is there, or a folder. An error says that nothing is, or
// that it cannot be known.
func lookAt(path string) (link, folder bool, err error) {
	var at unix.Stat_t
	err = retry(func() error { return unix.Lstat(path, &at) })
	kind := at.Mode & unix.S_IFMT
	return err == nil && kind == unix.S_IFLNK, err == nil && kind == unix.S_IFDIR, err
}

// read reads a regular file with as few calls to the system as it takes: the hook
// reads dozens of files at every call, and a file that waits for events costs
// twice as many.
func read(path string, linked bool, limit int64) ([]byte, about, error) {
	return readKnown(path, linked, limit, nil)
}

// readKnown is the same, but for the reading of what is in a memory.
func readKnown(path string, linked bool, limit int64, m *Memory) ([]byte, about, error) {
	flag := noFollow
	if linked {
		flag = 0
	}
	fd, err := 0, error(nil)
	if err = retry(func() error { fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|noWait|flag, 0); return err }); err != nil {
		if isLink(err) {
			return nil, about{}, notRegular(path)
		}
		return nil, about{}, dangling(path, &fs.PathError{Op: "open", Path: path, Err: err})
	}
	defer unix.Close(fd)
	var at unix.Stat_t
	if err := unix.Fstat(fd, &at); err != nil {
		return nil, about{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if at.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, about{}, notRegular(path)
	}
	if at.Size > limit {
		return nil, about{}, tooLarge(path, limit)
	}
	info := about{fs.FileMode(at.Mode & 0o777), time.Unix(at.Mtim.Unix())}
	stamp := fileStamp{uint64(at.Dev), at.Ino, at.Size, at.Mtim.Nano(), at.Ctim.Nano()}
	data, opened := m.text(path, stamp)
	if data != nil {
		return data, info, nil
	}
	data = make([]byte, 0, at.Size+bytesMore)
	for {
		n, room := 0, data[len(data):cap(data)]
		if err := retry(func() error { n, err = unix.Read(fd, room); return err }); err != nil {
			return nil, about{}, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > limit:
			return nil, about{}, tooLarge(path, limit)
		// A file that has a size gives less than was asked for at its end alone.
		case n == 0, n < len(room) && at.Size > 0 && int64(len(data)) >= at.Size:
			data = slices.Clip(data)
			m.keep(path, stamp, data, opened)
			return data, info, nil
		}
		data = slices.Grow(data, 1)
	}
}

// readPiece reads a file that the system gives in one piece: what is shorter than was
// asked for is all of it.
func readPiece(path string, limit int64) ([]byte, error) {
	fd, err := 0, error(nil)
	if err = retry(func() error { fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|noWait|noFollow, 0); return err }); err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	data := make([]byte, 0, 512) // few are longer, and several are read at every call
	for {
		n, room := 0, data[len(data):cap(data)]
		if err := retry(func() error { n, err = unix.Read(fd, room); return err }); err != nil {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > limit:
			return nil, tooLarge(path, limit)
		case n < len(room):
			return data, nil
		}
		data = slices.Grow(data, len(data))
	}
}

// bytesMore is how much more than the size of a file is asked for: files of /proc have
// none.
const bytesMore = 512

// retry does again what a signal has interrupted.
func retry(do func() error) error {
	for {
		if err := do(); err != unix.EINTR { // as it is, not wrapped
			return err
		}
	}
}

// Stamp tells a file from another one, and from itself with another content, without
// reading it; "" where nothing can be told. The time of the last change of the inode
// is part of it, which no program can set.
func Stamp(path string) string {
	var at unix.Stat_t
	if err := unix.Stat(path, &at); err != nil {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d.%d.%d", at.Dev, at.Ino, at.Size, at.Mtim.Nano(), at.Ctim.Nano())
}

// isNoFolder reports whether something was not opened because it is no folder.
func isNoFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// isLink reports whether a file was not opened because it is a link (ELOOP, on
// FreeBSD EMLINK), or a folder or pipe that cannot be opened for writing.
func isLink(err error) bool {
	return errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EMLINK) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENXIO)
}

// tryLock takes the lock if nobody has it. The system gives it back when the
// file is closed or the process ends.
func tryLock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		default:
			return false, os.NewSyscallError("flock", err)
		}
	}
}
