package org

import "golang.org/x/sys/unix"

// exchange swaps two folders, atomically if the file system supports it.
func exchange(a, b string) error {
	if unix.RenamexNp(a, b, unix.RENAME_SWAP) == nil {
		return nil
	}
	return byRenames(a, b)
}
