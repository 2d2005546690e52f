// Package logfile writes a log of bounded size: when the file is full, it takes the place
// of an older one. Programs that stay would fill the disk else.
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

// How large a file becomes, in bytes, how many older ones are kept, and how long a line is
// at most. A log takes (MaxOld+1) * MaxSize at most.
const (
	MaxSize = 2 << 20
	MaxOld  = 3
	maxLine = 2 << 10
)

// Log is a log. Its methods may be called by several goroutines, and on a nil Log, which
// keeps nothing.
type Log struct {
	mu   sync.Mutex
	path string
	now  func() time.Time
	size int64
	out  io.WriteCloser
	// again is when a file that could not be opened is tried again.
	again time.Time
}

// Open continues the log in a file, of mode 0600. What is there already and is open to
// others, or no file of this user, is an error.
func Open(path string, now func() time.Time) (*Log, error) {
	l := &Log{path: path, now: now}
	return l, l.open()
}

// To is a log without bounds, in the hands of whoever gave it.
func To(out io.Writer, now func() time.Time) *Log {
	return &Log{out: keptOpen{out}, now: now}
}

// Path is the file, "" for one in the hands of somebody else.
func (l *Log) Path() string {
	if l == nil {
		return ""
	}
	return l.path
}

type keptOpen struct{ io.Writer }

func (keptOpen) Close() error { return nil }

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

// Printf writes a line with the time in front. A log that cannot be written is no reason
// to stop: it is tried again a minute later.
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

// turn puts the file away as the newest of the older ones.
func (l *Log) turn() {
	if l.out != nil {
		_ = l.out.Close()
		l.out = nil
	}
	for i := MaxOld; i > 0; i-- {
		// What is not there is no older one. What cannot be moved is written over.
		_ = os.Rename(l.old(i-1), l.old(i))
	}
	if info, err := os.Lstat(l.path); err == nil && info.Size() >= MaxSize/2 {
		_ = os.Remove(l.path)
	}
	l.size = 0
}

// old is the name of an older file, 0 the file itself.
func (l *Log) old(i int) string {
	if i == 0 {
		return l.path
	}
	return fmt.Sprintf("%s.%d", l.path, i)
}

// Close ends the log.
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
