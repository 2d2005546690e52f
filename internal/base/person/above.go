package person

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"cardea.dev/internal/base/state"
)

// aboveThis are the processes above this one, nearest first. On Windows the standard
// library gives no way to look, and the environment and the terminal must do.
func aboveThis() ([]Ancestor, error) {
	var out []Ancestor
	switch {
	case runtime.GOOS == "windows":
		return nil, nil
	case runtime.GOOS == "linux" && inOwnNamespace():
		return nil, errors.New("it runs in a namespace of its own")
	}
	err := climb(os.Getppid(), func(pid int) (int, error) {
		parent, names, err := look(pid)
		if err == nil {
			environ, unread := EnvironOf(pid)
			out = append(out, Ancestor{PID: pid, Names: names, Environ: environ, Hidden: hides(pid, parent, environ, unread)})
		}
		return parent, err
	})
	return out, err
}

// about is a line of a file of /proc about a process, in words after its label, "" where
// it cannot be read. In that of users ("Uid:"), the second is the effective one.
func about(pid, file, label string) []string {
	data, _ := state.ReadProc("/proc/"+pid+"/"+file, maxProc)
	_, after, _ := strings.Cut("\n"+string(data), "\n"+label)
	line, _, _ := strings.Cut(after, "\n")
	return append(strings.Fields(line), "", "", "")
}

// mapsAll reports whether a process is in a user namespace with all users, which only root makes.
func mapsAll(pid string) bool { return about(pid, "uid_map", "")[2] == "4294967295" }

// inOwnNamespace reports whether this process is in a PID namespace that its user may have
// made: the agent above cannot be seen. Root of a user namespace with several users is let
// through, as rootless containers have it and a person may sit there. "unshare -r" maps one.
func inOwnNamespace() bool {
	self, _ := os.Readlink("/proc/self")
	pid, _ := os.Readlink("/proc/self/ns/pid")
	user, _ := os.Readlink("/proc/self/ns/user")
	uid, first := strconv.Itoa(os.Geteuid()), about("1", "status", "Uid:")[1]
	data, _ := state.ReadProc("/proc/self/uid_map", maxProc)
	several := len(strings.Fields(string(data))) > 3
	return self != strconv.Itoa(os.Getpid()) ||
		pid != "pid:[4026531836]" && user != "user:[4026531837]" && user != "" && (first == uid || first == "") && (uid != "0" || !several && !mapsAll("self"))
}

// hides reports whether a process of this user made its variables unreadable, or wrote over
// them. Root of a user namespace is a user like others.
func hides(pid, parent int, environ []string, err error) bool {
	p, above, uid := strconv.Itoa(pid), strconv.Itoa(parent), strconv.Itoa(os.Geteuid())
	if about(p, "status", "Uid:")[1] != uid || uid == "0" && mapsAll("self") {
		return false
	}
	if all := strings.Join(environ, "\x00"); err == nil {
		// Chromium and Electron write titles there; their parents tell who started them.
		own, _ := os.Readlink("/proc/" + p + "/exe")
		theirs, _ := os.Readlink("/proc/" + above + "/exe")
		return all != "" && !strings.Contains(all, "=") && (own == "" || own != theirs)
	}
	// What root gave capabilities is unreadable, such as "systemd --user", and so are sshd
	// and login after they became the user: root is above them.
	given := strings.Trim(about(p, "status", "CapPrm:")[0], "0") != "" && mapsAll(p)
	return !given && (parent <= 1 || about(above, "status", "Uid:")[1] != "0" || !mapsAll("self"))
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
