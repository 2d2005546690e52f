package cli

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/memory/ledger"
)

// reader is a ledger with a person at a screen.
type reader struct {
	*ledger.Ledger
	Process
	screen *screen
	now    time.Time
	out    bytes.Buffer
}

func newReader(t *testing.T) *reader {
	f := &reader{now: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)}
	l, err := ledger.Open(filepath.Join(t.TempDir(), "ledger"), ledger.Options{Key: make([]byte, 32), Redactor: redact.New(),
		Levels: ledger.AllLevels(), KeepDays: 1, Now: func() time.Time { return f.now }})
	if err != nil {
		t.Fatal(err)
	}
	f.Ledger = l
	f.Process.Now = func() time.Time { return f.now }
	f.screen = &screen{w: &f.out}
	return f
}

// hostile is an agent's text that would move the cursor of a terminal.
const hostile = "\x1b[2J\u202egnp.\x00"

func (f *reader) add(t *testing.T, command string) ledger.Entry {
	t.Helper()
	ev := &cardea.Event{Kind: cardea.PreToolUse, Harness: "claude-code" + hostile, Session: "s" + hostile, Agent: "a" + hostile, Cwd: "/w" + hostile,
		Project: "/p" + hostile, Mode: "m" + hostile, Role: "r" + hostile,
		Call: &cardea.Call{Tool: "Bash" + hostile, Input: map[string]any{"command": command},
			Parts: []cardea.Part{{ShellFacts: cardea.ShellFacts{Text: "part" + hostile}}, {ShellFacts: cardea.ShellFacts{Text: "ls"}}}}}
	v := cardea.Verdict{Effect: cardea.Deny, By: "rules:x" + hostile, Reason: "one" + hostile + "\ntwo", Instead: "i" + hostile, Parts: []cardea.Effect{cardea.Deny, cardea.Allow},
		Rewrite: map[string]any{"command": "better" + hostile},
		Issues:  cardea.Issues{cardea.Warning("", diagnostic.CodeIgnored, "", "trouble"+hostile)},
		Opinions: []cardea.Opinion{{Decider: "rules", Rule: "x" + hostile, Effect: cardea.Deny, Part: 0, Scope: cardea.ScopeUser, Source: "f" + hostile, Severity: "high", Reason: "why" + hostile},
			{Decider: "judge", Effect: cardea.Defer, Part: cardea.WholeCall, Scope: cardea.ScopeBuiltin}}}
	e := ledger.NewEntry(ev, v, ledger.Circumstances{Redactor: redact.New(), Key: make([]byte, 32), Now: f.now, Took: 41 * time.Microsecond, Version: "v1" + hostile})
	if err := f.Append(e); err != nil {
		t.Fatal(err)
	}
	return e
}

// wantClean fails if a text could move the cursor.
func wantClean(t *testing.T, s string) {
	t.Helper()
	for _, r := range s {
		if r != '\n' && (r < ' ' || r == '\u202e' || r == 0x7f) {
			t.Fatalf("shows %q in %q", r, s)
		}
	}
}

func wants(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("no %q in\n%s", w, got)
		}
	}
}

func TestShowEntries(t *testing.T) {
	f := newReader(t)
	e := f.add(t, "git push -f "+strings.Repeat("x", 200)+hostile)
	if n := f.showEntries(f.screen, f.Search(ledger.Query{}), func(err error) { t.Error(err) }); n != 1 {
		t.Errorf("%d entries", n)
	}
	got := f.out.String()
	wantClean(t, got)
	wants(t, got, e.ID+"  2026-11-20 10:00:00 +0000  deny     Bash", "git push -f xxx", "…", "[rules:x")
	if strings.Count(got, "\n") != 1 {
		t.Errorf("not one line: %q", got)
	}
	f.out.Reset()
	var told []error
	lines := func(yield func(ledger.Line, error) bool) {
		_ = yield(ledger.Line{}, errors.New("a day is gone")) && yield(ledger.Line{Entry: ledger.Entry{ID: "id"}}, nil)
	}
	if n := f.showEntries(f.screen, lines, func(err error) { told = append(told, err) }); n != 1 || len(told) != 1 {
		t.Errorf("%d, %v", n, told)
	}
	wants(t, f.out.String(), "(not as the ledger wrote it)")
}

func TestShowEntry(t *testing.T) {
	f := newReader(t)
	e := f.add(t, "line one"+hostile+"\nline two")
	l, err := f.Get(e.ID)
	if err != nil {
		t.Fatal(err)
	}
	f.now = f.now.In(time.FixedZone("", 3600))
	f.showEntry(f.screen, l)
	got := f.out.String()
	wantClean(t, got)
	wants(t, got, "deny  rules:x", "  one", "\n  two\n", "instead: i", "tool: Bash", "input: line one", "\n         line two\n", "rewritten to: better",
		"session: s", "folder: /w", "project: /p", "role: r", "2026-11-20 11:00:00 +0100, decided in 41 microseconds", "2026-11-20, number 1",
		"1  deny     part", "2  allow    ls", "deny     rules:x", "about part 1", "defer    judge, about the whole call", "(user, f", "severity high)", "troubles\n  trouble", "digest ")
	if strings.Contains(got, "not as the ledger") {
		t.Error("a genuine line is doubted")
	}
	f.out.Reset()
	l.Genuine, l.Day, l.Entry.Omitted = false, "", 3
	f.showEntry(f.screen, l)
	wants(t, f.out.String(), "not as the ledger wrote it", "the spool", "3 parts, answers and troubles")
	f.out.Reset()
	if f.showEntry(f.screen, ledger.Line{}); strings.Contains(f.out.String(), "who says what") {
		t.Error(f.out.String())
	}
}

func TestShowReport(t *testing.T) {
	f := newReader(t)
	show := func(r ledger.Report) string {
		t.Helper()
		f.out.Reset()
		showReport(f.screen, r)
		wantClean(t, f.out.String())
		return f.out.String()
	}
	r, err := f.Verify()
	if err != nil {
		t.Fatal(err)
	}
	if got := show(r); got != "the ledger is empty\nintact\n" {
		t.Error(got)
	}
	f.add(t, "x")
	f.now = f.now.AddDate(0, 0, 3)
	f.add(t, "x")
	if r, err = f.Verify(); err != nil {
		t.Fatal(err)
	}
	if got := show(r); got != "1 entry of 1 day, 2026-11-23 to 2026-11-23\nremoved by retention, up to 2026-11-20: 1 entry\nintact\n" {
		t.Error(got)
	}
	got := show(ledger.Report{Days: 2, Entries: 7, RemovedTo: "d", RemovedMissing: 4, Waiting: 2, Busy: true, More: 3, Diagnostics: []diagnostic.Diagnostic{
		{File: "2026-11-20", Line: 3, Code: ledger.CodeChanged, Text: "t" + hostile}, {File: "2026-11-20", Code: ledger.CodeMissingEntries, Text: "u"}, {File: "head", Code: ledger.CodeHead, Text: "v"}}})
	wants(
		t,
		got,
		"7 entries of 2 days",
		"(and 4 that were gone before)",
		"waiting in the spool for the next writer: 2 entries",
		"holds the lock",
		"2026-11-20:3: error: t",
		"2026-11-20: error: u",
		"\nhead: error: v",
		"and 3 more",
		"NOT INTACT",
	)
	wants(t, show(ledger.Report{
		Removed:     3,
		RemovedTo:   "d",
		Diagnostics: []diagnostic.Diagnostic{{Severity: diagnostic.LevelWarning, File: "d", Line: 1, Code: ledger.CodeCut}},
	}), "no days", "intact, apart from accidents")
}

// failing is a closed screen.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("gone") }

func TestAScreenThatIsGone(t *testing.T) {
	p := newReader(t).Process
	p.Stdout, p.Env = failing{}, func(string) string { return "" }
	for _, asJSON := range []bool{true, false} {
		if err := p.answer(asJSON, report{}, func(s *screen) { showReport(s, ledger.Report{}) }); err == nil {
			t.Error("the error is swallowed")
		}
	}
}
