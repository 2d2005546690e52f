package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"cardea.dev/internal/base/state"
)

// followPiece is the number of bytes that a [Follower] reads at a time. It exceeds the longest
// line.
const followPiece = 1 << 20

// Follower returns the entries written from a moment on. A slow caller loses no entries, since they
// are stored in the ledger.
type Follower struct {
	ledger *Ledger
	query  Query
	day    string
	at     int64
	// before holds the ids of the entries that Follow returned. An entry in the spool appears again
	// when the next writer takes it.
	before map[string]bool
}

// Follow returns the entries that match q, the last written last, and a follower for later ones.
// The limit of q applies only to the first entries. The error reports what could not be read; the
// follower is valid in any case.
func (l *Ledger) Follow(q Query) (*Follower, []Line, error) {
	f := &Follower{ledger: l, query: q, before: map[string]bool{}}
	f.query.Session = l.opt.Redactor.Text(q.Session).String()
	failed := f.toEnd()
	var first []Line
	for line, err := range l.Search(q) {
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		first = append(first, line)
		f.before[line.Entry.ID] = true
	}
	slices.Reverse(first)
	return f, first, failed
}

// days returns the days of the ledger up to tomorrow. A file with a later date must not hide the
// entries of today.
func (f *Follower) days() ([]string, error) {
	days, err := f.ledger.days()
	last := dayOf(f.ledger.opt.Now().AddDate(0, 0, 1))
	return slices.DeleteFunc(days, func(day string) bool { return day > last }), err
}

// toEnd moves the follower after the last complete line.
func (f *Follower) toEnd() error {
	days, err := f.days()
	if err != nil || len(days) == 0 {
		return err
	}
	f.day = days[len(days)-1]
	file, info, err := state.Open(f.ledger.dayPath(f.day), os.O_RDONLY)
	if err != nil {
		return ignoreMissing(err)
	}
	defer file.Close()
	from := max(0, info.Size()-followPiece)
	data := make([]byte, info.Size()-from)
	if n, err := file.ReadAt(data, from); err != nil && (!errors.Is(err, io.EOF) || n < len(data)) {
		return err
	}
	f.at = info.Size()
	if i := bytes.LastIndexByte(data, '\n'); i >= 0 {
		f.at = from + int64(i) + 1
	} else if from == 0 {
		f.at = 0
	}
	return nil
}

// Next returns the entries written since the last call, the oldest first. more reports whether
// further entries are available. It never waits. The error reports what could not be read; that
// part is skipped.
func (f *Follower) Next() (lines []Line, more bool, err error) {
	days, err := f.days()
	if err != nil {
		return nil, false, err
	}
	for _, day := range days {
		if day < f.day {
			continue
		}
		if day > f.day {
			f.day, f.at = day, 0
		}
		var full bool
		if lines, full, err = f.read(); len(lines) > 0 || full || err != nil {
			return lines, full || day != days[len(days)-1], err
		}
	}
	return nil, false, nil
}

// read reads a piece of the day. full reports whether the day has more than that.
func (f *Follower) read() (lines []Line, full bool, err error) {
	file, info, err := state.Open(f.ledger.dayPath(f.day), os.O_RDONLY)
	if err != nil {
		return nil, false, ignoreMissing(err)
	}
	defer file.Close()
	if info.Size() < f.at {
		f.at = info.Size()
		return nil, false, fmt.Errorf("the ledger's file of %s became shorter; run \"cardea audit verify\"", f.day)
	}
	data := make([]byte, min(followPiece, info.Size()-f.at))
	if n, err := file.ReadAt(data, f.at); err != nil && (!errors.Is(err, io.EOF) || n < len(data)) {
		return nil, false, err
	}
	end := bytes.LastIndexByte(data, '\n') + 1
	switch {
	case end == 0 && len(data) < followPiece:
		return nil, false, nil // a line is being written
	case end == 0:
		end = len(data) // no line of the ledger's is that long
	}
	f.at += int64(end)
	unread := 0
	for line := range bytes.SplitSeq(bytes.TrimSuffix(data[:end], []byte("\n")), []byte("\n")) {
		if found, is, ok := f.line(line); is {
			lines = append(lines, found)
		} else if !ok {
			unread++
		}
	}
	if unread > 0 {
		err = fmt.Errorf("%d lines of %s cannot be read; run \"cardea audit verify\"", unread, f.day)
	}
	return lines, f.at < info.Size(), err
}

// line reads a line. is reports whether it matches the query and is new, ok whether it can be read.
func (f *Follower) line(text []byte) (found Line, is, ok bool) {
	if len(text) == 0 {
		return found, false, true
	}
	w, err := parse(text)
	if err != nil {
		return found, false, false
	}
	if !f.query.matches(&w) {
		return found, false, true
	}
	e, err := w.entry(f.ledger.opt.Redactor)
	if err != nil {
		return found, false, false
	}
	link, genuine := readLink(f.ledger.opt.Key, text)
	genuine = genuine && link.Day == f.day
	if genuine && f.before[e.ID] {
		return found, false, true
	}
	return Line{Entry: e, Day: f.day, N: link.N, Genuine: genuine}, true, true
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil // removed just now
	}
	return err
}
