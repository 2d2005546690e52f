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

// aboveThis returns the processes above this one, nearest first. On Windows, the standard
// library cannot list them; it returns nil, and callers rely on the environment and the
// terminal.
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

// about returns the words after a label in a /proc file of a process, followed by three ""
// words. If the file cannot be read, it returns only those. In "Uid:", the second word is
// the effective user.
func about(pid, file, label string) []string {
	data, _ := state.ReadProc("/proc/"+pid+"/"+file, maxProc)
	_, after, _ := strings.Cut("\n"+string(data), "\n"+label)
	line, _, _ := strings.Cut(after, "\n")
	return append(strings.Fields(line), "", "", "")
}

// mapsAll reports whether a process is in a user namespace with all users, which only root
// can create.
func mapsAll(pid string) bool { return about(pid, "uid_map", "")[2] == "4294967295" }

// inOwnNamespace reports whether this process is in a PID namespace that its user may have
// created, so that an agent above is invisible. Root of a user namespace with several users
// is exempt: rootless containers have one, and a person may work there. "unshare -r" maps
// only one user.
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

// hides reports whether a process of this user made its variables unreadable, or overwrote
// them. Root of a user namespace is a user like others.
func hides(pid, parent int, environ []string, err error) bool {
	p, above, uid := strconv.Itoa(pid), strconv.Itoa(parent), strconv.Itoa(os.Geteuid())
	if about(p, "status", "Uid:")[1] != uid || uid == "0" && mapsAll("self") {
		return false
	}
	if all := strings.Join(environ, "\x00"); err == nil {
		// Chromium and Electron write titles there; their parents show what started them.
		own, _ := os.Readlink("/proc/" + p + "/exe")
		theirs, _ := os.Readlink("/proc/" + above + "/exe")
		return all != "" && !strings.Contains(all, "=") && (own == "" || own != theirs)
	}
	// A process with capabilities from root, such as "systemd --user", is unreadable. So are
	// sshd and login after they switched to the user: root is above them.
	given := strings.Trim(about(p, "status", "CapPrm:")[0], "0") != "" && mapsAll(p)
	return !given && (parent <= 1 || about(above, "status", "Uid:")[1] != "0" || !mapsAll("self"))
}

// EnvironOf returns the variables with which a process of this user was started. It fails
// on systems other than Linux.
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
