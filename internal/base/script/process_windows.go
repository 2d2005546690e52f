package script

import (
	"context"
	"os/exec"
	"strconv"
	"syscall"
)

// shell runs a line.
func shell(ctx context.Context, line string) *exec.Cmd {
	return exec.CommandContext(ctx, "cmd.exe", "/C", line)
}

// group gives the process a group of its own.
func group(cmd *exec.Cmd) {
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

// killGroup does nothing: a tree whose root is gone cannot be found here.
func killGroup(*exec.Cmd) {}

// detachedProcess is DETACHED_PROCESS.
const detachedProcess = 0x00000008

// detach gives the process no console and a group of its own.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}
