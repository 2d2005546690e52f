package script

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// Become carries out another program as if it was this process: with these words, of
// which the first is the name that it learns, and the same streams, variables and
// folder. It gives the exit code.
func Become(path string, words []string) (code int, err error) {
	cmd := exec.Cmd{Path: path, Args: words, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode(), nil
	case err != nil:
		return 0, fmt.Errorf("%s cannot be started: %w", path, err)
	}
	return 0, nil
}
