//go:build unix

package state

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// The system refuses to follow a link, and to wait for the other end of a pipe.
const (
	noFollow = syscall.O_NOFOLLOW
	noWait   = syscall.O_NONBLOCK
	safeOpen = true
	// It refuses to open a pipe in the place of a folder before it waits for one.
	onlyFolder = syscall.O_DIRECTORY
)

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
