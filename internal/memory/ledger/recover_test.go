package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/base/limit"
)

// Appends an entry to a ledger that was changed, and requires a warning.
func (b *bench) repair() {
	b.t.Helper()
	var issue cardea.Issue
	err := b.Append(b.entry("after"))
	if !errors.As(err, &issue) || issue.Failure != cardea.NoFailure || !strings.Contains(issue.Error(), "cardea audit verify") {
		b.t.Fatalf("the change is not told: %v", err)
	}
	if err := b.Append(b.entry("after that")); err != nil {
		b.t.Fatalf("told twice: %v", err)
	}
}

// A crash between the line and the head costs nothing.
func TestCrashBeforeTheHead(t *testing.T) {
	b := start(t)
	b.add(1)
	old := b.read(headName)
	b.add(3)
	b.put(headName, old)
	if r := b.verify(); len(r.Diagnostics) > 0 || r.Entries != 4 {
		t.Errorf("%+v", r)
	}
	b.add(1)
	b.intact(5)
	// The same over the end of a day.
	old = b.read(headName)
	b.add(1)
	b.put(headName, old)
	b.tomorrow()
	b.add(1)
	b.intact(7)
}

// A crash within a line leaves a part of it, which is reported as cut and nothing worse. The next
// line begins on its own. Where only the end of the line is missing, the line is valid.
func TestCrashWithinALine(t *testing.T) {
	seen := map[int]bool{}
	for _, lost := range []int{1, 2, 60, 75, 76, 400, 700, 1, 2} {
		b := start(t)
		b.add(2)
		old := b.read(headName)
		b.add(1)
		b.put(headName, old)
		data := b.read(day1 + dayEnd)
		b.put(day1+dayEnd, data[:len(data)-lost])
		counted, found := int64(2), "cut"
		if lost == 1 {
			counted, found = 3, ""
		}
		if r := b.verify(); kinds(r) != "cut" || !r.Intact() || r.Entries != counted {
			t.Errorf("%d bytes lost: %+v", lost, r)
		}
		if seen[lost] {
			b.tomorrow() // the next writer comes when the day is over
		}
		seen[lost] = true
		b.add(2)
		r := b.verify()
		if kinds(r) != found || !r.Intact() || r.Entries != counted+2 {
			t.Errorf("%d bytes lost, after the next lines: %+v", lost, r)
		}
		b.tomorrow()
		b.add(1)
		if r := b.verify(); kinds(r) != found || r.Entries != counted+3 {
			t.Errorf("%d bytes lost, the next day: %+v", lost, r)
		}
	}
}

// A change at the end stays reported for good, although the writer continues.
func TestTheWriterGoesOnAndTellsForGood(t *testing.T) {
	for _, tt := range []struct {
		name  string
		do    func(b *bench)
		kinds string
	}{
		{"a cut tail", func(b *bench) { b.putLines(day1, b.lines(day1)[:2]...) }, "missing-entries mended"},
		{"a removed day", func(b *bench) { b.drop(day1 + dayEnd) }, "missing-entries mended"},
		{"a lost head", func(b *bench) { b.drop(headName) }, "mended"},
		{"a forged head", func(b *bench) { b.put(headName, []byte("{}")) }, "mended"},
		{"a head that is too long", func(b *bench) { b.put(headName, append(b.read(headName), ' ')) }, "mended"},
		{"a lost head and a cut tail", func(b *bench) { b.drop(headName); b.putLines(day1, b.lines(day1)[:2]...) }, "mended"},
		{"a lost head and no line that is genuine", func(b *bench) { b.drop(headName); b.put(day1+dayEnd, []byte("x\n")) }, "changed mended"},
		{"planted lines", func(b *bench) { b.put(day1+dayEnd, append(b.read(day1+dayEnd), "hello\nyou\n"...)) }, "changed changed mended"},
		{"planted lines without end", func(b *bench) { b.put(day1+dayEnd, append(b.read(day1+dayEnd), "hello\nyou"...)) }, "changed changed mended"},
		{"a line twice", func(b *bench) { l := b.lines(day1); b.putLines(day1, append(l, l[3])...) }, "moved mended"},
		{"very much planted", func(b *bench) {
			b.put(day1+dayEnd, append(b.read(day1+dayEnd), bytes.Repeat([]byte(strings.Repeat("y", 99)+"\n"), 12000)...))
		}, strings.Repeat("changed ", maxFindings-1) + "changed"},
	} {
		for _, later := range []bool{false, true} {
			b := start(t)
			b.add(4)
			tt.do(b)
			if later {
				b.tomorrow()
			}
			b.repair()
			r := b.verify()
			if kinds(r) != tt.kinds || r.Intact() {
				t.Errorf("%s, later %t: found %q, want %q; %+v", tt.name, later, kinds(r), tt.kinds, r.Diagnostics)
			}
		}
	}
}

// A folder that was made by others before the first line holds no head, and
// the first line says nothing of it.
func TestTheFirstLineIsNotRepaired(t *testing.T) {
	b := start(t)
	mkdir(t, b.dir)
	b.put(headName, nil)
	b.add(1)
	b.intact(1)
}

// A full disk leaves a part of a line, which is taken back.
func TestAPartOfALineIsTakenBack(t *testing.T) {
	b := start(t)
	b.add(2)
	w, err := b.lock(limit.LedgerWrite, os.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.begin(); err != nil {
		t.Fatal(err)
	}
	if err := w.file.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.line([]byte(`{}`)); err == nil {
		t.Error("written to a closed file")
	}
	w.close()
	b.intact(2)
}

func TestSpoolIsAdopted(t *testing.T) {
	b := start(t)
	b.add(1)
	held, err := b.lock(limit.LedgerWrite, os.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	spooled := b.add(3)
	if n := len(b.lines(day1)); n != 1 {
		t.Fatalf("%d lines while the lock is held", n)
	}
	// They are found in the spool, and reported as waiting.
	if got := b.commands(); !slices.Equal(got, []string{"echo 2", "echo 1", "echo 0", "echo 0"}) {
		t.Errorf("%q", got)
	}
	if l, err := b.Get(spooled[1].ID); err != nil || l.Entry.ID != spooled[1].ID || l.Day != "" || !l.Genuine {
		t.Errorf("%+v, %v", l, err)
	}
	held.close()
	if r := b.verify(); r.Waiting != 3 || !r.Intact() {
		t.Errorf("%+v", r)
	}
	last := b.add(1)[0]
	b.intact(5)
	if left, err := os.ReadDir(b.path(spoolName)); err != nil || len(left) != 0 {
		t.Errorf("left in the spool: %v, %v", left, err)
	}
	if l, err := b.Get(last.ID); err != nil || l.N != 5 {
		t.Errorf("the writer's own line is number %d, %v", l.N, err)
	}
	if got := b.commands(); !slices.Equal(got, []string{
		"echo 0",
		"echo 2",
		"echo 1",
		"echo 0",
		"echo 0",
	}) {
		t.Errorf("not in order: %q", got)
	}
}

// A crash between a spooled entry's line and its removal from the spool does
// not write it twice.
func TestCrashWhileAdopting(t *testing.T) {
	b := start(t)
	b.add(1)
	held, err := b.lock(limit.LedgerWrite, os.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	b.add(2)
	held.close()
	type crash struct{}
	b.wrote = func() { panic(crash{}) }
	func() {
		defer func() {
			if _, ok := recover().(crash); !ok {
				t.Error("no crash")
			}
		}()
		b.add(1)
	}()
	b.wrote = func() {}
	b.add(1)
	b.intact(4)
}

// One writer does not pay for all.
func TestAdoptionIsBounded(t *testing.T) {
	b := start(t)
	for i := range 150 {
		e := b.entry(fmt.Sprint("spooled ", i))
		body, err := e.encode()
		if err == nil {
			err = b.spool(e.ID, body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []int64{maxTaken + 1, 2 * (maxTaken + 1), 150 + 3} {
		b.add(1)
		if r := b.verify(); r.Entries != want || !r.Intact() {
			t.Errorf("after %d writes: %d entries, want %d; %+v", i+1, r.Entries, want, r.Diagnostics)
		}
	}
}

// A spool that is never emptied must not fill the disk.
func TestAFullSpoolIsTold(t *testing.T) {
	b := start(t)
	mkdir(t, b.path(spoolName))
	for i := range maxSpool {
		b.put(fmt.Sprintf("%s/x%d", spoolName, i), nil)
	}
	held, err := b.lock(limit.LedgerWrite, os.O_RDWR|os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	defer held.close()
	var issue cardea.Issue
	if err := b.Append(b.entry("x")); !errors.As(err, &issue) || issue.Failure != cardea.Unwritten || !strings.Contains(issue.Error(), "end the process that holds") {
		t.Errorf("%v", err)
	}
}

// What others put into the spool is not adopted, and stays for a person.
func TestPlantedInTheSpool(t *testing.T) {
	b := start(t)
	e := b.entry("x")
	body, err := e.encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.spool(e.ID, body); err != nil {
		t.Fatal(err)
	}
	good := b.read(spoolName + "/" + e.ID + spoolEnd)
	other := newID(b.now)
	b.put(spoolName+"/"+e.ID+spoolEnd, bytes.Replace(good, []byte("deny"), []byte("halt"), 1))
	b.put(spoolName+"/"+other+spoolEnd, good) // a copy under another id
	mkdir(t, b.path(spoolName+"/"+newID(b.now)+spoolEnd))
	b.put(spoolName+"/"+newID(b.now)+spoolEnd, good[:len(good)-1])
	b.put(spoolName+"/.new-123", nil) // being written
	b.add(1)
	b.add(1)
	r := b.verify()
	if r.Entries != 2 || kinds(r) != "spool spool spool spool" || r.Intact() {
		t.Errorf("%+v", r)
	}
	if got := b.commands(); !slices.Equal(got, []string{"echo 0", "echo 0"}) {
		t.Errorf("%q", got)
	}
}

// What a process left that died while it wrote is removed after a while.
func TestTheSpoolIsSwept(t *testing.T) {
	b := start(t)
	b.put(spoolName+"/.new-old", nil)
	b.put(spoolName+"/.new-young", nil)
	past := b.now.AddDate(-1, 0, 0)
	if err := os.Chtimes(b.path(spoolName+"/.new-old"), past, past); err != nil {
		t.Fatal(err)
	}
	b.add(1)
	left, err := os.ReadDir(b.path(spoolName))
	if err != nil || len(left) != 1 || left[0].Name() != ".new-young" {
		t.Errorf("%v, %v", left, err)
	}
}

// A head that is removed while a process holds the lock does not let two in.
func TestTheHeadIsReplacedUnderTheLock(t *testing.T) {
	b := start(t)
	b.add(1)
	removed := false
	b.locked = func() {
		if !removed {
			removed = true
			if err := os.Rename(b.path(headName), b.path("old")); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.add(1)
	b.repair()
	if r := b.verify(); kinds(r) != "mended" || r.Entries != 4 {
		t.Errorf("%+v", r)
	}
}

// Verify does not wait for ever, and says that it could not wait.
func TestVerifyWhileTheLockIsHeld(t *testing.T) {
	b := start(t)
	b.add(2)
	held, err := b.lock(limit.LedgerWrite, os.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	defer held.close()
	if r := b.verify(); !r.Busy || !r.Intact() || r.Entries != 2 {
		t.Errorf("%+v", r)
	}
}
