package state

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"
	"unsafe"
)

// The system has no such flags: files are checked before they are opened.
const (
	noFollow = 0
	noWait   = 0
	safeOpen = false
)

// openFolder opens a folder.
func openFolder(path string) (*os.File, error) { return os.Open(path) }

// lookAt reports whether path is a link or a folder. It fails if nothing is there, or if
// that is unknown.
func lookAt(path string) (link, folder bool, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return false, false, err
	}
	return info.Mode()&fs.ModeSymlink != 0, info.IsDir(), nil
}

// read reads a regular file.
func read(path string, linked bool, limit int64) ([]byte, about, error) {
	open := Open
	if linked {
		open = func(path string, _ int) (*os.File, fs.FileInfo, error) { return OpenLinked(path) }
	}
	f, info, err := open(path, os.O_RDONLY)
	if err != nil {
		return nil, about{}, err
	}
	data, err := readAll(f, info, limit)
	return data, about{info.Mode(), info.ModTime()}, err
}

// readKnown is read: the system has no stamp that programs cannot set.
func readKnown(path string, linked bool, limit int64, _ *Memory) ([]byte, about, error) {
	return read(path, linked, limit)
}

// readAll reads an open file and closes it. The file may grow meanwhile.
func readAll(f *os.File, info fs.FileInfo, limit int64) ([]byte, error) {
	defer f.Close()
	if info.Size() > limit {
		return nil, tooLarge(f.Name(), limit)
	}
	data := make([]byte, 0, info.Size()+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > limit:
			return nil, tooLarge(f.Name(), limit)
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, err
		}
		data = slices.Grow(data, 1)
	}
}

// Stamp returns "": a program can set the times of a file.
func Stamp(string) string { return "" }

func isNoFolder(error) bool { return false }

func isLink(error) bool { return false }

// tryLock takes the lock if it is free. The system releases it when the file is closed or
// the process ends. The lock covers one byte far after the end of the file, since others
// cannot read locked bytes.
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

// CreatedSince always returns "": on Windows, every file asks again.
func CreatedSince(string, time.Time) string { return "" }

// readPiece is Read: there is no /proc.
func readPiece(path string, limit int64) ([]byte, error) { return Read(path, limit) }
