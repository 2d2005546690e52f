package paths

import (
	"errors"
	"io/fs"
	"os"
)

// readlink asks the system what a name is.
func readlink(path string) link {
	target, err := os.Readlink(path)
	return link{target: target, gone: errors.Is(err, fs.ErrNotExist)}
}
