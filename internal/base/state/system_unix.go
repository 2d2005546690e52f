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

// The system itself can refuse to follow a link, or to wait for the other end of a pipe.
const (
	noFollow = syscall.O_NOFOLLOW
	noWait   = syscall.O_NONBLOCK
	safeOpen = true
)

// openFolder opens a folder. The system refuses a pipe in its place without waiting. Unlike
// os.OpenFile, it skips the four calls that prepare polling.
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

// lookAt reports whether path is a link or a folder. It fails if nothing is there, or if
// that is unknown.
func lookAt(path string) (link, folder bool, err error) {
	var at unix.Stat_t
	err = retry(func() error { return unix.Lstat(path, &at) })
	kind := at.Mode & unix.S_IFMT
	return err == nil && kind == unix.S_IFLNK, err == nil && kind == unix.S_IFDIR, err
}

// read reads a regular file with few system calls: the hook reads dozens of files per call,
// and a pollable file costs twice as many.
func read(path string, linked bool, limit int64) ([]byte, about, error) {
	return readKnown(path, linked, limit, nil)
}

// readKnown is read with m as cache.
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
		// A file with a size returns a short read only at its end.
		case n == 0, n < len(room) && at.Size > 0 && int64(len(data)) >= at.Size:
			data = slices.Clip(data)
			m.keep(path, stamp, data, opened)
			return data, info, nil
		}
		data = slices.Grow(data, 1)
	}
}

// readPiece reads a file that the system returns in one piece: a short read is all of it.
func readPiece(path string, limit int64) ([]byte, error) {
	fd, err := 0, error(nil)
	if err = retry(func() error { fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|noWait|noFollow, 0); return err }); err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	data := make([]byte, 0, 512) // few are longer, and every call reads several
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

// bytesMore is the extra room for a read beyond the file's size: files of /proc have size
// 0.
const bytesMore = 512

// retry repeats a system call while signals interrupt it.
func retry(do func() error) error {
	for {
		if err := do(); err != unix.EINTR { // not wrapped
			return err
		}
	}
}

// Stamp identifies a file and its content without reading it; "" if that is impossible. It
// includes the time of the inode's last change, which no program can set.
func Stamp(path string) string {
	var at unix.Stat_t
	if err := unix.Stat(path, &at); err != nil {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d.%d.%d", at.Dev, at.Ino, at.Size, at.Mtim.Nano(), at.Ctim.Nano())
}

// isNoFolder reports whether err says that path is not a folder.
func isNoFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// isLink reports whether err says that the file is a link (ELOOP, on FreeBSD EMLINK), or a
// folder or pipe that cannot be opened for writing.
func isLink(err error) bool {
	return errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EMLINK) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENXIO)
}

// tryLock takes the lock if it is free. The system releases it when the file is closed or
// the process ends.
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
