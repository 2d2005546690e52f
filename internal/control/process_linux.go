package control

import (
	"bytes"
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
	errView     = errors.New("the process at the other end of the socket sees other files or processes: it runs in a sandbox of its own")
	errWriter   = errors.New("another process than the daemon answers")
	errNonce    = errors.New("what came is no answer to this call")
	errEndless  = errors.New("the process at the other end of the socket has too many words or variables")
)

// process is a process that is held by its folder in /proc. That folder stays the one of
// this process: when it has ended its files are gone, whoever gets its number (proc(5)).
type process struct {
	pid    int32
	folder int    // a descriptor
	path   string // the folder's, by the descriptor
	exe    syscall.Stat_t
}

// processOf opens the folder of a process.
func processOf(pid int32) (*process, error) {
	fd, err := syscall.Open("/proc/"+strconv.Itoa(int(pid)), syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return &process{pid: pid, folder: fd, path: "/proc/self/fd/" + strconv.Itoa(fd)}, nil
}

// serves says why a process is not a program that was started to serve; nil where it is.
// Each other command of the program answers to whoever started it. Neither its name nor
// its variables may have it start programs or load code from elsewhere, and it must see
// the same files.
func (p *process) serves(program string) error {
	var is syscall.Stat_t
	if err := syscall.Stat(program, &is); err != nil {
		return err
	}
	if err := syscall.Stat(p.path+"/exe", &p.exe); err != nil {
		return err
	}
	if p.exe.Dev != is.Dev || p.exe.Ino != is.Ino {
		return errProgram
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
	line, err := read(p.path + "/cmdline")
	if err != nil {
		return err
	}
	// By the name that it is given, the program finds those beside it.
	words := strings.SplitN(string(line), "\x00", 3)
	if len(words) < 3 || words[1] != "serve" || !slices.Contains([]string{at, program, beside(at), beside(program)}, words[0]) {
		return errCommand
	}
	variables, err := read(p.path + "/environ")
	if err != nil {
		return err
	}
	if loads(variables) {
		return errLoaded
	}
	if err := p.isAlone(); err != nil {
		return err
	}
	// Who owns a namespace of processes may write in the name of each that is in it.
	return same(p.path, "/ns/mnt", "/root", "/ns/pid")
}

// beside is the path of cardea in the folder of another program.
func beside(program string) string { return filepath.Dir(program) + "/cardea" }

// isSame says why the process is not what it was when it was looked at: it has ended, or
// runs another program; nil where it goes on.
func (p *process) isSame() error {
	var now syscall.Stat_t
	if err := syscall.Stat(p.path+"/exe", &now); err != nil {
		return err
	}
	if now.Dev != p.exe.Dev || now.Ino != p.exe.Ino {
		return errProgram
	}
	return nil
}

// loads reports variables with which the system's loader takes code into a program
// (ld.so(8)). Cardea starts the daemon without them.
func loads(variables []byte) bool {
	for v := range bytes.SplitSeq(variables, []byte{0}) {
		for _, name := range [...]string{"LD_", "GLIBC_TUNABLES=", "GCONV_PATH="} {
			if bytes.HasPrefix(v, []byte(name)) {
				return true
			}
		}
	}
	return false
}

// isAlone says whether a debugger is attached to the process, or another filter of system
// calls than to this one: either can change what the process reads and writes.
func (p *process) isAlone() error {
	status, err := read(p.path + "/status")
	if err != nil {
		return err
	}
	if !bytes.Contains(status, []byte("\nTracerPid:\t0\n")) {
		return errDebugged
	}
	if bytes.Contains(status, []byte("\nSeccomp:\t0\n")) {
		return nil
	}
	own, err := read("/proc/self/status")
	if err != nil {
		return err
	}
	if !bytes.Equal(filters(own), filters(status)) {
		return errDebugged
	}
	return nil
}

// filters are the lines of a status about filters of system calls.
func filters(status []byte) []byte {
	_, from, _ := bytes.Cut(status, []byte("\nSeccomp:"))
	lines, _, _ := bytes.Cut(from, []byte("\nSpeculation"))
	return lines
}

// SameView says why a process sees other files than this one under the same names: it has
// another root, or lives in another mount namespace, as in a sandbox; nil where it does not.
func SameView(pid int) error {
	return same("/proc/"+strconv.Itoa(pid), "/ns/mnt", "/root")
}

// same says whether files in the folder of a process are others than this process's.
func same(folder string, names ...string) error {
	for _, name := range names {
		var own, other syscall.Stat_t
		if err := syscall.Stat("/proc/self"+name, &own); err != nil {
			return err
		}
		if err := syscall.Stat(folder+name, &other); err != nil {
			return err
		}
		if own.Dev != other.Dev || own.Ino != other.Ino {
			return errView
		}
	}
	return nil
}

// maxProc bounds what is read of a file in /proc, in bytes.
const maxProc = 1 << 20

// read reads a file in /proc as a whole. It ends where less comes than there is room for.
func read(path string) ([]byte, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	for all := make([]byte, 0, 4<<10); ; {
		if len(all) == cap(all) {
			all = append(all, 0)[:len(all)]
		}
		room := all[len(all):cap(all)]
		n, err := syscall.Read(fd, room)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return nil, err
		}
		all = all[:len(all)+n]
		switch {
		case n < len(room):
			return all, nil
		case len(all) > maxProc:
			return nil, errEndless
		}
	}
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
	if flags&syscall.MSG_CTRUNC != 0 {
		return n, 0, nil
	}
	messages, err := syscall.ParseSocketControlMessage(about[:size])
	if err != nil || len(messages) != 1 {
		return n, 0, err
	}
	cred, err := syscall.ParseUnixCredentials(&messages[0])
	if err != nil {
		return n, 0, err
	}
	return n, cred.Pid, nil
}
