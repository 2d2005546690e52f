//go:build unix

package policy

import (
	"fmt"
	"io/fs"
	"syscall"
)

// settle is how old a change must be, in nanoseconds, before the time of it
// tells contents apart: file systems count time in ticks.
const settle = 100_000_000

// stampOf tells a content from another one without reading it. The time of the
// last change of the inode is part of it, which no program can set.
func stampOf(info fs.FileInfo, now int64) (stamp string, fresh bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", true
	}
	changed := ctime(s)
	return fmt.Sprintf("%x.%x.%x.%x", info.Size(), info.ModTime().UnixNano(), changed, s.Ino), now-changed < settle
}
