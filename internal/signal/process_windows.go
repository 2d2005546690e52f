package signal

import (
	"context"
	"os/exec"
	"strconv"
	"syscall"
)

// command is a script as a process.
func command(ctx context.Context, s Script) *exec.Cmd {
	if s.File != "" {
		return exec.CommandContext(ctx, s.File)
	}
	return exec.CommandContext(ctx, "cmd.exe", "/C", s.Command)
}

// own gives the process a group of its own.
func own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
	cmd.Cancel = func() error {
		// The tree, which Windows does not kill with its root.
		kill := exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid))
		if err := kill.Run(); err != nil {
			return cmd.Process.Kill()
		}
		return nil
	}
}

// sweep ends what the script left behind; a tree whose root is gone cannot be
// found here.
func sweep(*exec.Cmd) {}
