package person

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// CommandLines returns the command lines of the processes above this one, nearest first.
// They are the only source of what the person typed to start the agent. The list ends at
// the first process that cannot be read. It is nil on systems other than Linux, which would
// need another program.
func CommandLines() [][]string { return commandLines(os.Getppid()) }

// CommandLinesAbove is CommandLines for another process.
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

// CommandLinesFrom returns the command lines of another process and of those above it.
func CommandLinesFrom(pid int) [][]string { return commandLines(pid) }

// Piped reports whether the process of the nth of [CommandLines] reads from something other
// than a terminal: a pipe, a file, nothing. It is false if unknown, as on all systems but
// Linux.
func Piped(n int) bool { return PipedFrom(os.Getppid())(n) }

// PipedAbove is Piped for [CommandLinesAbove].
func PipedAbove(pid int) func(n int) bool {
	return func(n int) bool { return PipedFrom(pid)(n + 1) }
}

// PipedFrom is Piped for [CommandLinesFrom].
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

// AtTerminal reports whether a process reads from a terminal and writes to one. It is false
// if unknown, as on all systems but Linux.
func AtTerminal(pid int) bool {
	reads, err := onTerminal(pid, 0)
	writes, errOut := onTerminal(pid, 1)
	return reads && writes && err == nil && errOut == nil
}

// onTerminal reports whether an open file of a process is a terminal.
func onTerminal(pid, fd int) (bool, error) {
	name, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/" + strconv.Itoa(fd))
	return strings.HasPrefix(name, "/dev/pts/") || strings.HasPrefix(name, "/dev/tty") || name == "/dev/console", err
}

// commandLines returns the command lines of a process and of all above it.
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
