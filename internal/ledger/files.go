package ledger

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The files of a ledger's folder, besides those of the days.
const (
	headName  = "head"
	stubName  = "stub.json"
	spoolName = "spool"
	dayEnd    = ".jsonl"
)

// errBusy is what lock returns when somebody else had the lock all the time.
var errBusy = errors.New("the ledger is locked by another process")

// takeLock waits for the lock on an open file, at most for a time.
func takeLock(f *os.File, wait time.Duration) error {
	end := time.Now().Add(wait)
	for pause := 50 * time.Microsecond; ; pause = min(2*pause, 2*time.Millisecond) {
		ok, err := tryLock(f)
		if ok || err != nil {
			return err
		}
		left := time.Until(end)
		if left <= 0 {
			return errBusy
		}
		time.Sleep(min(pause, left))
	}
}

// openRegular opens a file that is no link, pipe or device: a pipe in its place
// would hang the hook.
func openRegular(path string, flag int) (*os.File, os.FileInfo, error) {
	f, err := os.OpenFile(path, flag|openFlags, 0o600)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file; remove it", path)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// readSmall reads a regular file of at most limit bytes.
func readSmall(path string, limit int64) ([]byte, error) {
	f, info, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// replace writes a file beside its place and renames it there, so that nobody
// reads half of it.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), tempPrefix+"*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// tempPrefix begins the names of files that are being written.
const tempPrefix = ".new-"

// names lists a folder, at most limit entries of it. A folder that is not there
// is empty.
func names(dir string, limit int) ([]string, error) {
	d, err := os.Open(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out, err := d.Readdirnames(limit)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return out, errors.Join(err, d.Close())
}

// maxDays is how many names of the ledger's folder are looked at.
const maxDays = 20000

// days lists the days that have a file, oldest first.
func (l *Ledger) days() ([]string, error) {
	all, err := names(l.dir, maxDays)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, n := range all {
		if day, ok := strings.CutSuffix(n, dayEnd); ok && isDay(day) {
			out = append(out, day)
		}
	}
	slices.Sort(out)
	return out, nil
}

func (l *Ledger) path(name string) string   { return filepath.Join(l.dir, name) }
func (l *Ledger) dayPath(day string) string { return l.path(day + dayEnd) }

// rawLine is a line of a file as it stands.
type rawLine struct {
	// text is the line without its end; nil where it is longer than maxLine.
	text []byte
	// whole is false for a last line without end.
	whole bool
}

// readLines gives the lines of a file in order. The text is valid until the
// next one. It stops when yield is false.
func readLines(r io.Reader, yield func(rawLine) bool) error {
	b := bufio.NewReaderSize(r, maxLine+1)
	for {
		text, err := b.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = b.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(text) == 0 {
			return nil
		}
		line := rawLine{whole: err == nil}
		if !long {
			line.text = bytes.TrimSuffix(text, []byte("\n"))
		}
		if !yield(line) || err != nil {
			return nil
		}
	}
}

// readBack gives the lines of the first size bytes of a file, the last first. A
// last line without end is left out.
func readBack(r io.ReaderAt, size int64, yield func(line []byte) bool) error {
	const chunk = 64 << 10
	var rest []byte // the begin of a line whose end was read; nil before the first end of a line
	long := true    // what is read belongs to a line that is left out
	for at := size; at > 0; {
		n := min(chunk, at)
		at -= n
		buf := make([]byte, n, n+int64(len(rest)))
		if _, err := r.ReadAt(buf, at); err != nil {
			return err
		}
		for {
			i := bytes.LastIndexByte(buf, '\n')
			if i < 0 {
				break
			}
			if line := append(buf[i+1:len(buf):len(buf)], rest...); !long && len(line) < maxLine && !yield(line) {
				return nil
			}
			buf, rest, long = buf[:i], nil, false
		}
		if !long {
			rest = append(buf, rest...)
		}
		if len(rest) > maxLine {
			rest, long = nil, true
		}
	}
	if !long && len(rest) < maxLine {
		yield(rest)
	}
	return nil
}
