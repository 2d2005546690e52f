package control

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// The errors of a process that is not believed to be the daemon.
var (
	errProgram  = errors.New("another program than the daemon's is at the other end of the socket")
	errCommand  = errors.New("the process at the other end of the socket was not started as \"cardea serve\"")
	errLoaded   = errors.New("variables of the process at the other end of the socket load other code into it")
	errDebugged = errors.New("a debugger or a filter of system calls is attached to the process at the other end of the socket")
	errLarge    = errors.New("the process at the other end of the socket has too many words or variables")
	errView     = errors.New("the process at the other end of the socket sees other files or processes: it runs in a sandbox of its own")
	errWriter   = errors.New("another process than the daemon answers")
	errNonce    = errors.New("what came is no answer to this call")
)

// process is a process that is held by its folder in /proc. That folder stays the one of
// this process: when it has ended its files are gone, whoever gets its number (proc(5)).
type process struct {
	pid    int32
	folder int    // a descriptor
	path   string // the folder's, by the descriptor
}

// processOf opens the folder of a process.
func processOf(pid int32) (*process, error) {
	fd, err := syscall.Open("/proc/"+strconv.Itoa(int(pid)), syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	return &process{pid, fd, "/proc/self/fd/" + strconv.Itoa(fd)}, err
}

// runs says why a process does not run a program; nil where it does.
func (p *process) runs(program string) error {
	var runs, is syscall.Stat_t
	if err := errors.Join(syscall.Stat(p.path+"/exe", &runs), syscall.Stat(program, &is)); err != nil {
		return err
	}
	if runs.Dev != is.Dev || runs.Ino != is.Ino {
		return errProgram
	}
	return nil
}

// serves says why a process is not a program that was started to serve; nil where it is.
// Each other command of the program answers to whoever started it. Neither its name nor
// its variables may have it start programs or load code from elsewhere, and it must see
// the same files.
func (p *process) serves(program string) error {
	if err := p.runs(program); err != nil {
		return err
	}
	at, err := os.Readlink(p.path + "/exe")
	if err != nil {
		return err
	}
	// A hard link to the program has other programs beside it, which it would start.
	if at != program {
		if real, err := filepath.EvalSymlinks(program); err != nil || at != real {
			return errors.Join(errProgram, err)
		}
	}
	var texts [3]string
	for i, name := range [...]string{"/cmdline", "/environ", "/status"} {
		if texts[i], err = read(p.path + name); err != nil {
			return err
		}
	}
	// By the name that it is given, the program finds those beside it.
	words := strings.SplitN(texts[0], "\x00", 3)
	if len(words) < 3 || words[1] != "serve" || !slices.Contains([]string{at, program, beside(at), beside(program)}, words[0]) {
		return errCommand
	}
	// Cardea starts the daemon without what the system's loader takes code from (ld.so(8)).
	for _, name := range [...]string{"LD_", "GLIBC_TUNABLES=", "GCONV_PATH="} {
		if strings.HasPrefix(texts[1], name) || strings.Contains(texts[1], "\x00"+name) {
			return errLoaded
		}
	}
	if err := isAlone(texts[2]); err != nil {
		return err
	}
	// Who owns a namespace of processes may write in the name of each that is in it.
	return same(p.path, "/ns/mnt", "/root", "/ns/pid")
}

// isAlone says from the status of a process whether a debugger is attached to it, or a
// filter of system calls that this process has not: either can change what it reads.
func isAlone(status string) error {
	if !strings.Contains(status, "\nTracerPid:\t0\n") {
		return errDebugged
	}
	if strings.Contains(status, "\nSeccomp:\t0\n") {
		return nil
	}
	own, err := read("/proc/self/status")
	if err == nil && filters(own) != filters(status) {
		err = errDebugged
	}
	return err
}

// filters are the lines of a status about filters of system calls (proc_pid_status(5)).
func filters(status string) string {
	_, from, _ := strings.Cut(status, "\nSeccomp:")
	lines, _, _ := strings.Cut(from, "\nSpeculation")
	return lines
}

// read reads a file in /proc as a whole. One of 64 KiB or more is an error.
func read(path string) (string, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer syscall.Close(fd)
	text := make([]byte, 64<<10)
	n, err := syscall.Read(fd, text)
	if n == len(text) {
		err = errLarge
	}
	return string(text[:max(n, 0)]), err
}

// beside is the path of cardea in the folder of another program.
func beside(program string) string { return filepath.Dir(program) + "/cardea" }

// SameView says why a process sees other files than this one under the same names: it has
// another root, or lives in another mount namespace, as in a sandbox; nil where it does not.
func SameView(pid int) error {
	return same("/proc/"+strconv.Itoa(pid), "/ns/mnt", "/root")
}

// same says whether files in the folder of a process are others than this process's.
func same(folder string, names ...string) error {
	for _, name := range names {
		var own, other syscall.Stat_t
		if err := errors.Join(syscall.Stat("/proc/self"+name, &own), syscall.Stat(folder+name, &other)); err != nil {
			return err
		}
		if own.Dev != other.Dev || own.Ino != other.Ino {
			return errView
		}
	}
	return nil
}

// receive reads what one process has written, and gives that process: the system notes who
// writes, whoever made the connection (SO_PASSCRED in unix(7)). Descriptors that come along
// are closed.
func receive(fd int, p []byte) (n int, writer int32, err error) {
	var about [32]byte // a header and struct ucred, and no room for more
	n, size, flags, _, err := syscall.Recvmsg(fd, p, about[:], syscall.MSG_CMSG_CLOEXEC)
	if err != nil || n == 0 {
		return n, 0, err
	}
	messages, err := syscall.ParseSocketControlMessage(about[:size])
	if err != nil || len(messages) != 1 || flags&syscall.MSG_CTRUNC != 0 {
		return n, 0, errors.Join(errWriter, err)
	}
	cred, err := syscall.ParseUnixCredentials(&messages[0])
	if err != nil {
		return n, 0, err
	}
	return n, cred.Pid, nil
}
