package person

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"cardea.dev/internal/base/state"
)

// Running identifies a process: a later process with the same number is a different one.
type Running struct {
	PID int `json:"pid"`
	// Start is the start time, in the system's own form.
	Start string `json:"start"`
}

// Forebear is a process in a lineage.
type Forebear struct {
	Running
	// Agent is set if it has the name of an agent.
	Agent bool
}

// Lineage returns a process and all above it, nearest first. It fails on Windows.
func Lineage(pid int) ([]Forebear, error) {
	if runtime.GOOS == "windows" {
		return nil, errors.New("the processes above another one cannot be seen on Windows")
	}
	var out []Forebear
	err := climb(pid, func(pid int) (int, error) {
		parent, names, err := look(pid)
		if err != nil {
			return 0, err
		}
		start, err := startOf(pid)
		if err == nil {
			out = append(out, Forebear{Running{pid, start}, Ancestor{Names: names}.isAgent()})
		}
		return parent, err
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("there is no process %d", pid)
	}
	return out, err
}

// StartedByAgent reports whether a process is not an agent but has an agent above it. It
// returns false if the processes cannot be read.
func StartedByAgent(pid int) bool {
	line, err := Lineage(pid)
	return err == nil && !line[0].Agent && slices.ContainsFunc(line, func(f Forebear) bool { return f.Agent })
}

// Process returns the process with a number, and its command line.
func Process(pid int) (r Running, line string, err error) {
	start, err := startOf(pid)
	if err != nil {
		return r, "", fmt.Errorf("there is no process %d: %w", pid, err)
	}
	_, names, err := look(pid)
	return Running{pid, start}, strings.Join(names, " "), err
}

// This returns this process.
func This() (Running, error) {
	start, err := startOf(os.Getpid())
	return Running{os.Getpid(), start}, err
}

// Parent returns the process that started this one.
func Parent() (Running, error) {
	pid := os.Getppid()
	start, err := startOf(pid)
	return Running{pid, start}, err
}

// Alive reports whether the process still runs.
func (r Running) Alive() bool {
	start, err := startOf(r.PID)
	return err == nil && r.PID > 1 && start == r.Start
}

// Harness returns the nearest agent above this process.
func Harness() (Running, error) {
	all, err := Lineage(os.Getppid())
	if err != nil {
		return Running{}, err
	}
	for _, f := range all {
		if f.Agent {
			return f.Running, nil
		}
	}
	return Running{}, errors.New("no agent that is known started this")
}

// bootID identifies the boot of the machine, since Linux counts start times from it.
var bootID = sync.OnceValues(func() (string, error) {
	id, err := state.ReadProc("/proc/sys/kernel/random/boot_id", maxProc)
	return strings.TrimSpace(string(id)), err
})

// startOf returns the start time of a process.
func startOf(pid int) (string, error) {
	if runtime.GOOS != "linux" {
		out, err := exec.Command("/bin/ps", "-o", "lstart=", "-p", strconv.Itoa(pid)).Output()
		if err != nil {
			return "", fmt.Errorf("ps: %w", err)
		}
		return strings.TrimSpace(string(out)), nil
	}
	boot, err := bootID()
	if err != nil {
		return "", err
	}
	path := fmt.Sprintf("/proc/%d/stat", pid)
	stat, err := state.ReadProc(path, maxProc)
	if err != nil {
		return "", err
	}
	// Field 22 of proc(5), counted after the name, which may contain anything; state is field
	// 3.
	const start = 22 - 3
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) <= start {
		return "", fmt.Errorf("%s cannot be read", path)
	}
	return boot + " " + fields[start], nil
}
