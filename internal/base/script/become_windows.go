package script

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// Become runs another program with the streams, variables and folder of this process.
// words[0] is the program's name for itself. It returns the exit code.
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
