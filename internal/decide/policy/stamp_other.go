//go:build !linux && !darwin

package policy

import (
	"os"
	"path/filepath"
)

const doNotWait = 0

// statusIn returns the status of a file in a folder, without its inode.
func statusIn(dir *os.File, name string) (status, error) {
	return statusAt(filepath.Join(dir.Name(), name))
}

// statusAt returns the status of a file.
func statusAt(path string) (status, error) {
	info, err := os.Stat(path)
	if err != nil {
		return status{}, err
	}
	return status{dir: info.IsDir(), regular: info.Mode().IsRegular(), size: info.Size(), modified: info.ModTime().UnixNano()}, nil
}
