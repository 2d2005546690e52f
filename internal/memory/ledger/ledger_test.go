package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/command/redact"
)

// bench is a ledger in a folder of its own, with a clock that a test moves.
type bench struct {
	*Ledger
	t   testing.TB
	now time.Time
}

func testKey() []byte { return bytes.Repeat([]byte{7}, 32) }

func start(t testing.TB, change ...func(*Options)) *bench {
	t.Helper()
	b := &bench{t: t, now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	o := Options{Key: testKey(), Redactor: redact.New(), Levels: AllLevels(), KeepDays: 30, MaxMB: 256, Now: func() time.Time { return b.now }}
	for _, c := range change {
		c(&o)
	}
	l, err := Open(filepath.Join(t.TempDir(), "state", "ledger"), o)
	if err != nil {
		t.Fatal(err)
	}
	b.Ledger = l
	return b
}

func command(text string, e cardea.Effect) (*cardea.Event, cardea.Verdict) {
	ev := &cardea.Event{Kind: cardea.PreToolUse, Harness: "claude-code", Session: "s", Cwd: "/work/app", Project: "/work/app", Mode: cardea.ModeDefault,
		Call: &cardea.Call{Tool: "Bash", Known: true, Input: map[string]any{"command": text}, Parts: []cardea.Part{{ShellFacts: cardea.ShellFacts{Text: text}}}}}
	return ev, cardea.Verdict{Effect: e, By: "rules:r", Reason: "because", Parts: []cardea.Effect{e},
		Opinions: []cardea.Opinion{{Decider: "rules", Rule: "r", Effect: e, Scope: cardea.ScopeBuiltin, Source: "packs/git.yaml:12", Severity: "high", Reason: "because"}}}
}

func (b *bench) entry(text string) Entry {
	ev, v := command(text, cardea.Deny)
	return NewEntry(ev, v, Circumstances{Redactor: redact.New(), Key: testKey(), Now: b.now, Took: 40 * time.Microsecond, Version: "test"})
}

// add appends n entries, a millisecond apart.
func (b *bench) add(n int) []Entry {
	b.t.Helper()
	var out []Entry
	for i := range n {
		e := b.entry(fmt.Sprintf("echo %d", i))
		if err := b.Append(e); err != nil {
			b.t.Fatal(err)
		}
		b.now = b.now.Add(time.Millisecond)
		out = append(out, e)
	}
	return out
}

func (b *bench) tomorrow() { b.now = b.now.Add(24 * time.Hour) }

func (b *bench) verify() Report {
	b.t.Helper()
	r, err := b.Verify()
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *bench) intact(entries int64) {
	b.t.Helper()
	if r := b.verify(); !r.Intact() || r.Entries != entries || len(r.Diagnostics) > 0 {
		b.t.Errorf("%d entries, want %d; %+v", r.Entries, entries, r.Diagnostics)
	}
}

// dayIn returns the day whose file a diagnostic is about, "" for none.
func dayIn(d diagnostic.Diagnostic) string {
	day, ok := strings.CutSuffix(filepath.Base(d.File), dayEnd)
	if !ok {
		return ""
	}
	return day
}

// kinds lists the kinds of what is found, in order.
func kinds(r Report) string {
	var out []string
	for _, f := range r.Diagnostics {
		out = append(out, string(f.Code))
	}
	return strings.Join(out, " ")
}

func (b *bench) read(name string) []byte {
	b.t.Helper()
	data, err := os.ReadFile(b.path(name))
	if err != nil {
		b.t.Fatal(err)
	}
	return data
}

func (b *bench) put(name string, data []byte) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(b.path(name)), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(b.path(name), data, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) drop(name string) {
	b.t.Helper()
	if err := os.Remove(b.path(name)); err != nil {
		b.t.Fatal(err)
	}
}

// lines returns the lines of a day, with their ends.
func (b *bench) lines(day string) []string {
	b.t.Helper()
	out := strings.SplitAfter(string(b.read(day+dayEnd)), "\n")
	return out[:len(out)-1]
}

func (b *bench) commands() []string {
	b.t.Helper()
	var out []string
	for l, err := range b.Search(Query{}) {
		if err != nil {
			b.t.Fatal(err)
		}
		out = append(out, l.Entry.Input.Text.String())
	}
	return out
}

const (
	day1 = "2026-11-20"
	day2 = "2026-11-21"
	day3 = "2026-11-22"
)

func TestOneFileADayOneLineAnEntry(t *testing.T) {
	b := start(t)
	b.add(3)
	b.tomorrow()
	b.add(2)
	if n, m := len(b.lines(day1)), len(b.lines(day2)); n != 3 || m != 2 {
		t.Fatalf("%d and %d lines", n, m)
	}
	b.intact(5)
	first := b.lines(day1)[0]
	if !strings.HasPrefix(first, `{"v":1,"id":"`) || !strings.Contains(first, `,"day":"2026-11-20","n":1,"prev":"","mac":"`) {
		t.Errorf("the form of a line: %s", first)
	}
	if r := b.verify(); r.Days != 2 || r.From != day1 || r.To != day2 {
		t.Errorf("%+v", r)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for name, mode := range map[string]os.FileMode{".": 0o700, day1 + dayEnd: 0o600, headName: 0o600} {
		if info, err := os.Stat(b.path(name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestADayWithoutCallsIsNoGap(t *testing.T) {
	b := start(t)
	b.add(1)
	b.now = b.now.AddDate(0, 0, 5)
	b.add(1)
	b.intact(2)
}

// Where the clock goes backwards, lines go on in the newest file.
func TestTheClockGoesBackwards(t *testing.T) {
	b := start(t)
	b.tomorrow()
	b.add(1)
	b.now = b.now.AddDate(0, 0, -1)
	late := b.add(1)[0]
	b.tomorrow()
	b.add(1)
	b.intact(3)
	if l, err := b.Get(late.ID); err != nil || l.Day != day2 {
		t.Errorf("%v, %v", l.Day, err)
	}
}

func TestOpenSaysWhatIsMissing(t *testing.T) {
	full := Options{Key: testKey(), Redactor: redact.New(), Now: time.Now}
	for name, open := range map[string]func() (*Ledger, error){
		"folder":   func() (*Ledger, error) { return Open("", full) },
		"key":      func() (*Ledger, error) { o := full; o.Key = nil; return Open("x", o) },
		"clock":    func() (*Ledger, error) { o := full; o.Now = nil; return Open("x", o) },
		"redactor": func() (*Ledger, error) { o := full; o.Redactor = nil; return Open("x", o) },
	} {
		if l, err := open(); err == nil || l != nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without a %s: %v", name, err)
		}
	}
}

// A failed write is reported as an issue that changes no verdict.
func TestIssues(t *testing.T) {
	for name, plant := range map[string]func(b *bench){
		"the folder is a file":    func(b *bench) { mkfile(t, b.dir) },
		"the head is a folder":    func(b *bench) { mkdir(t, b.path(headName)) },
		"the day is a folder":     func(b *bench) { mkdir(t, b.dayPath(day1)) },
		"the day is a link":       func(b *bench) { mkdir(t, b.dir); link1(t, b.dayPath(day1)) },
		"the head is a link":      func(b *bench) { mkdir(t, b.dir); link1(t, b.path(headName)) },
		"the stub is a folder":    func(b *bench) { mkdir(t, b.path(stubName)) },
		"spool and head are bad":  func(b *bench) { mkdir(t, b.path(headName)); mkfile(t, b.path(spoolName)) },
		"an old day is a link":    func(b *bench) { mkdir(t, b.dir); link1(t, b.dayPath("2020-01-01")) },
		"an old day is a folder":  func(b *bench) { mkdir(t, b.dayPath("2020-01-01")) },
		"the spool is no folder":  func(b *bench) { mkdir(t, b.dir); mkfile(t, b.path(spoolName)) },
		"the day is full already": func(b *bench) { b.opt.MaxMB = 1; b.put(day1+dayEnd, make([]byte, 1<<20)) },
	} {
		if runtime.GOOS == "windows" && strings.Contains(name, "link") {
			continue
		}
		b := start(t)
		plant(b)
		err := b.Append(b.entry("x"))
		var issue cardea.Issue
		if !errors.As(err, &issue) || issue.Failure != cardea.Unwritten {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

func mkfile(t *testing.T, path string) {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func link1(t *testing.T, path string) {
	t.Helper()
	target := filepath.Join(t.TempDir(), "target")
	mkfile(t, target)
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// The whole day's limit holds, and the next day goes on.
func TestAFullDayIsToldAndGoesOnTomorrow(t *testing.T) {
	b := start(t, func(o *Options) { o.MaxMB = 1 })
	var err error
	n := 0
	for err == nil && n < 10000 {
		err = b.Append(b.entry(strings.Repeat("long ", 500)))
		n++
	}
	if err == nil || !strings.Contains(err.Error(), "ledger.max_mb") {
		t.Fatalf("after %d: %v", n, err)
	}
	if info, err := os.Stat(b.dayPath(day1)); err != nil || info.Size() > 1<<20 {
		t.Errorf("%v, %v", info.Size(), err)
	}
	b.tomorrow()
	b.add(1)
	if r := b.verify(); !r.Intact() {
		t.Errorf("%+v", r.Diagnostics)
	}
}

// One process may write from several goroutines, as a daemon does.
func TestManyGoroutines(t *testing.T) {
	b := start(t)
	errs := make(chan error, 16)
	for g := range 16 {
		go func() {
			var all []error
			for i := range 10 {
				all = append(all, b.Append(b.entry(fmt.Sprintf("echo %d %d", g, i))))
			}
			errs <- errors.Join(all...)
		}()
	}
	for range 16 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if r := b.verify(); r.Entries+int64(r.Waiting) != 160 || !r.Intact() {
		t.Errorf("%+v", r)
	}
}

func TestIDs(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 123456789, time.UTC)
	seen := map[string]bool{}
	last := ""
	for range 10000 {
		id := newID(now)
		at, ok := idTimeOf(id)
		if !ok || seen[id] || !at.Equal(now.Truncate(time.Millisecond)) {
			t.Fatalf("%s: %v, %t, seen %t", id, at, ok, seen[id])
		}
		seen[id] = true
		now = now.Add(time.Millisecond)
		if next := newID(now); next <= last {
			t.Fatalf("%s after %s", next, last)
		} else {
			last = next
		}
	}
	for _, bad := range []string{"", "x", strings.Repeat("u", idLen), "../../../etc/pas", strings.Repeat("0", idLen+1), "0JK3V9X2MABC1234"} {
		if _, ok := idTimeOf(bad); ok {
			t.Errorf("%q is an id", bad)
		}
	}
}

func TestGetIsKindToPeople(t *testing.T) {
	b := start(t)
	e := b.add(1)[0]
	if l, err := b.Get(" " + strings.ToUpper(e.ID) + "\n"); err != nil || l.Entry.ID != e.ID || l.N != 1 || l.Day != day1 {
		t.Errorf("%+v, %v", l, err)
	}
}

// A planted line is found, and reported as forged.
func TestForgedLinesAreShownAsSuch(t *testing.T) {
	b := start(t)
	e := b.add(1)[0]
	genuine := b.lines(day1)[0]
	forged := strings.Replace(genuine, `"effect":"deny"`, `"effect":"allow"`, 1)
	b.put(day1+dayEnd, []byte(forged+genuine+"junk\n"+forged))
	if l, err := b.Get(e.ID); err != nil || !l.Genuine || l.Entry.Effect != cardea.Deny {
		t.Errorf("get prefers the forged one: %+v, %v", l, err)
	}
	n, failed := map[bool]int{}, 0
	for l, err := range b.Search(Query{}) {
		if err != nil {
			failed++
			continue
		}
		n[l.Genuine]++
	}
	if n[true] != 1 || n[false] != 2 || failed != 1 {
		t.Errorf("%v, %d errors", n, failed)
	}
	b.put(day1+dayEnd, []byte(forged))
	if l, err := b.Get(e.ID); err != nil || l.Genuine {
		t.Errorf("%+v, %v", l, err)
	}
	// A genuine line in the file of another day is not genuine there.
	b.put(day2+dayEnd, []byte(genuine))
	b.drop(day1 + dayEnd)
	if l, err := b.Get(e.ID); err != nil || l.Genuine {
		t.Errorf("%+v, %v", l, err)
	}
}
