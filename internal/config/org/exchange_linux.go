package org

import "golang.org/x/sys/unix"

// exchange exchanges two folders at once, where the file system can.
func exchange(a, b string) error {
	if unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE) == nil {
		return nil
	}
	return byRenames(a, b)
}
