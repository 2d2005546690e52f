package person

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"cardea.dev/internal/state"
)

// aboveThis are the processes above this one, nearest first. On Windows the standard
// library gives no way to look, and the environment and the terminal must do.
func aboveThis() ([]Ancestor, error) {
	var out []Ancestor
	look := ps
	switch runtime.GOOS {
	case "windows":
		return nil, nil
	case "linux":
		look = proc
	}
	_, err := climb(os.Getppid(), func(pid int) (int, []string, error) {
		parent, names, err := look(pid)
		if err == nil {
			out = append(out, Ancestor{PID: pid, Names: names, Environ: environOf(pid)})
		}
		return parent, names, err
	})
	return out, err
}

// environOf are the variables with which a process was started, nil where they cannot
// be seen: those of other users, and on other systems than Linux.
func environOf(pid int) []string {
	if runtime.GOOS != "linux" {
		return nil
	}
	all, err := EnvironOf(pid)
	if err != nil {
		return nil
	}
	return all
}

// EnvironOf are the variables with which a process of this user was started. Only Linux
// shows them.
func EnvironOf(pid int) ([]string, error) {
	if runtime.GOOS != "linux" {
		return nil, errors.New("this system does not show the variables of other processes")
	}
	data, err := state.Read(filepath.Join("/proc", strconv.Itoa(pid), "environ"), maxProc)
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00"), nil
}
