// Package display prints the ledger for people: "cardea audit search", "cardea
// audit verify" and "cardea explain".
package display

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"cardea.dev"
	"cardea.dev/internal/ledger"
)

// Face writes for people.
type Face struct {
	Out io.Writer
	// Plain makes a text safe for one line of a terminal.
	Plain func(string) string
	// Zone is the person's time zone; nil is UTC.
	Zone *time.Location
}

// commandWidth is how many characters of a command a line of a search shows.
const commandWidth = 80

// Search writes a line for each entry: its id for explain, when, what was
// decided, about what, by whom. Errors of the search are given to warn, and the
// search goes on. It tells how many entries there were.
func (f Face) Search(lines iter.Seq2[ledger.Line, error], warn func(error)) (int, error) {
	w, n := f.writer(), 0
	for l, err := range lines {
		if err != nil {
			warn(err)
			continue
		}
		n++
		e := &l.Entry
		w.printf("%s  %s  %-7s  %-5s  %s", e.ID, f.time(e.Time), e.Effect, f.Plain(e.Tool.String()), shorten(f.Plain(e.Input.Text.String()), commandWidth))
		if by := e.By.String(); by != "" {
			w.printf("  [%s]", f.Plain(by))
		}
		if !l.Genuine {
			w.printf("  (not as the ledger wrote it)")
		}
		w.printf("\n")
	}
	return n, w.flush()
}

// Verify writes a report.
func (f Face) Verify(r ledger.Report) error {
	w := f.writer()
	switch {
	case r.Days == 0 && r.Removed == 0:
		w.printf("the ledger is empty\n")
	case r.Days == 0:
		w.printf("no days\n")
	default:
		w.printf("%s of %s, %s to %s\n", count(r.Entries, "entry", "entries"), count(int64(r.Days), "day", "days"), r.From, r.To)
	}
	if r.RemovedTo != "" {
		w.printf("removed by retention, up to %s: %s", r.RemovedTo, count(r.Removed, "entry", "entries"))
		if r.RemovedMissing > 0 {
			w.printf(" (and %d that were gone before)", r.RemovedMissing)
		}
		w.printf("\n")
	}
	if r.Waiting > 0 {
		w.printf("waiting in the spool for the next writer: %s\n", count(int64(r.Waiting), "entry", "entries"))
	}
	if r.Busy {
		w.printf("a process holds the lock and does not give it back: what is written meanwhile was not looked at\n")
	}
	for _, d := range r.Diagnostics {
		w.printf("%s: %s: %s\n", f.Plain(d.Place()), d.Severity, f.Plain(d.Text))
	}
	if r.More > 0 {
		w.printf("and %d more\n", r.More)
	}
	switch {
	case !r.Intact():
		w.printf("NOT INTACT: somebody or something changed the ledger\n")
	case len(r.Diagnostics) > 0:
		w.printf("intact, apart from accidents\n")
	default:
		w.printf("intact\n")
	}
	return w.flush()
}

func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Explain writes why a call was decided as it was.
func (f Face) Explain(l ledger.Line) error {
	w, e := f.writer(), &l.Entry
	if !l.Genuine {
		w.printf("This line is not as the ledger wrote it; run \"cardea audit verify\".\n\n")
	}
	w.printf("%s", e.Effect)
	if by := e.By.String(); by != "" {
		w.printf("  %s", f.Plain(by))
	}
	w.printf("\n")
	f.block(w, "  ", e.Reason.String())
	f.field(w, "instead", e.Instead.String())
	f.field(w, "decided", e.Decided.String())
	for _, l := range e.Limits {
		f.field(w, "limit", l.String()+": "+cardea.Limit(l.String()).Text())
	}
	w.printf("\n")
	f.about(w, l)
	if len(e.Parts) > 0 {
		w.printf("\nparts\n")
		for _, p := range e.Parts {
			w.printf("  %d  %-7s  %s\n", p.Index+1, p.Effect, f.Plain(p.Text.String()))
		}
	}
	if len(e.Opinions) > 0 {
		w.printf("\nopinions\n")
		for _, o := range e.Opinions {
			f.opinion(w, o)
		}
	}
	if len(e.Troubles) > 0 {
		w.printf("\ntroubles\n")
		for _, t := range e.Troubles {
			f.block(w, "  ", t.String())
		}
	}
	if e.Omitted > 0 {
		w.printf("\n%d parts, opinions and troubles of less weight were not kept\n", e.Omitted)
	}
	return w.flush()
}

// about tells what was judged, where and when.
func (f Face) about(w *writer, l ledger.Line) {
	e := &l.Entry
	f.field(w, "tool", e.Tool.String())
	f.block(w, "  input: ", e.Input.Text.String())
	if e.Input.Digest != "" {
		f.field(w, "whole input", fmt.Sprintf("%d bytes, digest %s", e.Input.Bytes, e.Input.Digest))
	}
	if e.Rewrite != nil {
		f.block(w, "  rewritten to: ", e.Rewrite.Text.String())
	}
	f.field(w, "event", e.Event.String())
	f.field(w, "mode", e.Mode.String())
	f.field(w, "role", e.Role.String())
	f.field(w, "harness", e.Harness.String())
	f.field(w, "session", e.Session.String())
	f.field(w, "agent", strings.TrimSpace(e.Agent.String()+" "+e.AgentType.String()))
	f.field(w, "folder", e.Cwd.String())
	f.field(w, "project", e.Project.String())
	f.field(w, "time", fmt.Sprintf("%s, decided in %d microseconds", f.time(e.Time), e.Took.Microseconds()))
	f.field(w, "cardea", e.Version.String())
	where := "the spool, until the next writer takes it"
	if l.Day != "" {
		where = fmt.Sprintf("%s, number %d", l.Day, l.N)
	}
	f.field(w, "entry", e.ID+" in "+where)
}

func (f Face) opinion(w *writer, o ledger.Opinion) {
	by := o.Decider.String()
	if r := o.Rule.String(); r != "" {
		by += ":" + r
	}
	about := "the whole call"
	if o.Part != cardea.WholeCall {
		about = fmt.Sprintf("part %d", o.Part+1)
	}
	w.printf("  %-7s  %s, about %s\n", o.Effect, f.Plain(by), about)
	f.block(w, "           ", o.Reason.String())
	from := o.Scope.String()
	if s := o.Source.String(); s != "" {
		from += ", " + s
	}
	if s := o.Severity.String(); s != "" {
		from += ", severity " + s
	}
	w.printf("           (%s)\n", f.Plain(from))
}

// field writes a named text, if there is one.
func (f Face) field(w *writer, name, text string) {
	if text != "" {
		w.printf("  %s: %s\n", name, f.Plain(text))
	}
}

// block writes a text of several lines, the second and later ones indented like
// the first.
func (f Face) block(w *writer, lead, text string) {
	if text == "" {
		return
	}
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		w.printf("%s%s\n", lead, f.Plain(line))
		lead = strings.Repeat(" ", utf8.RuneCountInString(lead))
	}
}

func (f Face) time(t time.Time) string {
	zone := f.Zone
	if zone == nil {
		zone = time.UTC
	}
	return t.In(zone).Format("2006-01-02 15:04:05 -0700")
}

// shorten cuts plain text at n characters.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// writer keeps the first error.
type writer struct {
	out *bufio.Writer
	err error
}

func (f Face) writer() *writer { return &writer{out: bufio.NewWriter(f.Out)} }

func (w *writer) printf(format string, args ...any) {
	if _, err := fmt.Fprintf(w.out, format, args...); w.err == nil {
		w.err = err
	}
}

func (w *writer) flush() error {
	if err := w.out.Flush(); w.err == nil {
		w.err = err
	}
	return w.err
}
