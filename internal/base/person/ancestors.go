package person

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"cardea.dev/internal/base/state"
)

// maxAncestors limits the number of processes above one.
const maxAncestors = 128

// climb calls look for pid and each process above it, up to and including pid 1: in a PID
// namespace, that may be any process. An invisible pid 1 belongs to another user and is no
// error.
func climb(pid int, look func(pid int) (parent int, err error)) error {
	for range maxAncestors {
		if pid < 1 {
			return nil
		}
		parent, err := look(pid)
		if err != nil && pid == 1 {
			return nil
		}
		if err != nil {
			return err
		}
		pid = parent
	}
	return errors.New("there are too many processes above it")
}

// look returns the parent of a process, its name and its first arguments.
func look(pid int) (parent int, names []string, err error) {
	if runtime.GOOS == "linux" {
		return proc(pid)
	}
	return ps(pid)
}

// proc is look for Linux, with /proc.
func proc(pid int) (parent int, names []string, err error) {
	parent, name, line, err := procfs(pid)
	if err != nil {
		return 0, nil, err
	}
	names = []string{name}
	for i, arg := range line {
		if i < 3 && arg != "" {
			names = append(names, arg)
		}
	}
	return parent, names, nil
}

// maxProc limits how much is read about a process, in bytes. Linux limits command lines to
// a quarter of the stack's limit, which is 8 MiB.
const maxProc = 8 << 20

// procfs returns the parent, the name and the command line of a process from /proc.
func procfs(pid int) (parent int, name string, line []string, err error) {
	if parent, name, err = parentOf(pid); err != nil {
		return 0, "", nil, err
	}
	words, err := state.ReadProc("/proc/"+strconv.Itoa(pid)+"/cmdline", maxProc)
	if err != nil {
		return 0, "", nil, err
	}
	return parent, name, strings.Split(strings.TrimSuffix(string(words), "\x00"), "\x00"), nil
}

// parentOf returns the parent and the name of a process from /proc.
func parentOf(pid int) (parent int, name string, err error) {
	path := "/proc/" + strconv.Itoa(pid) + "/stat"
	stat, err := state.ReadProc(path, maxProc)
	if err != nil {
		return 0, "", err
	}
	// The format is: pid (name) state parent …. The name may contain anything.
	begin, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if begin < 0 || end < begin {
		return 0, "", fmt.Errorf("%s cannot be read", path)
	}
	_, after, _ := bytes.Cut(bytes.TrimLeft(stat[end+1:], " "), []byte(" "))
	number, _, _ := bytes.Cut(after, []byte(" "))
	if parent, err = strconv.Atoi(string(number)); err != nil {
		return 0, "", fmt.Errorf("%s cannot be read: %w", path, err)
	}
	return parent, string(stat[begin+1 : end]), nil
}

// ps is look for other Unix systems, with ps.
func ps(pid int) (parent int, names []string, err error) {
	out, err := exec.Command("/bin/ps", "-o", "ppid=,command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return 0, nil, fmt.Errorf("ps: %w", err)
	}
	fields := strings.Fields(string(out))
	if len(fields) == 0 {
		return 0, nil, errors.New("ps says nothing")
	}
	if parent, err = strconv.Atoi(fields[0]); err != nil {
		return 0, nil, fmt.Errorf("ps: %w", err)
	}
	return parent, fields[1:min(len(fields), 4)], nil
}
