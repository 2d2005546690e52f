//go:build unix

package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// PrivateFolder makes a folder that only this user can look into, and checks one that is
// there: a link, or a folder that belongs to or is open to others, is an error. Sockets
// lie in such folders, since systems differ in whether a socket's own mode counts.
func PrivateFolder(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return private(path, info, fs.ModeDir)
}

// PrivateSocket reports by an error that there is no socket, or that others could have
// put it there.
func PrivateSocket(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return private(path, info, fs.ModeSocket)
}

// PrivateFile reports by an error that there is no file, or that others could have read
// or written it.
func PrivateFile(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return private(path, info, 0)
}

func private(path string, info fs.FileInfo, kind fs.FileMode) error {
	switch at, ok := info.Sys().(*syscall.Stat_t); {
	case info.Mode().Type() != kind:
		return fmt.Errorf("%s is not what it should be (%s); remove it", path, info.Mode().Type())
	case !ok:
		return errors.New("it cannot be told who owns " + path)
	case int(at.Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to another user; remove it", path)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s is open to others (%s); run chmod go= on it, or remove it", path, info.Mode().Perm())
	}
	return nil
}
