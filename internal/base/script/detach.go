package script

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
)

// Detach starts a program of Cardea in its own session, without output, and does not wait
// for it. stdin must fit into a pipe (maxAction).
func Detach(program string, stdin []byte, args ...string) error {
	if len(stdin) > maxAction {
		return fmt.Errorf("start %s: what it is to read is larger than %d bytes", filepath.Base(program), maxAction)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = filepath.Dir(program)
	detach(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", filepath.Base(program), err)
	}
	_, err = in.Write(stdin)
	return errors.Join(err, in.Close(), cmd.Process.Release())
}
