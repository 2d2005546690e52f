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

// The errors for a process that is not accepted as the daemon.
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

// process is a process, held by its open folder in /proc. If the process ends, that folder
// becomes empty, even if another process gets the same number (proc(5)).
type process struct {
	pid    int32
	folder int    // a descriptor
	path   string // the folder's path, by the descriptor
}

// processOf opens the folder of a process.
func processOf(pid int32) (*process, error) {
	fd, err := syscall.Open("/proc/"+strconv.Itoa(int(pid)), syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	return &process{pid, fd, "/proc/self/fd/" + strconv.Itoa(fd)}, err
}

// runs returns nil if a process runs a program, else an error.
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

// serves returns nil if a process is this program, started to serve. The output of any
// other command depends on the process that started it. Its name and variables must not
// make it start other programs or load other code, and it must see the same files.
func (p *process) serves(program string) error {
	if err := p.runs(program); err != nil {
		return err
	}
	at, err := os.Readlink(p.path + "/exe")
	if err != nil {
		return err
	}
	// A hard link to the program would start the other programs in the link's folder.
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
	// The program finds the others in the folder of the name that it is started with.
	words := strings.SplitN(texts[0], "\x00", 3)
	if len(words) < 3 || words[1] != "serve" || !slices.Contains([]string{at, program, beside(at), beside(program)}, words[0]) {
		return errCommand
	}
	// Cardea starts the daemon without the variables that load code (ld.so(8)).
	for _, name := range [...]string{"LD_", "GLIBC_TUNABLES=", "GCONV_PATH="} {
		if strings.HasPrefix(texts[1], name) || strings.Contains(texts[1], "\x00"+name) {
			return errLoaded
		}
	}
	if err := isAlone(texts[2]); err != nil {
		return err
	}
	// The owner of a process namespace may write in the name of each process in it.
	return same(p.path, "/ns/mnt", "/root", "/ns/pid")
}

// isAlone returns an error if a debugger, or a system call filter that this process lacks,
// is attached to a process. Either can change what it reads. status is its status file.
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

// filters returns the lines of a status about system call filters (proc_pid_status(5)).
func filters(status string) string {
	_, from, _ := strings.Cut(status, "\nSeccomp:")
	lines, _, _ := strings.Cut(from, "\nSpeculation")
	return lines
}

// read reads a whole file in /proc. It fails for 64 KiB or more.
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

// beside returns the path of cardea in the folder of another program.
func beside(program string) string { return filepath.Dir(program) + "/cardea" }

// SameView returns nil if a process sees the same files as this one. It fails for another
// root or mount namespace, as in a sandbox.
func SameView(pid int) error {
	return same("/proc/"+strconv.Itoa(pid), "/ns/mnt", "/root")
}

// same returns nil if the named files of a process are the same as this process's.
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

// receive reads data from a socket and returns the process that wrote it. The kernel
// records the writer, even if another process made the connection (SO_PASSCRED in unix(7)).
// Descriptors sent along are closed.
func receive(fd int, p []byte) (n int, writer int32, err error) {
	var about [32]byte // room for one header and struct ucred only
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
