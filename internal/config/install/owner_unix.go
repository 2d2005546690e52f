//go:build unix

package install

import (
	"os"
	"syscall"
)

// keepOwner gives a new file the owner of the one that it replaces, which
// differs from the writer's where root installs for somebody.
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

// ofAnother reports a file of another user.
func ofAnother(path string) bool {
	var at syscall.Stat_t
	return syscall.Lstat(path, &at) == nil && int(at.Uid) != os.Geteuid()
}

// othersMayWrite reports whether anybody on the machine may write a file, or
// replace it in its folder.
func othersMayWrite(info os.FileInfo) bool {
	return info.Mode().Perm()&0o002 != 0 && info.Mode()&os.ModeSticky == 0
}
