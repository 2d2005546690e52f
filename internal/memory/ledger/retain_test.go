package ledger

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

func (b *bench) dayList() string {
	b.t.Helper()
	days, err := b.days()
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.Join(days, " ")
}

func TestOldDaysAreRemovedAndTold(t *testing.T) {
	b := start(t, func(o *Options) { o.KeepDays = 2 })
	for range 6 {
		b.add(3)
		b.tomorrow()
	}
	if got := b.dayList(); got != "2026-11-23 2026-11-24 2026-11-25" {
		t.Errorf("kept %s", got)
	}
	r := b.verify()
	if !r.Intact() || r.Entries != 9 || r.Removed != 9 || r.RemovedTo != "2026-11-22" || r.RemovedMissing != 0 {
		t.Errorf("%+v", r)
	}
	// The stub does not cover a day that another program removed.
	b.drop("2026-11-23" + dayEnd)
	if r := b.verify(); kinds(r) != "missing-entries" {
		t.Errorf("%+v", r.Diagnostics)
	}
}

func TestZeroKeepsAll(t *testing.T) {
	b := start(t, func(o *Options) { o.KeepDays, o.MaxMB = 0, 0 })
	for range 3 {
		b.add(1)
		b.now = b.now.AddDate(1, 0, 0)
	}
	b.intact(3)
}

func TestTheLedgerStaysSmall(t *testing.T) {
	b := start(t, func(o *Options) { o.MaxMB = 2 })
	for day := range 6 {
		for i := range 140 {
			if err := b.Append(b.entry(fmt.Sprint(day, i, strings.Repeat(" long", 800)))); err != nil {
				t.Fatal(err)
			}
		}
		b.tomorrow()
	}
	days, err := b.days()
	if err != nil {
		t.Fatal(err)
	}
	var total int64
	for _, d := range days {
		info, err := os.Stat(b.dayPath(d))
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if len(days) == 6 || total > 3<<20 {
		t.Errorf("%d days with %d bytes", len(days), total)
	}
	if r := b.verify(); !r.Intact() || r.Removed == 0 || r.Removed+r.Entries != 6*140 {
		t.Errorf("%+v", r)
	}
}

// Lines that were missing before retention stay reported.
func TestRetentionDoesNotHideWhatIsMissing(t *testing.T) {
	b := start(t, func(o *Options) { o.KeepDays = 2 })
	for range 3 {
		b.add(4)
		b.tomorrow()
	}
	b.drop(day2 + dayEnd)
	b.now = b.now.AddDate(0, 0, 1)
	b.add(1)
	b.now = b.now.AddDate(0, 0, 1)
	b.add(1)
	r := b.verify()
	if r.RemovedMissing != 4 || r.Removed != 8 || !r.Intact() || r.Entries != 2 {
		t.Errorf("%+v", r)
	}
}

// A crash between stub and removal leaves a day that the next removal takes.
func TestCrashWhileRemoving(t *testing.T) {
	b := start(t, func(o *Options) { o.KeepDays = 2 })
	b.add(2)
	old := b.read(day1 + dayEnd)
	b.now = b.now.AddDate(0, 0, 3)
	b.add(2)
	b.put(day1+dayEnd, old)
	if r := b.verify(); kinds(r) != "stub" || dayIn(r.Diagnostics[0]) != day1 {
		t.Errorf("%+v", r.Diagnostics)
	}
	b.tomorrow()
	b.add(1)
	if r := b.verify(); !r.Intact() || r.Removed != 2 || r.Entries != 3 {
		t.Errorf("%+v", r)
	}
}

// A forged stub is not trusted. The next stub records that the days before it are unknown.
func TestAForgedStub(t *testing.T) {
	b := start(t, func(o *Options) { o.KeepDays = 2 })
	b.add(2)
	b.tomorrow()
	b.add(2)
	b.now = b.now.AddDate(0, 0, 2)
	b.add(2)
	b.put(stubName, bytes.Replace(b.read(stubName), []byte(`"n":2`), []byte(`"n":3`), 1))
	if r := b.verify(); kinds(r) != "stub" {
		t.Errorf("%+v", r.Diagnostics)
	}
	b.tomorrow()
	b.add(1)
	if r := b.verify(); !r.Intact() || r.RemovedMissing != 2 {
		t.Errorf("%+v", r)
	}
}

// A day that holds nothing genuine is removed like others.
func TestJunkDays(t *testing.T) {
	b := start(t)
	b.put("2001-01-01"+dayEnd, []byte("junk\n"))
	b.put("2001-13-01"+dayEnd, []byte("no day\n"))
	b.put("notes.txt", []byte("kept\n"))
	// There are days but no head: that is reported.
	b.repair()
	if got := b.dayList(); got != day1 {
		t.Errorf("days %s", got)
	}
	b.read("notes.txt")
	b.read("2001-13-01" + dayEnd)
}

// The stub of a newer Cardea is not replaced, and no entry is lost for it.
func TestANewerStub(t *testing.T) {
	b := start(t, func(o *Options) { o.KeepDays = 2 })
	b.add(1)
	newer, _ := sign(b.opt.Key, "ledger stub", []byte(`{"v":99,"more":1,"n":7`))
	b.put(stubName, newer)
	b.now = b.now.AddDate(0, 0, 3)
	if err := b.Append(b.entry("echo x")); err != nil && !strings.Contains(err.Error(), "a newer Cardea wrote") {
		t.Fatal(err)
	}
	if got := b.read(stubName); !bytes.Equal(got, newer) {
		t.Errorf("%s", got)
	}
	if days, err := b.days(); err != nil || len(days) != 2 {
		t.Errorf("%v %v", days, err)
	}
}

// Lines of a newer Cardea stay, and the verification reports them.
func TestNewerLines(t *testing.T) {
	b := start(t)
	b.add(1)
	day := day1 + dayEnd
	newer := strings.Replace(string(b.read(day)), `{"v":1,`, `{"v":99,`, 1)
	b.put(day, []byte(newer))
	head, _ := sign(b.opt.Key, "ledger head", []byte(`{"v":99,"day":"`+day1+`"`))
	b.put(headName, head)
	if err := b.Append(b.entry("echo x")); err != nil && !strings.Contains(err.Error(), "changed behind") {
		t.Fatal(err)
	}
	if got := string(b.read(day)); !strings.HasPrefix(got, newer) {
		t.Errorf("%s", got)
	}
	if r := b.verify(); r.Intact() {
		t.Errorf("%+v", r)
	}
}
