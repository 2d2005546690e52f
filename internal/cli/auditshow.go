package cli

import (
	"cmp"
	"fmt"
	"iter"
	"path"
	"path/filepath"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/memory/ledger"
)

// commandWidth is how much of a command a search result shows, in characters.
const commandWidth = 80

// timeIn returns a time for people, in the time zone of the clock.
func (p Process) timeIn(t time.Time) string {
	return t.In(p.Now().Location()).Format("2006-01-02 15:04:05 -0700")
}

// showEntries writes one line for each entry: its id, time, effect, call and decider. It
// passes errors of the search to warn and continues. It returns the number of entries.
func (p Process) showEntries(s *screen, lines iter.Seq2[ledger.Line, error], warn func(error)) (n int) {
	for l, err := range lines {
		if err != nil {
			warn(err)
			continue
		}
		n++
		e := &l.Entry
		by, kind := e.By.String(), e.Event.String()
		notes := joined("  ", onlyIf(e.AgentType.String() == install.ProbeAgent, "(doctor's probe)"),
			onlyIf(by != "", "["+by+"]"), onlyIf(kind == "PostToolUse" || kind == "PostToolUseFailure", "(it ran)"), onlyIf(reviewed(e) != "", "("+reviewed(e)+")"), onlyIf(!l.Genuine, "(not as the ledger wrote it)"))
		s.printf("%s  %s  %-7s  %-5s  %s  %s\n", e.ID, p.timeIn(e.Time), e.Effect, e.Tool, folderOf(e), shorten(Plain(e.Input.Text.String()), commandWidth)+prefixed("  ", notes))
	}
	return n
}

// folderOf returns the name of a call's folder: its project's, or its own.
func folderOf(e *ledger.Entry) string {
	return cmp.Or(Plain(path.Base(filepath.ToSlash(cmp.Or(e.Project.String(), e.Cwd.String(), "-")))), "-")
}

// showReport writes the result of verify.
func showReport(s *screen, r ledger.Report) {
	switch {
	case r.Days == 0 && r.Removed == 0:
		s.printf("the ledger is empty\n")
	case r.Days == 0:
		s.printf("no days\n")
	default:
		s.printf("%s of %s, %s to %s\n", entries(r.Entries), count(r.Days, "day"), r.From, r.To)
	}
	if r.RemovedTo != "" {
		before := onlyIf(r.RemovedMissing > 0, fmt.Sprintf(" (and %d that were gone before)", r.RemovedMissing))
		s.printf("removed by retention, up to %s: %s%s\n", r.RemovedTo, entries(r.Removed), before)
	}
	s.printIf(r.Waiting > 0, "waiting in the spool for the next writer: %s\n", entries(int64(r.Waiting)))
	s.printIf(r.Busy, "a process holds the lock and does not give it back: what is written meanwhile was not looked at\n")
	showDiagnostics(s, r.Diagnostics)
	s.printIf(r.More > 0, "and %d more\n", r.More)
	switch {
	case !r.Intact():
		s.printf("NOT INTACT: somebody or something changed the ledger\n")
	case len(r.Diagnostics) > 0:
		s.printf("intact, apart from accidents\n")
	default:
		s.printf("intact\n")
	}
}

func entries(n int64) string {
	return either(n == 1, "1 entry", fmt.Sprintf("%d entries", n))
}

// showEntry writes why a call was decided.
func (p Process) showEntry(s *screen, l ledger.Line) {
	e := &l.Entry
	s.printIf(!l.Genuine, "This line is not as the ledger wrote it; run \"cardea audit verify\".\n\n")
	if text := reviewed(e); text != "" {
		s.printf("%s%s\n\n", text, prefixed(": ", e.ReviewReason.String()))
	}
	s.printf("%s%s\n", e.Effect, prefixed("  ", e.By.String()))
	if text := meaning[e.Effect]; text != "" {
		s.printf("  %s\n", painted{faint, text})
	}
	s.block("  ", e.Reason.String())
	s.field("instead", e.Instead.String())
	s.field("decided", e.Decided.String())
	for _, l := range e.Limits {
		s.field("limit", l.String()+": "+cardea.Shortfall(l.String()).Text())
	}
	s.printf("\n")
	p.showCall(s, l)
	section(s, "parts", len(e.Parts))
	for _, part := range e.Parts {
		s.printf("  %d  %-7s  %s\n", part.Index+1, part.Effect, part.Text)
	}
	section(s, "who says what", len(e.Opinions))
	for _, o := range e.Opinions {
		showOpinion(s, o)
	}
	section(s, "troubles", len(e.Issues))
	for _, t := range e.Issues {
		s.block("  ", t.String())
	}
	s.printIf(e.Omitted > 0, "\n%d parts, answers and troubles of less weight were not kept\n", e.Omitted)
}

// showCall writes the judged call, its place and its time.
func (p Process) showCall(s *screen, l ledger.Line) {
	e := &l.Entry
	s.field("tool", e.Tool.String())
	s.field("input", e.Input.Text.String())
	if e.Input.Digest != "" {
		s.field("whole input", fmt.Sprintf("%d bytes, digest %s", e.Input.Bytes, e.Input.Digest))
	}
	if e.Rewrite != nil {
		s.field("rewritten to", e.Rewrite.Text.String())
	}
	for _, x := range []struct{ name, text string }{{"event", e.Event.String()}, {"mode", e.Mode.String()}, {"role", e.Role.String()},
		{"harness", e.Harness.String()}, {"session", e.Session.String()}, {"agent", strings.TrimSpace(e.Agent.String() + " " + e.AgentType.String())},
		{"folder", e.Cwd.String()}, {"project", e.Project.String()}} {
		s.field(x.name, x.text)
	}
	s.field("call", e.Call.String())
	s.field("time", fmt.Sprintf("%s, decided in %d microseconds", p.timeIn(e.Time), e.Took.Microseconds()))
	s.field("cardea", e.Version.String())
	where := either(l.Day != "", fmt.Sprintf("%s, number %d", l.Day, l.N), "the spool, until the next writer takes it")
	s.field("entry", e.ID+" in "+where)
}

func showOpinion(s *screen, o ledger.Opinion) {
	by, about := o.Decider.String()+prefixed(":", o.Rule.String()), either(o.Part != cardea.WholeCall, fmt.Sprintf("part %d", o.Part+1), "the whole call")
	s.printf("  %-7s  %s, about %s\n", o.Effect, by, about)
	s.block("           ", o.Reason.String())
	s.printf("           (%s%s%s)\n", o.Scope.String(), prefixed(", ", o.Source.String()), prefixed(", severity ", o.Severity.String()))
}
