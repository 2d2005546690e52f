//go:build unix

package state

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// CreatedSince identifies a regular file of the user that was created after begin, by
// device, inode, owner and creation time, since inodes are reused. It returns "" for
// anything else: a link, a file with several names, an older file.
func CreatedSince(name string, begin time.Time) string {
	var at unix.Stat_t
	if err := unix.Lstat(name, &at); err != nil || at.Mode&unix.S_IFMT != unix.S_IFREG || at.Nlink != 1 || int(at.Uid) != os.Geteuid() {
		return ""
	}
	birth := born(name, &at)
	if birth.Before(begin) {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d.%d", at.Dev, at.Ino, at.Uid, birth.UnixNano())
}
