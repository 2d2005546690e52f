//go:build unix

package script

import (
	"fmt"
	"os"
	"syscall"
)

// Become replaces this process by another program, with the same streams and folder, and
// the variables of [WithoutLibraries]. words[0] is the program's name for itself. Become
// returns only on failure.
func Become(path string, words []string) (code int, err error) {
	err = syscall.Exec(path, words, WithoutLibraries(os.Environ()))
	return 0, fmt.Errorf("%s cannot be started: %w", path, err)
}
