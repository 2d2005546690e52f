package state

import (
	"time"

	"golang.org/x/sys/unix"
)

// born returns the creation time of a file.
func born(_ string, at *unix.Stat_t) time.Time { return time.Unix(at.Btim.Sec, at.Btim.Nsec) }
