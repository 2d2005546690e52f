package policy

import (
	"cmp"
	"strconv"
)

// status is the system's information about a file, with links followed.
type status struct {
	dir, regular bool
	size         int64
	// modified and changed are the times of the last change of the content and of the
	// inode, in nanoseconds. changed and inode are 0 on systems without a common interface
	// for them.
	modified, changed int64
	inode             uint64
}

// settle is the age, in nanoseconds, at which the time of a change identifies the content:
// file systems have coarse clocks.
const settle = 100_000_000

// stamp returns a text that identifies the content without reading it. It includes the time
// of the inode's last change, which no program can set. fresh is set if the file changed so
// recently that other content could also have this stamp.
func (s *status) stamp(now int64) (stamp string, fresh bool) {
	b := make([]byte, 0, 64)
	for _, n := range [...]int64{s.size, s.modified, s.changed, int64(s.inode)} {
		b = append(strconv.AppendInt(b, n, 36), '.')
	}
	return string(b), now-s.last() < settle
}

// last returns the time of the last change, in nanoseconds.
func (s *status) last() int64 { return cmp.Or(s.changed, s.modified) }
