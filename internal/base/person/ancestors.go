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

// maxAncestors bounds the way up.
const maxAncestors = 128

// climb follows parents up to the first process. pid 1 is one of them: in a PID namespace
// it may be anyone's. Where it cannot be seen, it is another user's.
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

// look looks at a process in the way of this system.
func look(pid int) (parent int, names []string, err error) {
	if runtime.GOOS == "linux" {
		return proc(pid)
	}
	return ps(pid)
}

// proc looks into /proc, as Linux has it.
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

// maxProc bounds what is read of a process, in bytes. Linux takes command lines of a
// quarter of the stack's limit, which is 8 MiB.
const maxProc = 8 << 20

// procfs is a process in /proc: its parent, its name, and the words with which
// it was started.
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

// parentOf is a process's parent in /proc, and the process's name.
func parentOf(pid int) (parent int, name string, err error) {
	path := "/proc/" + strconv.Itoa(pid) + "/stat"
	stat, err := state.ReadProc(path, maxProc)
	if err != nil {
		return 0, "", err
	}
	// pid (name) state parent …: the name may hold anything.
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

// ps asks ps, as every Unix has it.
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
