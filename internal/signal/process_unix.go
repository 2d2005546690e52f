//go:build unix

package signal

import (
	"context"
	"os/exec"
	"syscall"
)

// command is a script as a process.
func command(ctx context.Context, s Script) *exec.Cmd {
	if s.File != "" {
		return exec.CommandContext(ctx, s.File)
	}
	return exec.CommandContext(ctx, "/bin/sh", "-c", s.Command)
}

// own gives the process a group of its own, which is killed as a whole.
func own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// sweep ends what the script left behind in its group.
func sweep(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // mostly there is none
	}
}
