package ledger

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"cardea.dev/internal/base/state"
)

// writer is the process that holds the lock.
type writer struct {
	ledger   *Ledger
	headFile *os.File
	head     head
	// The defect that was found and passed over, as [link] records it, or "". The next line records
	// it, and noted is then set.
	repaired string
	noted    bool
	// file is the file of the day that is written, nil before it is open.
	file *os.File
	// cut is set where the file ends within a line.
	cut bool
	// turned is set when the writer begins a day, grown when the file passes a full MiB. Retention
	// then runs.
	turned, grown bool
}

// maxRecover is the number of bytes at the end of a file that are read to find the end of the chain
// without the head.
const maxRecover = 1 << 20

// The defects that a link can record.
const (
	repairedHead = "head"
	repairedTail = "tail"
)

// mendings returns the description of a defect, for people.
func mendings(repaired string) string {
	switch repaired {
	case repairedHead:
		return "its head was lost or forged"
	case repairedTail:
		return "lines at its end are gone, or not its own"
	}
	return repaired
}

// close releases the lock.
func (w *writer) close() {
	// Nothing was buffered, and no caller could handle the error.
	if w.file != nil {
		_ = w.file.Close()
	}
	_ = w.headFile.Close()
}

// write writes the entries of the spool, and then the given ones. It returns a result for each of
// the latter.
func (w *writer) write(bodies [][]byte) []error {
	err := w.begin()
	if err != nil {
		return slices.Repeat([]error{err}, len(bodies))
	}
	names, err := w.ledger.waiting()
	if err == nil {
		err = w.takeSpooled(names)
	}
	out := w.lines(bodies)
	if err = errors.Join(err, w.end()); err != nil {
		for i := range out {
			out[i] = errors.Join(err, out[i])
		}
	}
	return out
}

// begin finds the end of the chain and opens the file of today. Days never go backwards: if the
// clock does, lines go on in the newest file.
func (w *writer) begin() error {
	l := w.ledger
	h, empty, ok, err := readHead(l.opt.Key, w.headFile)
	if err == nil && !ok {
		h, err = w.findEnd(empty)
		err = errors.Join(err, w.headFile.Truncate(0)) // it may be longer than a head
	}
	if err != nil {
		return err
	}
	w.head = h
	today := dayOf(l.opt.Now())
	if h.Day != "" && h.Day < today {
		if err := w.leave(); err != nil {
			return err
		}
	}
	if h.Day < today {
		w.head.Day, w.head.Size, w.cut, w.turned = today, 0, false, true
	}
	w.file, _, err = state.Open(l.dayPath(w.head.Day), os.O_RDWR|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	return w.settle(w.file)
}

// leave settles the file of a day that has ended.
func (w *writer) leave() error {
	f, _, err := state.Open(w.ledger.dayPath(w.head.Day), os.O_RDWR|os.O_APPEND)
	if errors.Is(err, os.ErrNotExist) {
		w.repaired = repairedTail
		return nil
	}
	if err != nil {
		return err
	}
	err = w.settle(f)
	if err == nil && w.cut {
		_, err = f.WriteString("\n")
	}
	return errors.Join(err, f.Close())
}

// end writes the head.
func (w *writer) end() error {
	if err := writeHead(w.ledger.opt.Key, w.headFile, w.head); err != nil {
		return fmt.Errorf("write the head: %w", err)
	}
	return nil
}

// line writes one line.
func (w *writer) line(body []byte) error { return w.lines([][]byte{body})[0] }

// lines writes the lines that fit the size limit in one write. It takes back a partial write, as on
// a full disk.
func (w *writer) lines(bodies [][]byte) []error {
	l, out := w.ledger, make([]error, len(bodies))
	var text []byte
	if w.cut {
		text = append(text, '\n')
	}
	next, noted, empty := w.head, w.noted, len(text)
	for i, body := range bodies {
		to := link{Day: next.Day, N: next.N + 1, Prev: next.Last}
		if !noted {
			to.Repaired = w.repaired
		}
		line, mac := seal(l.opt.Key, body, to)
		if limit := int64(l.opt.MaxMB) << 20; limit > 0 && w.head.Size+int64(len(text)+len(line)-empty) > limit {
			out[i] = fmt.Errorf("the file of %s has reached the limit of %d MiB; raise ledger.max_mb, and look who calls so often (cardea audit search)", w.head.Day, l.opt.MaxMB)
			continue
		}
		text, noted = append(text, line...), true
		next.N, next.Last = to.N, mac
	}
	if len(text) == empty {
		return out
	}
	if n, err := w.file.Write(text); err != nil {
		if n > 0 {
			err = errors.Join(err, w.file.Truncate(w.head.Size))
		}
		for i := range out {
			out[i] = errors.Join(out[i], err)
		}
		return out
	}
	l.wrote()
	next.Size = w.head.Size + int64(len(text))
	w.grown = w.grown || w.head.Size>>20 != next.Size>>20
	w.head, w.noted, w.cut = next, true, false
	return out
}

// settle compares the end of the file of the head's day with the head. They differ after a crash
// between the two writes, and after another program wrote to the file.
func (w *writer) settle(f *os.File) error {
	info, err := f.Stat()
	if err != nil || info.Size() == w.head.Size {
		return err
	}
	size := info.Size()
	switch {
	case size < w.head.Size:
		w.repaired = repairedTail
	case size-w.head.Size > maxRecover:
		if err := w.countTail(f, size-maxRecover, size, false); err != nil {
			return err
		}
		w.repaired = repairedTail
	default:
		if err := w.countTail(f, w.head.Size, size, true); err != nil {
			return err
		}
	}
	w.head.Size, w.cut = size, false
	if size == 0 {
		return nil
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, size-1); err != nil {
		return err
	}
	w.cut = last[0] != '\n'
	return nil
}

// countTail reads lines of the chain that the head does not cover. A crash leaves a few lines that
// follow, the last one perhaps without its end or incomplete. Anything else is recorded as a
// defect. If chained is false, the first lines need not follow the head.
func (w *writer) countTail(f *os.File, from, to int64, chained bool) error {
	buf := make([]byte, to-from)
	if _, err := f.ReadAt(buf, from); err != nil {
		return err
	}
	for _, line := range strings.Split(strings.TrimSuffix(string(buf), "\n"), "\n") {
		l, ok := readLink(w.ledger.opt.Key, []byte(line))
		switch {
		case ok && l.Day == w.head.Day && (!chained || l.Prev == w.head.Last) && l.N > w.head.N:
			w.head.N, w.head.Last = l.N, l.Mac
			if err := w.ledger.removeSpooled(l.ID); err != nil {
				return err
			}
		case chained && line != "" && !looksCut([]byte(line)):
			w.repaired = repairedTail
		}
	}
	return nil
}

// findEnd finds the end of the chain without a head, from the newest day that has a line of the
// ledger. empty is true for a head file that was just created.
func (w *writer) findEnd(empty bool) (head, error) {
	l := w.ledger
	days, err := l.days()
	if err != nil {
		return head{}, err
	}
	stub, stubbed, err := l.readStub()
	if err != nil {
		return head{}, err
	}
	if !empty || len(days) > 0 || stubbed {
		w.repaired = repairedHead
	}
	for i := len(days) - 1; i >= 0; i-- {
		last, size, err := l.lastLine(days[i])
		if err != nil {
			return head{}, err
		}
		if last.N > 0 {
			return head{Day: days[i], N: last.N, Last: last.Mac, Size: size}, nil
		}
	}
	return head{N: stub.N, Last: stub.Last}, nil
}

// lastLine returns the last genuine line of a day, and the size of the file. N is 0 if there is no
// such line near the end.
func (l *Ledger) lastLine(day string) (linked, int64, error) {
	f, info, err := state.Open(l.dayPath(day), os.O_RDONLY)
	if err != nil {
		return linked{}, 0, err
	}
	defer f.Close()
	var last linked
	left := maxRecover
	err = readBack(f, info.Size(), func(line []byte) bool {
		if got, ok := readLink(l.opt.Key, line); ok && got.Day == day {
			last = got
		}
		left -= len(line) + 1
		return last.N == 0 && left > 0
	})
	return last, info.Size(), err
}
