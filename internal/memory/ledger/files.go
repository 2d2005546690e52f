package ledger

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev/internal/base/state"
)

// The names of the files in a ledger's folder, except the files of the days.
const (
	headName  = "head"
	stubName  = "stub.json"
	spoolName = "spool"
	dayEnd    = ".jsonl"
)

// maxDays is the largest number of names read from the ledger's folder.
const maxDays = 20000

// days returns the days that have a file, oldest first.
func (l *Ledger) days() ([]string, error) {
	all, err := state.Names(l.dir, maxDays)
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

// rawLine is an unparsed line of a file.
type rawLine struct {
	// text is the line without its end; nil where it is longer than maxLine.
	text []byte
	// whole is false for a last line without end.
	whole bool
}

// readLines yields the lines of a file in order. The text is valid until the next line. It stops
// when yield returns false.
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

// readBack yields the lines of the first size bytes of a file, the last first. It leaves out a last
// line without end.
func readBack(r io.ReaderAt, size int64, yield func(line []byte) bool) error {
	const chunk = 64 << 10
	var rest []byte // the beginning of a line whose end was read; nil before the first end of a line
	long := true    // the bytes read belong to a line that is left out
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
