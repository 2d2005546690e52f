//go:build unix

package install

import (
	"os"
	"syscall"
)

// keepOwner sets the owner of a new file to that of the file it replaces. They differ if
// root installs for another user.
func keepOwner(f *os.File, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return f.Chown(int(st.Uid), int(st.Gid))
}

// ofAnother reports whether a file belongs to another user.
func ofAnother(path string) bool {
	var at syscall.Stat_t
	return syscall.Lstat(path, &at) == nil && int(at.Uid) != os.Geteuid()
}

// othersMayWrite reports whether all users may write a file, or replace it in its folder.
func othersMayWrite(info os.FileInfo) bool {
	return info.Mode().Perm()&0o002 != 0 && info.Mode()&os.ModeSticky == 0
}
