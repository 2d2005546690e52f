package script

import (
	"context"
	"os/exec"
	"strconv"
	"syscall"
)

// shell returns a command that runs a shell line.
func shell(ctx context.Context, line string) *exec.Cmd {
	return exec.CommandContext(ctx, "cmd.exe", "/C", line)
}

// group gives the process its own group.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
	cmd.Cancel = func() error {
		// Windows does not kill the children with their parent.
		kill := exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(cmd.Process.Pid))
		if err := kill.Run(); err != nil {
			return cmd.Process.Kill()
		}
		return nil
	}
}

// killGroup does nothing: Windows cannot find the children of an ended process.
func killGroup(*exec.Cmd) {}

// detachedProcess is DETACHED_PROCESS.
const detachedProcess = 0x00000008

// detach gives the process no console and its own group.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}
