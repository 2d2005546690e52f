package org

import "golang.org/x/sys/unix"

// exchange swaps two folders, atomically if the file system supports it.
func exchange(a, b string) error {
	if unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE) == nil {
		return nil
	}
	return byRenames(a, b)
}
