package ledger

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/state"
)

// The codes of findings in a ledger.
const (
	// CodeChanged: a line is not as the ledger wrote it, or belongs to another ledger.
	CodeChanged diagnostic.Code = "changed"
	// CodeMissingEntries: single lines, the end of a day, or whole days are missing.
	CodeMissingEntries diagnostic.Code = "missing-entries"
	// CodeMoved: a line is in another place than where it was written, or appears twice.
	CodeMoved diagnostic.Code = "moved"
	// CodeCut: a line is incomplete, as a crash leaves it. It is only a warning, since the line was
	// never part of the chain.
	CodeCut diagnostic.Code = "cut"
	// CodeHead: the file with the end of the chain is missing or forged.
	CodeHead diagnostic.Code = "head"
	// CodeStub: the record of removed days is forged, or a removed day is back.
	CodeStub diagnostic.Code = "stub"
	// CodeRepaired: a writer found the end of the ledger changed and went on.
	CodeRepaired diagnostic.Code = "mended"
	// CodeSpool: a file in the spool was not written by the ledger.
	CodeSpool diagnostic.Code = "spool"
	// CodeWrongKey: no line was written with this user's key.
	CodeWrongKey diagnostic.Code = "wrong-key"
)

// Report is the result of Verify.
type Report struct {
	// Days and Entries are their numbers, From and To the first and the last day.
	Days    int    `json:"days"`
	Entries int64  `json:"entries"`
	From    string `json:"from"`
	To      string `json:"to"`
	// Removed is the number of entries that retention removed, up to the day RemovedTo.
	Removed   int64  `json:"removed"`
	RemovedTo string `json:"removed_to,omitempty"`
	// RemovedMissing is the number of entries that were missing before their day was removed.
	RemovedMissing int64 `json:"removed_missing,omitempty"`
	// Waiting is the number of entries in the spool.
	Waiting int `json:"waiting"`
	// Busy is set where writers could not be paused. Lines written during the check were then not
	// checked.
	Busy bool `json:"busy,omitempty"`
	// Diagnostics are the findings, in the order of the ledger. More is the number of further
	// findings.
	Diagnostics []diagnostic.Diagnostic `json:"diagnostics"`
	More        int                     `json:"more,omitempty"`
}

// maxFindings is the largest number of diagnostics in a report.
const maxFindings = 1000

// Intact reports whether no change was found. The remains of a crash are only a warning.
func (r *Report) Intact() bool { return !diagnostic.HasError(r.Diagnostics) && r.More == 0 }

// add adds a finding about a file in the ledger's folder, "" for the folder itself.
func (v *verification) add(name string, line int, code diagnostic.Code, format string, args ...any) {
	r := &v.report
	if len(r.Diagnostics) == maxFindings {
		r.More++
		return
	}
	d := diagnostic.Diagnostic{File: v.ledger.path(name), Line: line, Code: code, Text: fmt.Sprintf(format, args...)}
	if code == CodeCut {
		d.Severity = diagnostic.LevelWarning
	}
	r.Diagnostics = append(r.Diagnostics, d)
}

// snapshot is the state of the ledger between two writes.
type snapshot struct {
	head           head
	headOK, noHead bool
	days           []string
	sizes          []int64
	stub           stub
	stubOK         bool
	stubThere      bool
	busy           bool
}

// snapshot reads head, stub and sizes. It holds the lock only that long.
func (l *Ledger) snapshot() (s snapshot, err error) {
	w, err := l.lock(limit.LedgerRead, os.O_RDWR)
	switch {
	case errors.Is(err, os.ErrNotExist):
		s.noHead, err = true, nil
	case errors.Is(err, state.ErrBusy):
		s.busy = true
		var f *os.File
		if f, _, err = state.Open(l.path(headName), os.O_RDONLY); err == nil {
			w = &writer{ledger: l, headFile: f}
		}
	}
	if err != nil {
		return s, err
	}
	if w != nil {
		defer w.close()
		if s.head, s.noHead, s.headOK, err = readHead(l.opt.Key, w.headFile); err != nil {
			return s, err
		}
	}
	if s.stub, s.stubOK, err = l.readStub(); err != nil {
		return s, err
	}
	_, missing := os.Lstat(l.path(stubName))
	s.stubThere = missing == nil
	if s.days, err = l.days(); err != nil {
		return s, err
	}
	for _, day := range s.days {
		info, err := os.Lstat(l.dayPath(day))
		if err != nil {
			return s, err
		}
		s.sizes = append(s.sizes, info.Size())
	}
	return s, nil
}

// Verify implements [Store].
func (l *Ledger) Verify() (Report, error) {
	s, err := l.snapshot()
	if err != nil {
		return Report{}, fmt.Errorf("the ledger %s cannot be verified: %w", l.dir, err)
	}
	v := verification{ledger: l, snapshot: s, report: Report{Days: len(s.days), Busy: s.busy, Diagnostics: []diagnostic.Diagnostic{}}}
	if len(s.days) > 0 {
		v.report.From, v.report.To = s.days[0], s.days[len(s.days)-1]
	}
	v.begin()
	for i, day := range s.days {
		if err := v.day(day, s.sizes[i]); err != nil {
			v.add(day+dayEnd, 0, CodeChanged, "the file cannot be read: %v", err)
		}
	}
	v.end()
	if v.genuine == 0 && v.changed > 0 {
		v.report.Diagnostics, v.report.More = []diagnostic.Diagnostic{}, 0
		v.add("", 0, CodeWrongKey, "none of the %d lines was written with the key of this user: the key was replaced, or the ledger is another user's", v.changed)
	}
	return v.report, v.spool()
}

// verification is one run of Verify along the chain.
type verification struct {
	ledger   *Ledger
	snapshot snapshot
	report   Report
	// n and last are the number and mac of the last line in order. bad is the number of changed
	// lines since then, which are taken as the lines that followed.
	n    int64
	last string
	bad  int64
	// open is set where the beginning of the chain is unknown.
	open             bool
	genuine, changed int64
}

// begin starts at the first line of the ledger, or after the lines that retention removed.
func (v *verification) begin() {
	s := &v.snapshot
	switch {
	case s.stubOK:
		v.n, v.last = s.stub.N, s.stub.Last
		v.report.Removed, v.report.RemovedTo, v.report.RemovedMissing = s.stub.N-s.stub.Missing, s.stub.ToDay, s.stub.Missing
	case s.stubThere:
		v.open = true
		v.add(stubName, 0, CodeStub, "is not as the ledger wrote it: what was removed before the first day is not known")
	}
}

// day checks the lines in the first size bytes of a day's file.
func (v *verification) day(day string, size int64) error {
	if v.snapshot.stubOK && day <= v.snapshot.stub.ToDay {
		v.add(day+dayEnd, 0, CodeStub, "the day was removed by retention, and is there all the same: it was put back, or a crash kept it; the next removal takes it")
		return nil
	}
	f, _, err := state.Open(v.ledger.dayPath(day), os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	number := 0
	return readLines(io.NewSectionReader(f, 0, size), func(raw rawLine) bool {
		number++
		v.line(day, number, raw)
		return true
	})
}

// line checks one line: its form, its end and, if it is genuine, its place in the chain.
func (v *verification) line(day string, number int, raw rawLine) {
	l, ok := readLink(v.ledger.opt.Key, raw.text)
	switch {
	case raw.text == nil:
		v.suspicious(day, number, "the line is longer than any that the ledger writes")
	case !ok && looksCut(raw.text):
		v.add(day+dayEnd, number, CodeCut, "the line is cut, as a crash leaves it")
	case !ok:
		v.suspicious(day, number, "the line is not as the ledger wrote it: it was changed, or somebody else wrote it")
	case !raw.whole && v.snapshot.headOK && l.N <= v.snapshot.head.N:
		v.suspicious(day, number, "the end of the line was taken away")
	default:
		if !raw.whole {
			v.add(day+dayEnd, number, CodeCut, "the line has no end, as a crash leaves it")
		}
		v.genuine++
		v.report.Entries++
		v.follow(day, number, l)
	}
}

func (v *verification) suspicious(day string, number int, text string) {
	v.bad++
	v.changed++
	v.add(day+dayEnd, number, CodeChanged, "%s", text)
}

// follow checks the position of a genuine line.
func (v *verification) follow(day string, number int, l linked) {
	before := v.n + v.bad
	switch {
	case l.Day != day:
		v.add(day+dayEnd, number, CodeMoved, "entry %d was written into the file of %s", l.N, l.Day)
		return
	case v.open:
	case l.N <= v.n:
		v.add(day+dayEnd, number, CodeMoved, "entry %d stands behind entry %d: it was moved, or is there twice", l.N, v.n)
		return
	case l.N > before+1:
		v.add(day+dayEnd, number, CodeMissingEntries, "%s before this line, %s%s", gone(l.N-before-1), v.numbers(l.N-1), v.where(number))
	case l.N == v.n+1 && l.Prev != v.last:
		v.add(day+dayEnd, number, CodeMissingEntries, "entry %d does not follow the line before it: what it followed was replaced", l.N)
	}
	if l.Repaired != "" {
		v.add(day+dayEnd, number, CodeRepaired, "when entry %d was written, the ledger had been changed: %s; what stood at its end until then may be gone", l.N, mendings(l.Repaired))
	}
	v.n, v.last, v.bad, v.open = l.N, l.Mac, 0, false
}

// where returns the possible cause of a gap before the first line of a day.
func (v *verification) where(number int) string {
	if number == 1 {
		return ": the end of the day before, or whole days, were removed"
	}
	return ""
}

func gone(n int64) string {
	if n == 1 {
		return "1 entry is missing"
	}
	return fmt.Sprintf("%d entries are missing", n)
}

// numbers returns the numbers of the missing lines up to a number. Where changed lines are among
// them, their numbers are unknown.
func (v *verification) numbers(to int64) string {
	switch from := v.n + 1; {
	case v.bad > 0:
		return fmt.Sprintf("among the numbers %d to %d", from, to)
	case from == to:
		return fmt.Sprintf("with the number %d", from)
	default:
		return fmt.Sprintf("with the numbers %d to %d", from, to)
	}
}

// end compares the last line with the head.
func (v *verification) end() {
	s := &v.snapshot
	switch {
	case s.noHead && len(s.days) == 0 && !s.stubThere:
		// Nothing was written yet.
	case s.noHead:
		v.add(headName, 0, CodeHead, "the file that tells where the ledger ends is gone: lines at the end may be gone with it")
	case !s.headOK:
		v.add(headName, 0, CodeHead, "is not as the ledger wrote it: lines at the end may be gone")
	case s.head.N > v.n+v.bad:
		v.add(s.head.Day+dayEnd, 0, CodeMissingEntries, "%s at the end, %s", gone(s.head.N-v.n-v.bad), v.numbers(s.head.N))
	case s.head.N == v.n && v.bad == 0 && s.head.Last != v.last:
		v.add(s.head.Day+dayEnd, 0, CodeMissingEntries, "the last line is another than the head tells of: it was replaced")
	}
}

// spool counts the waiting entries, and reports other files in the spool.
func (v *verification) spool() error {
	l := v.ledger
	names, err := l.waiting()
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, isEntry := spooledID(name); isEntry {
			if _, ok, err := l.readSpooled(name); ok {
				v.report.Waiting++
				continue
			} else if errors.Is(err, os.ErrNotExist) {
				continue
			}
		} else if strings.HasPrefix(name, state.TempPrefix) {
			continue // being written
		}
		v.add(filepath.Join(spoolName, name), 0, CodeSpool, "is not as the ledger wrote it; look at it, and remove it")
	}
	return nil
}
