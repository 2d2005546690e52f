// Package logfile writes a log of bounded size. A full file replaces an older one, so that
// long-running programs do not fill the disk.
package logfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"cardea.dev/internal/base/state"
)

// MaxSize is the maximum size of a file in bytes, MaxOld the number of older files, and
// maxLine the maximum length of a line in bytes. A log takes at most (MaxOld+1) * MaxSize
// bytes.
const (
	MaxSize = 2 << 20
	MaxOld  = 3
	maxLine = 2 << 10
)

// Log is a log. Its methods are safe for concurrent use. A nil Log discards everything.
type Log struct {
	mu   sync.Mutex
	path string
	now  func() time.Time
	size int64
	out  io.WriteCloser
	// again is the time of the next attempt to open a file that could not be opened.
	again time.Time
}

// Open opens the log in a file of mode 0600, and appends to it. It fails for an existing
// file that others can access, or that belongs to another user.
func Open(path string, now func() time.Time) (*Log, error) {
	l := &Log{path: path, now: now}
	return l, l.open()
}

// To returns a log without a size limit that writes to out. The caller closes out.
func To(out io.Writer, now func() time.Time) *Log {
	return &Log{out: noClose{out}, now: now}
}

// Path returns the path of the file, "" for a log made by To.
func (l *Log) Path() string {
	if l == nil {
		return ""
	}
	return l.path
}

type noClose struct{ io.Writer }

func (noClose) Close() error { return nil }

func (l *Log) open() error {
	if err := state.PrivateFile(l.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("open the log: %w", err)
	}
	f, info, err := state.Open(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	l.out, l.size = f, info.Size()
	return nil
}

// Printf writes a line that begins with the time. It ignores failures, and tries the file
// again after a minute.
func (l *Log) Printf(format string, args ...any) {
	if l == nil {
		return
	}
	text := fmt.Sprintf(format, args...)
	text = strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
	if len(text) > maxLine {
		text = strings.ToValidUTF8(text[:maxLine], "") + " …"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	line := now.UTC().Format("2006-01-02T15:04:05.000Z") + " " + text + "\n"
	if l.path != "" && l.size+int64(len(line)) > MaxSize {
		l.turn()
	}
	if l.out == nil && (now.Before(l.again) || l.open() != nil) {
		if !now.Before(l.again) {
			l.again = now.Add(time.Minute)
		}
		return
	}
	n, err := io.WriteString(l.out, line)
	if l.size += int64(n); err != nil && l.path != "" {
		_ = l.out.Close()
		l.out, l.again = nil, now.Add(time.Minute)
	}
}

// turn renames the file to the newest of the older files.
func (l *Log) turn() {
	if l.out != nil {
		_ = l.out.Close()
		l.out = nil
	}
	for i := MaxOld; i > 0; i-- {
		// A missing file is ignored. A file that cannot be renamed is overwritten.
		_ = os.Rename(l.old(i-1), l.old(i))
	}
	if info, err := os.Lstat(l.path); err == nil && info.Size() >= MaxSize/2 {
		_ = os.Remove(l.path)
	}
	l.size = 0
}

// old returns the name of an older file; 0 is the log file itself.
func (l *Log) old(i int) string {
	if i == 0 {
		return l.path
	}
	return fmt.Sprintf("%s.%d", l.path, i)
}

// Close closes the log.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out == nil {
		return nil
	}
	err := l.out.Close()
	l.out = nil
	return err
}
