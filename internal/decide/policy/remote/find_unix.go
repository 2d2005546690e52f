//go:build unix

package remote

import (
	"io/fs"
	"os"
	"syscall"
)

// written reports whether only users who may write the program can write a file. Root and
// this user may do anything here, so they may also own it. If both files are
// group-writable, they must have the same group, as for the private groups of some systems.
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
