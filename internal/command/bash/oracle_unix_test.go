//go:build unix

package bash

import (
	"os"
	"os/exec"
	"syscall"
)

const nobody = 65534 // user id of the lines if root runs the tests

func unprivileged() bool { return os.Geteuid() == 0 }

// own puts a run into its own process group and removes its rights.
func own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if unprivileged() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// end ends the processes that a run left in the background.
func end(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // usually nothing is left
	}
}
