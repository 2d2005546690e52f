//go:build unix

package script

import (
	"fmt"
	"os"
	"syscall"
)

// Become puts another program in the place of this process: with these words, of which
// the first is the name that it learns, and the same streams, variables and folder. It
// comes back only where that fails.
func Become(path string, words []string) (code int, err error) {
	err = syscall.Exec(path, words, WithoutLibraries(os.Environ()))
	return 0, fmt.Errorf("%s cannot be started: %w", path, err)
}
