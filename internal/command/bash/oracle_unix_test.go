//go:build unix

package bash

import (
	"os"
	"os/exec"
	"syscall"
)

// nobody is the user as whom lines run where the tests are run by root.
const nobody = 65534

func unprivileged() bool { return os.Geteuid() == 0 }

// own gives a run a process group of its own, which ends with it, and no
// rights.
func own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if unprivileged() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// end ends what a run left in the background.
func end(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // most often nothing is left
	}
}
