package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/hook/control"
)

// hook is one run.
type hook struct {
	args []string
	// folder is the folder of the programs.
	folder string
	// limit is the time limit of the answer, and begin its start.
	limit time.Duration
	begin time.Time
}

// run asks the daemon, or cardea if the daemon cannot be asked or trusted. It returns the
// exit code.
func run(args []string) int {
	h := &hook{args: args, begin: time.Now()}
	own, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return blocked("cardea cannot be found: " + err.Error())
	}
	h.folder = filepath.Dir(own)
	if len(args) == 0 || args[0] != "check" {
		return h.cardea(args)
	}
	var plain bool
	if h.limit, plain = limitOf(args[1:]); !plain {
		return h.cardea(args)
	}
	daemon := control.Remote{Path: control.Socket(os.Getenv), Program: filepath.Join(h.folder, "cardea-engine")}
	if daemon.Path == "" {
		return h.cardea(args)
	}
	line, err := daemon.Connect()
	if err != nil {
		return h.cardea(args)
	}
	defer line.Close()
	if h.mentionsCardea() {
		return h.cardea(args)
	}
	message, err := h.read()
	if err != nil {
		return h.cardeaWith(message)
	}
	dir, err := os.Getwd()
	if err != nil {
		return h.cardeaWith(message)
	}
	call := control.CheckRequest{Program: control.StampOf(daemon.Program), Args: args[1:], Dir: dir, Variables: control.VariablesOf(os.Environ()), Message: message}
	answer, err := line.Check(call, h.begin.Add(h.limit*95/100))
	if err != nil {
		return h.cardeaWith(message)
	}
	if len(answer.Stdout) > 0 {
		if err := write(1, answer.Stdout); err != nil {
			return blocked("the answer could not be written: " + err.Error())
		}
	}
	if len(answer.Stderr) > 0 {
		_ = write(2, answer.Stderr)
	}
	return answer.Exit
}

// limitOf returns the limit in the flags of check, the last one of several. plain is false
// for flags that only cardea understands, including wrong ones.
func limitOf(args []string) (d time.Duration, plain bool) {
	d = limit.Hook
	for len(args) > 0 {
		name, value, given := strings.Cut(args[0], "=")
		args = args[1:]
		switch name {
		case "--unattended", "--exit-code":
			continue
		case "--harness", "--settings", "--limit":
		default:
			return 0, false
		}
		if !given {
			if len(args) == 0 {
				return 0, false
			}
			value, args = args[0], args[1:]
		}
		if name == "--limit" {
			var err error
			if d, err = time.ParseDuration(value); err != nil || d <= 0 {
				return 0, false
			}
		}
	}
	return d, true
}

// peeked is the buffer for the beginning of a message.
var peeked [64 << 10]byte

// mentionsCardea looks at the message without reading it. If it may be a prompt for Cardea,
// cardea must see which process sends it.
func (h *hook) mentionsCardea() bool {
	for {
		n, _, err := unix.Recvfrom(0, peeked[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		if err != unix.EAGAIN && err != unix.EINTR {
			return err == nil && bytes.Contains(peeked[:n], []byte("/cardea"))
		}
		left := time.Until(h.begin.Add(h.limit * 8 / 10)).Milliseconds()
		if n, err := unix.Poll([]unix.PollFd{{Fd: 0, Events: unix.POLLIN}}, int(max(0, left))); err == nil && n == 0 {
			return false // nothing arrives, which read reports
		}
	}
}

var (
	errLong = errors.New("the message is too long for the daemon")
	errSlow = errors.New("the message does not come to its end")
)

// maxMessage is the most of standard input that cardea reads, in bytes. cardea reports a
// longer one as an error.
const maxMessage = 64 << 20

// read reads all of standard input, for at most 80 % of the limit. On an error it also
// returns what it has read.
func (h *hook) read() ([]byte, error) {
	message := make([]byte, 0, 16<<10)
	last := h.begin.Add(h.limit * 8 / 10)
	for len(message) <= maxMessage {
		if len(message) == cap(message) {
			message = append(message, 0)[:len(message)]
		}
		wait := []unix.PollFd{{Fd: 0, Events: unix.POLLIN}}
		n, err := unix.Poll(wait, int(max(0, time.Until(last).Milliseconds())))
		if err == unix.EINTR {
			continue
		}
		if err == nil && n == 0 {
			return message, errSlow
		}
		n, err = unix.Read(0, message[len(message):cap(message)])
		switch {
		case err == unix.EINTR || err == unix.EAGAIN:
		case err != nil:
			return message, err
		case n > 0:
			message = message[:len(message)+n]
		case len(message) > control.MaxMessage:
			return message, errLong
		default:
			return message, nil
		}
	}
	return message, errLong
}

// write writes to a standard stream, and returns an error if the other end is closed. The os
// package would end the process by a signal there, and the harness must get an exit code.
func write(fd int, text []byte) error {
	for len(text) > 0 {
		n, err := unix.Write(fd, text)
		switch err {
		case nil:
			text = text[n:]
		case unix.EINTR:
		case unix.EAGAIN: // the harness may have made it non-blocking
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, -1)
		default:
			return err
		}
	}
	return nil
}

// cardeaWith lets cardea answer a message that was already read, in the remaining time.
func (h *hook) cardeaWith(message []byte) int {
	fd, err := unix.MemfdCreate("message", unix.MFD_CLOEXEC)
	if err != nil {
		return blocked("the message cannot be handed over: " + err.Error())
	}
	f := os.NewFile(uintptr(fd), "message")
	if _, err = f.Write(message); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err == nil {
		err = unix.Dup3(fd, 0, 0)
	}
	if err != nil {
		return blocked("the message cannot be handed over: " + err.Error())
	}
	left := max(h.limit-time.Since(h.begin), h.limit/20)
	return h.cardea(append(append([]string{}, h.args...), "--limit="+strconv.FormatInt(int64(left), 10)+"ns"))
}

// cardea replaces this process by cardea. It returns only on failure.
func (h *hook) cardea(args []string) int {
	path := filepath.Join(h.folder, "cardea")
	err := syscall.Exec(path, append([]string{path}, args...), os.Environ())
	return blocked(path + " cannot be started (" + err.Error() + "); install all programs of a release in one folder")
}
