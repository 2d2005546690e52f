//go:build linux || darwin

package policy

import (
	"os"

	"golang.org/x/sys/unix"
)

// statusIn looks at a file of a folder. Looking from the folder instead of from
// the root takes half the time, and a cold hook looks at every policy there is.
func statusIn(dir *os.File, name string) (status, error) {
	return statusFrom(int(dir.Fd()), name)
}

// statusFrom is the status of what a name leads to, from an open folder.
func statusFrom(dir int, name string) (status, error) {
	var s unix.Stat_t
	for {
		switch err := unix.Fstatat(dir, name, &s, 0); err {
		case nil:
			return statusOf(&s), nil
		case unix.EINTR:
		default:
			return status{}, err
		}
	}
}

// statusAt looks at a file.
func statusAt(path string) (status, error) {
	return statusFrom(unix.AT_FDCWD, path)
}

func statusOf(s *unix.Stat_t) status {
	return status{dir: s.Mode&unix.S_IFMT == unix.S_IFDIR, regular: s.Mode&unix.S_IFMT == unix.S_IFREG, size: s.Size,
		modified: s.Mtim.Nano(), changed: s.Ctim.Nano(), inode: s.Ino}
}
