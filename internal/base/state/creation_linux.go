package state

import (
	"time"

	"golang.org/x/sys/unix"
)

// born returns the creation time of a file, zero if the file system does not report it.
func born(name string, _ *unix.Stat_t) time.Time {
	var at unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &at)
	if err != nil || at.Mask&unix.STATX_BTIME == 0 {
		return time.Time{}
	}
	return time.Unix(at.Btime.Sec, int64(at.Btime.Nsec))
}
