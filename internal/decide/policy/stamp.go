package policy

import (
	"cmp"
	"strconv"
)

// status is what the system tells of a file, links followed.
type status struct {
	dir, regular bool
	size         int64
	// modified and changed are the times of the last change of the content and
	// of the inode, in nanoseconds; changed and inode are 0 where the system
	// does not tell them in the same words everywhere.
	modified, changed int64
	inode             uint64
}

// settle is how old a change must be, in nanoseconds, before the time of it
// tells contents apart: file systems count time in ticks.
const settle = 100_000_000

// stamp tells a content from another one without reading it. The time of the
// last change of the inode is part of it, which no program can set. It is fresh
// where the file changed so recently that another content could have it, too.
func (s *status) stamp(now int64) (stamp string, fresh bool) {
	b := make([]byte, 0, 64)
	for _, n := range [...]int64{s.size, s.modified, s.changed, int64(s.inode)} {
		b = append(strconv.AppendInt(b, n, 36), '.')
	}
	return string(b), now-s.last() < settle
}

// last is when the file changed last, in nanoseconds.
func (s *status) last() int64 { return cmp.Or(s.changed, s.modified) }
