package ledger

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"cardea.dev/internal/base/state"
)

// stub records the days that retention removed, from the first one up to the line with the number
// N. It is signed, so that [Ledger.Verify] can distinguish them from days that another program
// removed.
type stub struct {
	V int `json:"v"`
	// FromDay and ToDay are the first and the last day that was removed.
	FromDay string `json:"from_day"`
	ToDay   string `json:"to_day"`
	// N and Last are the number and mac of the last line removed.
	N    int64  `json:"n"`
	Last string `json:"last"`
	// Missing is the number of lines that were already missing, judged by the first and the last
	// line of each day.
	Missing int64 `json:"missing"`
}

// readStub reads the stub. It returns false for a missing or forged stub.
func (l *Ledger) readStub() (s stub, ok bool, err error) {
	data, err := state.Read(l.path(stubName), 4<<10)
	if errors.Is(err, os.ErrNotExist) {
		return stub{}, false, nil
	}
	if err != nil {
		return stub{}, false, err
	}
	line := bytes.TrimSuffix(data, []byte("\n"))
	signed := readSigned(l.opt.Key, "ledger stub", line, &s)
	if signed && s.V > version {
		return stub{}, false, fmt.Errorf("a newer Cardea wrote %s; it is left as it is", l.path(stubName))
	}
	if !signed || s.V != version {
		return stub{}, false, nil
	}
	return s, true, nil
}

// retain removes days that are too old, and the oldest ones while the total is too large. It never
// removes the day that is written. It runs under the lock, when a day begins and each time the file
// has grown by a MiB.
func (l *Ledger) retain(writing string) error {
	days, err := l.days()
	if err != nil {
		return err
	}
	var total int64
	sizes := make([]int64, len(days))
	for i, day := range days {
		info, err := os.Lstat(l.dayPath(day))
		if err != nil {
			return err
		}
		sizes[i] = info.Size()
		total += sizes[i]
	}
	oldest := ""
	if l.opt.KeepDays > 0 {
		oldest = dayOf(l.opt.Now().Add(-time.Duration(l.opt.KeepDays) * 24 * time.Hour))
	}
	limit := int64(l.opt.MaxMB) << 20
	for i, day := range days {
		if day >= writing || day >= oldest && (limit == 0 || total <= limit) {
			return nil
		}
		if err := l.removeDay(day); err != nil {
			return fmt.Errorf("remove the day %s, whose time is over: %w", day, err)
		}
		total -= sizes[i]
	}
	return nil
}

// removeDay writes the stub before it removes the file. A crash in between leaves a day that the
// stub already covers, and the next run removes it.
func (l *Ledger) removeDay(day string) error {
	s, stubbed, err := l.readStub()
	if err != nil {
		return err
	}
	if !stubbed || day > s.ToDay {
		first, err := l.firstLine(day)
		if err != nil {
			return err
		}
		last, _, err := l.lastLine(day)
		if err != nil {
			return err
		}
		if first.N > s.N+1 {
			s.Missing += first.N - s.N - 1
		}
		if last.N > s.N {
			s.N, s.Last = last.N, last.Mac
		}
		s.V, s.FromDay, s.ToDay = version, cmp.Or(s.FromDay, day), day
		open, err := marshal(s)
		if err != nil {
			return err
		}
		data, _ := sign(l.opt.Key, "ledger stub", open[:len(open)-1])
		if err := state.Write(l.path(stubName), data); err != nil {
			return err
		}
	}
	return os.Remove(l.dayPath(day))
}

// firstLine returns the first genuine line of a day, if it is near the beginning; otherwise N is 0.
func (l *Ledger) firstLine(day string) (linked, error) {
	f, _, err := state.Open(l.dayPath(day), os.O_RDONLY)
	if err != nil {
		return linked{}, err
	}
	defer f.Close()
	var first linked
	left := maxRecover
	err = readLines(f, func(line rawLine) bool {
		if got, ok := readLink(l.opt.Key, line.text); ok && got.Day == day {
			first = got
		}
		left -= len(line.text) + 1
		return first.N == 0 && left > 0
	})
	return first, err
}
