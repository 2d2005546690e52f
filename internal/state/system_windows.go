package state

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// The system has no such flags: files are looked at before they are opened.
const (
	noFollow   = 0
	noWait     = 0
	onlyFolder = 0
	safeOpen   = false
)

// Stamp tells nothing: a program can set the times of a file.
func Stamp(string) string { return "" }

func isNoFolder(error) bool { return false }

func isLink(error) bool { return false }

// tryLock takes the lock if nobody has it. The system gives it back when the
// file is closed or the process ends. What is locked is one byte far behind the
// end of the file, since locked bytes cannot be read by others.
func tryLock(f *os.File) (bool, error) {
	const (
		failImmediately = 1
		exclusive       = 2
		farOffset       = 1 << 30
		lockViolation   = syscall.Errno(33)
	)
	proc := syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")
	at := syscall.Overlapped{Offset: farOffset}
	ok, _, err := proc.Call(f.Fd(), failImmediately|exclusive, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	switch {
	case ok != 0:
		return true, nil
	case errors.Is(err, lockViolation), errors.Is(err, syscall.ERROR_IO_PENDING):
		return false, nil
	}
	return false, os.NewSyscallError("LockFileEx", err)
}
