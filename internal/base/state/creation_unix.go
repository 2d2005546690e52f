//go:build unix

package state

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// CreatedSince identifies a plain file of the user's own, by its device, inode, owner and
// birth, since inodes are used again, if it was made after a time; "" where it is anything else: a link, a file with several
// names, one that was there before.
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
