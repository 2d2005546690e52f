package paths

import (
	"errors"
	"io/fs"
	"os"
)

// readlink reads the link at a path, without following it.
func readlink(path string) link {
	target, err := os.Readlink(path)
	return link{target: target, gone: errors.Is(err, fs.ErrNotExist)}
}
