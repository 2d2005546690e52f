// Package state reads and writes files that outlive a process: the state and cache of
// Cardea, and the settings of users. Only this package opens, replaces and locks such
// files, so that all have the same guarantees:
//
//   - Reading does not block. A pipe, device or folder in the place of a file is
//     an error. So is a link, unless users may create one (ReadLinked). A dangling
//     link is always an error.
//   - Reading is bounded: a file beyond its limit is an error.
//   - Writing is atomic: a new file is renamed into its place, and the last
//     writer wins. If that would lose something, writers take a Lock.
//   - Waiting for a lock is bounded.
//   - What Cardea will trust later is signed with the user's key (ReadSigned).
//
// The key distinguishes what this user's Cardea wrote from what a project, a clone or
// another user put there. It is no secret from programs of the same user, as the threat
// model says; against them, put settings into the system scope, which root owns.
package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Open opens a regular file of Cardea. A link is an error. New files have mode 0600.
func Open(path string, flag int) (*os.File, fs.FileInfo, error) {
	if !safeOpen && !regular(os.Lstat(path)) {
		return nil, nil, notRegular(path)
	}
	return open(path, flag|noFollow)
}

// OpenLinked opens a regular file of a user for reading. It follows links.
func OpenLinked(path string) (*os.File, fs.FileInfo, error) {
	if !safeOpen && !regular(os.Stat(path)) {
		return nil, nil, notRegular(path)
	}
	return open(path, os.O_RDONLY)
}

// regular reports whether a regular file or no file was found.
func regular(info fs.FileInfo, err error) bool { return err != nil || info.Mode().IsRegular() }

// open opens a file without blocking. It fails unless the file is regular.
func open(path string, flag int) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, flag|noWait, 0o600)
	if err != nil {
		if isLink(err) {
			err = notRegular(path)
		}
		return nil, nil, dangling(path, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular(path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	// Reads of some regular files of /proc, such as kmsg, block. Other files do not support a
	// deadline, and need none.
	_ = f.SetReadDeadline(time.Now().Add(maxReading))
	return f, info, nil
}

// maxReading is how long reading a file may block.
const maxReading = time.Second

// ErrNotRegular is the cause of errors about links, pipes, devices and folders in the place
// of a file.
var ErrNotRegular = errors.New("it is no regular file; replace or remove it")

// ErrTooLarge is the cause of errors about files beyond their limit.
var ErrTooLarge = errors.New("it is too large")

func notRegular(path string) error { return &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular} }

// Read reads a file of Cardea of at most limit bytes. A link is an error.
func Read(path string, limit int64) ([]byte, error) {
	data, _, err := read(path, false, limit)
	return data, err
}

// ReadProc reads a /proc file of a process, of at most limit bytes. Linux returns such a
// file in one piece.
func ReadProc(path string, limit int64) ([]byte, error) { return readPiece(path, limit) }

// ReadLinked reads a file of a user of at most limit bytes. It follows links.
func ReadLinked(path string, limit int64) ([]byte, error) {
	data, _, err := read(path, true, limit)
	return data, err
}

// ReadDated is ReadLinked, and returns the file's modification time.
func ReadDated(path string, limit int64) ([]byte, time.Time, error) {
	data, info, err := read(path, true, limit)
	return data, info.when, err
}

// about is the metadata of a file that was read.
type about struct {
	mode fs.FileMode
	when time.Time
}

func tooLarge(path string, limit int64) error {
	return &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)}
}

// Write replaces a file of Cardea atomically by a new one of mode 0600. It creates the
// folder with mode 0700.
func Write(path string, data []byte) error { return write(path, data, nil) }

// WriteAt is Write with a modification time.
func WriteAt(path string, data []byte, when time.Time) error {
	return write(path, data, func(f *os.File) error { return os.Chtimes(f.Name(), when, when) })
}

func write(path string, data []byte, prepare func(*os.File) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return Replace(path, data, prepare)
}

// Replace writes a file of mode 0600 next to path and renames it, so that readers never see
// half of it. prepare may change the new file before the rename.
func Replace(path string, data []byte, prepare func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), TempPrefix+"*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && prepare != nil {
		err = prepare(f)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// TempPrefix is the prefix of the names of files being written.
const TempPrefix = ".new-"

// maxNames is how many names of a folder Prune reads.
const maxNames = 10000

// Prune removes the oldest files of a folder with more than limit files, until at most keep
// are left.
func Prune(dir string, limit, keep int) error {
	names, err := Names(dir, maxNames)
	if err != nil || len(names) <= limit {
		return err
	}
	type file struct {
		path string
		when time.Time
	}
	var files []file
	for _, n := range names {
		path := filepath.Join(dir, n)
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			files = append(files, file{path, info.ModTime()})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return a.when.Compare(b.when) })
	var errs []error
	for _, f := range files[:max(0, len(files)-max(0, keep))] {
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// abandoned is the age at which a file that was never renamed is a leftover.
const abandoned = time.Hour

// RemoveAbandoned removes a file left by a process that ended during a write. It leaves
// other files.
func RemoveAbandoned(path string) {
	info, err := os.Lstat(path)
	if err == nil && strings.HasPrefix(filepath.Base(path), TempPrefix) && time.Since(info.ModTime()) > abandoned {
		_ = os.Remove(path) // the next writer tries again
	}
}
