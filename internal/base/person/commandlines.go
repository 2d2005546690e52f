package person

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// CommandLines are the words with which the processes above this one were
// started, nearest first: what the person typed to start their agent is known
// from nowhere else. Only Linux tells them without starting a program; elsewhere
// there are none, and above what cannot be read there are none either.
func CommandLines() [][]string { return commandLines(os.Getppid()) }

// CommandLinesAbove are the same of the processes above another one.
func CommandLinesAbove(pid int) [][]string {
	if runtime.GOOS != "linux" {
		return nil
	}
	parent, _, err := parentOf(pid)
	if err != nil {
		return nil
	}
	return commandLines(parent)
}

// CommandLinesFrom are the same of another process and of those above it.
func CommandLinesFrom(pid int) [][]string { return commandLines(pid) }

// Piped reports whether the process of the nth of [CommandLines] reads from something that
// is known to be no terminal: a pipe, a file, nothing. Only Linux tells.
func Piped(n int) bool { return PipedFrom(os.Getppid())(n) }

// PipedAbove is the same of the processes above another one.
func PipedAbove(pid int) func(n int) bool {
	return func(n int) bool { return PipedFrom(pid)(n + 1) }
}

// PipedFrom is the same of another process and of those above it.
func PipedFrom(pid int) func(n int) bool {
	return func(n int) bool {
		if runtime.GOOS != "linux" {
			return false
		}
		at := pid
		for range n {
			parent, _, err := parentOf(at)
			if err != nil {
				return false
			}
			at = parent
		}
		terminal, err := onTerminal(at, 0)
		return err == nil && !terminal
	}
}

// AtTerminal reports whether a process is known to read from a terminal and to write to one. Only
// Linux tells.
func AtTerminal(pid int) bool {
	reads, err := onTerminal(pid, 0)
	writes, errOut := onTerminal(pid, 1)
	return reads && writes && err == nil && errOut == nil
}

// onTerminal reports whether a file that a process has open is a terminal.
func onTerminal(pid, fd int) (bool, error) {
	name, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/" + strconv.Itoa(fd))
	return strings.HasPrefix(name, "/dev/pts/") || strings.HasPrefix(name, "/dev/tty") || name == "/dev/console", err
}

// commandLines are those of a process and of all above it.
func commandLines(pid int) [][]string {
	if runtime.GOOS != "linux" {
		return nil
	}
	var out [][]string
	for pid > 1 && len(out) < maxAncestors {
		parent, _, line, err := procfs(pid)
		if err != nil {
			break
		}
		out = append(out, line)
		pid = parent
	}
	return out
}
