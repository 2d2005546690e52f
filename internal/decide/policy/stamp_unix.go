//go:build unix

package policy

import (
	"io/fs"
	"strconv"
	"syscall"
)

// doNotWait keeps a pipe, put in the place of a file, from holding the process.
const doNotWait = syscall.O_NONBLOCK

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
	b := make([]byte, 0, 64)
	for _, n := range [...]int64{info.Size(), info.ModTime().UnixNano(), changed, int64(s.Ino)} {
		b = append(strconv.AppendInt(b, n, 36), '.')
	}
	return string(b), now-changed < settle
}
