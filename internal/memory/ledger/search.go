package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/state"
)

// Line is an entry as it was found in the ledger.
type Line struct {
	Entry Entry
	// Day is the day of the file, N the number in the chain; "" and 0 for an entry in the spool.
	Day string
	N   int64
	// Genuine is false where the line is not as the ledger wrote it.
	Genuine bool
}

// MarshalJSON returns the entry in the form of the file, with its position.
func (l Line) MarshalJSON() ([]byte, error) {
	return marshal(struct {
		written
		Day     string `json:"day"`
		N       int64  `json:"n"`
		Genuine bool   `json:"genuine"`
	}{l.Entry.form(), l.Day, l.N, l.Genuine})
}

// Query selects lines. An empty field does not restrict the selection.
type Query struct {
	// Since and Until bound the time: not before Since, and before Until.
	Since, Until time.Time
	Session      string
	// Project is the folder of a project, absolute.
	Project string
	// Tool is the canonical name, in any case.
	Tool string
	// Effects lists outcomes; one of them must match. Deny also matches denials of another
	// reviewer.
	Effects []cardea.Effect
	// Rule is the id of a rule, or decider:rule, and Decider the name of a decider. Any opinion in
	// the entry may match.
	Rule, Decider string
	// Role and Harness are those of the event.
	Role, Harness string
	// By is the author of the effect: a decider, or decider:rule.
	By string
	// Text appears in the input, a part, a reason, the working folder or the project, in any case.
	Text string
	// Limit is the largest number of lines; 0 sets no limit.
	Limit int

	// id is the id of a single entry.
	id string
}

// matches reports whether a written entry matches the query.
func (q *Query) matches(w *written) bool {
	at, err := time.Parse(timeForm, w.Time)
	switch {
	case err != nil,
		q.id != "" && w.ID != q.id,
		q.id == "" && !q.Since.IsZero() && at.Before(q.Since),
		!q.Until.IsZero() && !at.Before(q.Until),
		q.Session != "" && w.Session != q.Session,
		q.Project != "" && w.Project != q.Project,
		q.Tool != "" && !strings.EqualFold(w.Tool, q.Tool),
		q.Role != "" && w.Role != q.Role,
		q.Harness != "" && w.Harness != q.Harness,
		q.By != "" && !madeBy(w.By, q.By),
		len(q.Effects) > 0 && !slices.ContainsFunc(q.Effects, func(e cardea.Effect) bool { return e.String() == w.Effect || e == cardea.Deny && w.Review == "deny" }),
		q.Rule != "" && w.By != q.Rule && !slices.ContainsFunc(w.Opinions, func(o writtenOpinion) bool { return o.Rule == q.Rule || o.Decider+":"+o.Rule == q.Rule }),
		q.Decider != "" && w.By != q.Decider && !slices.ContainsFunc(w.Opinions, func(o writtenOpinion) bool { return o.Decider == q.Decider }):
		return false
	}
	return q.Text == "" || q.inText(w)
}

// madeBy reports whether the author of an effect is the wanted decider or decider:rule.
func madeBy(by, wanted string) bool { return by == wanted || strings.HasPrefix(by, wanted+":") }

func (q *Query) inText(w *written) bool {
	want := strings.ToLower(q.Text)
	has := func(s string) bool { return strings.Contains(strings.ToLower(s), want) }
	return has(w.Input.Text) || has(w.ReviewWhy) || w.Rewrite != nil && has(w.Rewrite.Text) || has(w.Reason) || has(w.Cwd) || has(w.Project) ||
		slices.ContainsFunc(w.Parts, func(p writtenPart) bool { return has(p.Text) }) ||
		slices.ContainsFunc(w.Opinions, func(o writtenOpinion) bool { return has(o.Reason) })
}

// Search implements [Store]. Entries in the spool come first. A line that cannot be read is left
// out, and reported by an error at the end of its day.
func (l *Ledger) Search(q Query) iter.Seq2[Line, error] {
	// Session ids were redacted before they were stored.
	q.Session = l.opt.Redactor.Text(q.Session).String()
	return func(yield func(Line, error) bool) {
		s := search{ledger: l, query: q, yield: yield, spooled: map[string]bool{}}
		l.newestFirst(q.Since, func(err error) bool { return yield(Line{}, err) }, s.waits, s.day)
	}
}

// newestFirst calls waits for the entries in the spool and day for the days since a time, the last
// first, until a function returns false. fail receives errors.
func (l *Ledger) newestFirst(since time.Time, fail func(error) bool, waits func(id string, body []byte) bool, day func(string) bool) {
	names, err := l.waiting()
	if err != nil && !fail(err) {
		return
	}
	for _, name := range slices.Backward(names) {
		id, ok := spooledID(name)
		body, genuine, err := l.readSpooled(name)
		if !ok || err != nil || !genuine {
			continue // taken just now, or reported by Verify
		}
		if !waits(id, body) {
			return
		}
	}
	days, err := l.days()
	if err != nil {
		fail(err)
	}
	for _, d := range slices.Backward(days) {
		// No line is in the file of a day before its own.
		if !since.IsZero() && d < dayOf(since) || !day(d) {
			return
		}
	}
}

// search is one run of Search through the ledger.
type search struct {
	ledger  *Ledger
	query   Query
	yield   func(Line, error) bool
	spooled map[string]bool
	found   int
	buffers sync.Pool
}

// give yields one entry if it matches the query.
func (s *search) give(w *written, day string, n int64, genuine bool) (more bool) {
	if !s.query.matches(w) {
		return true
	}
	e, err := w.entry(s.ledger.opt.Redactor)
	if err != nil {
		return s.yield(Line{}, fmt.Errorf("an entry of %s is strange: %w; run \"cardea audit verify\"", cmp.Or(day, "the spool"), err))
	}
	s.found++
	return s.yield(Line{Entry: e, Day: day, N: n, Genuine: genuine}, nil) && (s.query.Limit <= 0 || s.found < s.query.Limit)
}

// waits yields an entry of the spool.
func (s *search) waits(id string, body []byte) (more bool) {
	w, err := parse(body)
	if err != nil {
		return true
	}
	s.spooled[id] = true
	return s.give(&w, "", 0, true)
}

// day yields the matching entries of a day, the last first. It returns false when the caller wants
// no more.
func (s *search) day(day string) (more bool) {
	l := s.ledger
	f, info, err := state.Open(l.dayPath(day), os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		return true // removed just now
	}
	if err != nil {
		return s.yield(Line{}, err)
	}
	defer f.Close()
	unread, more := 0, true
	err = scan(f, info.Size(), &s.query, &s.buffers, func(c *candidate) bool {
		if c.wrong {
			unread++
			return true
		}
		if s.spooled[c.form.ID] {
			return true
		}
		if s.query.matches(&c.form) {
			line, genuine := readLink(l.opt.Key, c.text)
			more = s.give(&c.form, day, line.N, genuine && line.Day == day)
		}
		return more
	})
	if err == nil && more && unread > 0 {
		err = fmt.Errorf("%d lines of %s cannot be read; run \"cardea audit verify\"", unread, day)
	}
	if err != nil {
		more = s.yield(Line{}, err) && more
	}
	return more
}

// Get implements [Store]. The time in the id limits the days to search.
func (l *Ledger) Get(id string) (Line, error) {
	id = strings.ToLower(strings.TrimSpace(id))
	at, ok := idTimeOf(id)
	if !ok {
		return Line{}, fmt.Errorf("%q is no id of an entry; \"cardea audit search\" shows them", id)
	}
	var found Line
	var failed error
	for line, err := range l.Search(Query{Since: at.Truncate(24 * time.Hour), id: id}) {
		failed = errors.Join(failed, err)
		if err == nil && (found.Entry.ID == "" || line.Genuine) {
			found = line
		}
		if line.Genuine {
			break // a genuine line is preferred to a planted one with the same id
		}
	}
	switch {
	case found.Entry.ID != "":
		return found, nil
	case failed != nil:
		return Line{}, failed
	}
	return Line{}, fmt.Errorf("%w with the id %s: it may be of another ledger, of a level that is not kept, or older than ledger.keep_days", ErrNoEntry, id)
}
