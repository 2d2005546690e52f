//go:build unix

package remote

import (
	"io/fs"
	"os"
	"syscall"
)

// written reports whether a file may only be written by who may write the
// program, or by root or this user, who may do anything here. A group that may
// write the program as well is none but the owner's own, as some systems have it.
func written(info, own fs.FileInfo) bool {
	f, ok := info.Sys().(*syscall.Stat_t)
	p, ok2 := own.Sys().(*syscall.Stat_t)
	if !ok || !ok2 || f.Uid != 0 && f.Uid != p.Uid && int(f.Uid) != os.Getuid() {
		return false
	}
	mode := info.Mode().Perm()
	group := mode&0o020 == 0 || own.Mode().Perm()&0o020 != 0 && f.Gid == p.Gid
	return group && mode&0o002 == 0
}
