package person

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"cardea.dev/internal/state"
)

// Typist says why it is not sure that a person typed what a harness's hook was told, or
// nil. It is asked in the hook's own process, below the harness.
//
// The harness itself must be the only agent above: one that an agent started, with
// "claude -p", "claude --resume" or in a tmux of its own, has another agent above it, or
// a variable in its environment that agents set for what they start. Only Linux shows
// the environment of other processes.
//
// And the message must come from the harness itself: a command of the agent's can start
// the hook, too, with a message of its own in a file or a pipe. Harnesses give their hooks
// one end of a pair of sockets, and Linux tells which process made it (seen with Claude
// Code 2.1.330; socketpair(2), unix(7)).
func Typist() error {
	if runtime.GOOS == "windows" {
		return errors.New("it cannot be told here who started the agent; do this in a terminal of your own")
	}
	all, err := aboveThis()
	if err != nil {
		return fmt.Errorf("it cannot be told who started the agent: %w; do this in a terminal of your own", err)
	}
	if err := typist(all); err != nil {
		return err
	}
	return fromAgent(all, sender())
}

// fromAgent says why a message did not come from the nearest agent, or nil. By is the
// process that made the other end of standard input, 0 where it is no socket, and less
// where the system does not tell.
func fromAgent(all []Ancestor, by int) error {
	if by < 0 {
		return nil
	}
	for _, a := range all {
		if a.isAgent() {
			if a.PID == by {
				return nil
			}
			break
		}
	}
	return errors.New("the prompt did not come from the harness itself, but by a file, a pipe or another program; type it once more, or do this in a terminal of your own")
}

// typist looks at the processes above, nearest first.
func typist(all []Ancestor) error {
	first := -1
	for i, a := range all {
		switch {
		case first < 0 && a.isAgent():
			first = i
		case first >= 0 && a.isAgent() && !(i == first+1 && all[first].Environ != nil):
			// The launcher of a harness is its parent, and has a clean environment.
			return fmt.Errorf("an agent started this one (%s); do this in a terminal of your own", a.Names[0])
		}
		if first < 0 {
			continue
		}
		if name := a.underAgent(); name != "" {
			return fmt.Errorf("an agent started this one (%s was set for %s); do this in a terminal of your own", name, a.Names[0])
		}
	}
	if first < 0 {
		return errors.New("no agent that is known runs this hook; do this in a terminal of your own")
	}
	return nil
}

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
