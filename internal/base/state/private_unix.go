//go:build unix

package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// PrivateFolder creates a folder that only this user can access, and checks an existing
// one. A link, or a folder that others own or can access, is an error. Sockets are in such
// folders, since some systems ignore the mode of a socket.
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

// PrivateSocket returns an error if there is no socket, or if others could have put it
// there.
func PrivateSocket(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return private(path, info, fs.ModeSocket)
}

// PrivateFile returns an error if there is no file, or if others could have read or written
// it.
func PrivateFile(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return private(path, info, 0)
}

// private returns an error unless info is of this kind, belongs to this user and is closed
// to others.
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
