package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/state"
)

// This file reads entries for statistics. A count over a million entries needs few of their fields,
// and has no time to redact and check the others.

// Record holds the fields of an entry that statistics need. Its texts were redacted when they were
// written. A caller that displays one must escape it.
type Record struct {
	Time time.Time
	// Harness to Project, By to ReviewReason and Effect are those of the [Entry]. Decided is the
	// effect that was decided.
	Harness, Session, AgentType, Event, Mode, Tool, Role, Project string
	By, Call, Reviewer, Review, ReviewReason                      string
	Effect, Decided                                               cardea.Effect
	// Text is the text of the input, Digest the digest of the whole input.
	Text, Digest string
	Opinions     []RecordOpinion
	// Micros is the time to decide, in microseconds.
	Micros int64
}

// RecordOpinion holds the fields of an opinion that statistics need.
type RecordOpinion struct {
	Decider, Rule, Source, Scope string
	Effect                       cardea.Effect
}

// Records yields the entries that match a query, the last written first. It uses the fields Since,
// Until, Session, Project, Role, Harness and By of the query. It leaves out lines that are not as
// the ledger wrote them, and yields an error with their number at the end.
func (l *Ledger) Records(q Query) iter.Seq2[Record, error] {
	q.Session = l.opt.Redactor.Text(q.Session).String()
	return func(yield func(Record, error) bool) {
		r := recording{ledger: l, query: q, yield: yield, spooled: map[string]bool{}, known: map[string]string{}}
		l.newestFirst(q.Since, func(err error) bool { return r.give(Record{}, err) }, r.waits, r.day)
		if r.suspicious > 0 && !r.stopped {
			yield(Record{}, fmt.Errorf("%d lines are not as the ledger wrote them, and do not count; run \"cardea audit verify\"", r.suspicious))
		}
	}
}

// Span returns the oldest and the newest day with a file, as 2026-11-20, or "" for an empty ledger.
func (l *Ledger) Span() (first, last string, err error) {
	days, err := l.days()
	if err != nil || len(days) == 0 {
		return "", "", err
	}
	return days[0], days[len(days)-1], nil
}

// recording is one run of Records through the ledger.
type recording struct {
	ledger     *Ledger
	query      Query
	yield      func(Record, error) bool
	spooled    map[string]bool
	buffers    sync.Pool
	suspicious int
	stopped    bool

	// known holds texts that many entries share.
	mutex sync.RWMutex
	known map[string]string
}

// foundRecord is the result of reading one line.
type foundRecord struct {
	record Record
	id     string
	// suspicious is set for a line that is not as the ledger wrote it.
	suspicious bool
}

func (r *recording) give(rec Record, err error) bool {
	r.stopped = !r.yield(rec, err)
	return !r.stopped
}

// waits yields an entry of the spool.
func (r *recording) waits(id string, body []byte) (more bool) {
	f := foundRecord{}
	r.spooled[id] = true
	return !r.read(body, &f, "") || r.give(f.record, nil)
}

// day yields the records of a day, the last first. It returns false when the caller wants no more.
func (r *recording) day(day string) (more bool) {
	f, info, err := state.Open(r.ledger.dayPath(day), os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		return true // removed just now
	}
	if err != nil {
		return r.give(Record{}, err)
	}
	defer f.Close()
	since := ""
	if !r.query.Since.IsZero() {
		since = r.query.Since.UTC().Format(timeForm)
	}
	err = eachLine(f, info.Size(), &r.buffers, func(line []byte) (foundRecord, bool) {
		if since != "" {
			if at, is := timeOf(line); is && at < since {
				return foundRecord{}, false
			}
		}
		body, _, genuine := unsign(r.ledger.opt.Key, "ledger line", line)
		if !genuine {
			return foundRecord{suspicious: true}, true
		}
		var f foundRecord
		is := r.read(append(body, '}'), &f, day) // the byte after it belongs to the mac
		return f, is
	}, func(f *foundRecord) bool {
		switch {
		case f.suspicious:
			r.suspicious++
			return true
		case r.spooled[f.id]:
			return true
		}
		return r.give(f.record, nil)
	})
	if err != nil {
		return r.give(Record{}, err)
	}
	return !r.stopped
}

// field returns the field of the record for a key, nil for a key that is not a text to store.
func (rec *Record) field(key []byte) *string {
	names := [...]string{"harness", "session", "agent_type", "event", "mode", "tool", "role", "project", "by", "reviewer", "review"}
	fields := [...]*string{&rec.Harness, &rec.Session, &rec.AgentType, &rec.Event, &rec.Mode, &rec.Tool, &rec.Role, &rec.Project, &rec.By, &rec.Reviewer, &rec.Review}
	if i := slices.Index(names[:], string(key)); i >= 0 {
		return fields[i]
	}
	return nil
}

// read reads an entry that the ledger wrote, and reports whether it matches the query or is
// strange.
func (r *recording) read(line []byte, f *foundRecord, day string) bool {
	rec := &f.record
	var input, opinions []byte
	ok := members(line, func(key, value []byte) {
		if to := rec.field(key); to != nil {
			*to = r.text(value)
			return
		}
		switch string(key) {
		case "id":
			f.id = plain(value)
		case "time":
			rec.Time = timeIn(value)
		case "effect":
			rec.Effect = effectOf(value)
		case "decided":
			rec.Decided = effectOf(value)
		case "input":
			input = value
		case "opinions":
			opinions = value
		case "call":
			rec.Call = plain(value)
		case "review_reason":
			rec.ReviewReason = plain(value)
		case "micros":
			rec.Micros, _ = strconv.ParseInt(string(value), 10, 64)
		case "day":
			f.suspicious = f.suspicious || day != "" && plain(value) != day
		}
	})
	f.suspicious = f.suspicious || !ok || rec.Time.IsZero()
	if rec.Decided == cardea.Abstain {
		rec.Decided = rec.Effect
	}
	if f.suspicious || !r.counts(rec) {
		return f.suspicious
	}
	members(input, func(key, value []byte) {
		switch string(key) {
		case "digest":
			rec.Digest = plain(value)
		case "text":
			rec.Text = plain(value)
		}
	})
	elements(opinions, func(value []byte) { rec.Opinions = append(rec.Opinions, r.opinion(value)) })
	return true
}

// opinion reads an opinion of an entry.
func (r *recording) opinion(raw []byte) (o RecordOpinion) {
	members(raw, func(key, value []byte) {
		switch string(key) {
		case "decider":
			o.Decider = r.text(value)
		case "rule":
			o.Rule = r.text(value)
		case "source":
			o.Source = r.text(value)
		case "scope":
			o.Scope = r.text(value)
		case "effect":
			o.Effect = effectOf(value)
		}
	})
	return o
}

// timeIn returns a time in the form of the ledger, or the zero time for any other text.
// [time.Parse] would take as long as the rest of an entry.
func timeIn(raw []byte) time.Time {
	const form = `"2026-11-20T09:15:53.000000Z"`
	if len(raw) != len(form) {
		return time.Time{}
	}
	number := func(from, to int) (n int) {
		for _, c := range raw[from:to] {
			n = 10*n + int(c-'0')
		}
		return n
	}
	return time.Date(number(1, 5), time.Month(number(6, 8)), number(9, 11), number(12, 14), number(15, 17), number(18, 20), 1000*number(21, 27), time.UTC)
}

// counts reports whether a record matches the query.
func (r *recording) counts(rec *Record) bool {
	q := &r.query
	return (q.Since.IsZero() || !rec.Time.Before(q.Since)) && (q.Until.IsZero() || rec.Time.Before(q.Until)) &&
		(q.Session == "" || rec.Session == q.Session) && (q.Project == "" || rec.Project == q.Project) &&
		(q.Role == "" || rec.Role == q.Role) && (q.Harness == "" || rec.Harness == q.Harness) && (q.By == "" || madeBy(rec.By, q.By))
}

// maxKnown is the largest number of texts in recording.known.
const maxKnown = 1 << 14

// text returns a JSON text that other entries are likely to share.
func (r *recording) text(raw []byte) string {
	r.mutex.RLock()
	s, is := r.known[string(raw)]
	r.mutex.RUnlock()
	if is {
		return s
	}
	s = plain(raw)
	r.mutex.Lock()
	if len(r.known) < maxKnown {
		r.known[string(raw)] = s
	}
	r.mutex.Unlock()
	return s
}

// plain returns the text of a JSON string, "" for any other value.
func plain(raw []byte) string {
	if len(raw) >= 2 && bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// effectOf returns the effect of a word, Abstain for an unknown word.
func effectOf(raw []byte) cardea.Effect {
	e, err := cardea.ParseEffect(plain(raw))
	if err != nil {
		return cardea.Abstain
	}
	return e
}

// members passes the keys and values of a JSON object without white space to do, as the ledger
// writes it. It returns false for anything else.
func members(b []byte, do func(key, value []byte)) bool {
	if len(b) < 2 || b[0] != '{' {
		return false
	}
	for i := 1; i < len(b) && b[i] != '}'; {
		end := valueEnd(b, i)
		if end < 0 || b[i] != '"' || end >= len(b) || b[end] != ':' {
			return false
		}
		stop := valueEnd(b, end+1)
		if stop < 0 {
			return false
		}
		do(b[i+1:end-1], b[end+1:stop])
		if i = stop; i < len(b) && b[i] == ',' {
			i++
		}
	}
	return true
}

// elements passes the values of a JSON list without white space to do.
func elements(b []byte, do func(value []byte)) {
	for i := 1; i < len(b) && b[i] != ']'; {
		end := valueEnd(b, i)
		if end <= i {
			return
		}
		do(b[i:end])
		if i = end; i < len(b) && b[i] == ',' {
			i++
		}
	}
}

// valueEnd returns the end of the JSON value that begins at index i, or -1 for an incomplete value.
func valueEnd(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			for i++; ; {
				n := bytes.IndexByte(b[i:], '"')
				if n < 0 {
					return -1
				}
				i += n + 1
				escapes := 0
				for j := i - 2; j >= 0 && b[j] == '\\'; j-- {
					escapes++
				}
				if escapes%2 == 0 {
					break
				}
			}
			if depth == 0 {
				return i
			}
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i // of a number or word in an object
			}
			if depth--; depth == 0 {
				return i + 1
			}
			i++
		case ',':
			if depth == 0 {
				return i
			}
			i++
		default:
			i++
		}
	}
	return -1
}
