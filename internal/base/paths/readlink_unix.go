//go:build unix

package paths

import (
	"errors"

	"golang.org/x/sys/unix"
)

// readlink reads the link at a path, without following it.
func readlink(path string) link {
	var target [maxPath]byte
	for {
		n, err := unix.Readlink(path, target[:])
		switch {
		case err == nil:
			return link{target: string(target[:n])}
		case !errors.Is(err, unix.EINTR):
			return link{gone: errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR)}
		}
	}
}
