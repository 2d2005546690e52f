package ledger

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"cardea.dev/internal/testing/testrun"

	"cardea.dev/internal/base/diagnostic"
)

// three returns a ledger of three days with four lines each.
func three(t *testing.T) *bench {
	b := start(t)
	for range 3 {
		b.add(4)
		b.tomorrow()
	}
	b.intact(12)
	return b
}

func (b *bench) putLines(day string, lines ...string) {
	b.t.Helper()
	b.put(day+dayEnd, []byte(strings.Join(lines, "")))
}

// What others do to the files is found, and named for what it is.
func TestVerifyFinds(t *testing.T) {
	for _, tt := range []struct {
		name  string
		do    func(b *bench)
		kinds string
		at    string
		text  string
	}{
		{"a changed line", func(b *bench) {
			l := b.lines(day2)
			l[1] = strings.Replace(l[1], `"effect":"deny"`, `"effect":"allow"`, 1)
			b.putLines(day2, l...)
		}, "changed", day2 + ":2", ""},
		{"a changed mac", func(b *bench) {
			l := b.lines(day2)
			l[1] = strings.Replace(l[1], `"mac":"`, `"mac":"0`, 1)
			b.putLines(day2, l...)
		}, "changed", day2 + ":2", ""},
		{"the last line changed", func(b *bench) {
			l := b.lines(day3)
			l[3] = strings.Replace(l[3], "deny", "halt", 1)
			b.putLines(day3, l...)
		}, "changed", day3 + ":4", ""},
		{"a removed line", func(b *bench) { l := b.lines(day2); b.putLines(day2, slices.Delete(l, 1, 2)...) },
			"missing-entries", day2 + ":2", "1 entry is missing before this line, with the number 6"},
		{"two removed lines", func(b *bench) { l := b.lines(day2); b.putLines(day2, slices.Delete(l, 1, 3)...) },
			"missing-entries", day2 + ":2", "2 entries are missing before this line, with the numbers 6 to 7"},
		{"the first line removed", func(b *bench) { b.putLines(day1, b.lines(day1)[1:]...) }, "missing-entries", day1 + ":1", "the end of the day before"},
		{"reordered lines", func(b *bench) { l := b.lines(day2); l[1], l[2] = l[2], l[1]; b.putLines(day2, l...) },
			"missing-entries moved", day2 + ":2", ""},
		{"a line twice", func(b *bench) { l := b.lines(day2); b.putLines(day2, append(l, l[3])...) }, "moved", day2 + ":5", ""},
		{"a planted line", func(b *bench) {
			l := b.lines(day2)
			b.putLines(day2, l[0], strings.Replace(l[0], `"n":5`, `"n":6`, 1), l[1], l[2], l[3])
		}, "changed", day2 + ":2", ""},
		{"planted text", func(b *bench) { l := b.lines(day2); b.putLines(day2, append(l, "hello\n")...) }, "changed", day2 + ":5", ""},
		{"an empty line", func(b *bench) { l := b.lines(day2); b.putLines(day2, append(l, "\n")...) }, "changed", day2 + ":5", ""},
		{"a very long line", func(b *bench) {
			l := b.lines(day2)
			b.putLines(day2, append(l, strings.Repeat("x", 3*maxLine)+"\n")...)
		},
			"changed", day2 + ":5", "longer"},
		{"a cut tail", func(b *bench) { b.putLines(day3, b.lines(day3)[:2]...) }, "missing-entries", day3 + ":0", "2 entries are missing at the end, with the numbers 11 to 12"},
		{"a line changed and another removed", func(b *bench) {
			l := b.lines(day2)
			b.putLines(day2, l[0], strings.Replace(l[1], "deny", "halt", 1), l[3])
		}, "changed missing-entries", day2 + ":2", ""},
		{"a cut tail, within a line", func(b *bench) { d := b.read(day3 + dayEnd); b.put(day3+dayEnd, d[:len(d)-100]) },
			"cut missing-entries", day3 + ":4", ""},
		{"the tail of a day before", func(b *bench) { b.putLines(day2, b.lines(day2)[:3]...) }, "missing-entries", day3 + ":1", "the end of the day before"},
		{"the last end of line taken", func(b *bench) { d := b.read(day3 + dayEnd); b.put(day3+dayEnd, d[:len(d)-1]) },
			"changed", day3 + ":4", "end of the line"},
		{"a removed day", func(b *bench) { b.drop(day2 + dayEnd) }, "missing-entries", day3 + ":1", "4 entries are missing"},
		{"the first day removed", func(b *bench) { b.drop(day1 + dayEnd) }, "missing-entries", day2 + ":1", "4 entries are missing"},
		{"the last day removed", func(b *bench) { b.drop(day3 + dayEnd) }, "missing-entries", day3 + ":0", "4 entries are missing at the end"},
		{"all days removed", func(b *bench) { b.drop(day1 + dayEnd); b.drop(day2 + dayEnd); b.drop(day3 + dayEnd) }, "missing-entries", day3 + ":0", "12 entries"},
		{"a day emptied", func(b *bench) { b.put(day2+dayEnd, nil) }, "missing-entries", day3 + ":1", ""},
		{"days exchanged", func(b *bench) {
			a, c := b.read(day1+dayEnd), b.read(day2+dayEnd)
			b.put(day1+dayEnd, c)
			b.put(day2+dayEnd, a)
		}, "moved moved moved moved moved moved moved moved missing-entries", day1 + ":1", ""},
		{"a day renamed", func(b *bench) {
			if err := os.Rename(b.dayPath(day3), b.dayPath("2026-11-23")); err != nil {
				b.t.Fatal(err)
			}
		}, "moved moved moved moved missing-entries", "2026-11-23:1", "written into the file of 2026-11-22"},
		{"the head removed", func(b *bench) { b.drop(headName) }, "head", ":0", ""},
		{"the head emptied", func(b *bench) { b.put(headName, nil) }, "head", ":0", ""},
		{"the head forged", func(b *bench) {
			b.put(headName, bytes.Replace(b.read(headName), []byte(`"n":12`), []byte(`"n":11`), 1))
		}, "head", ":0", ""},
		{"a folder in the place of a day", func(b *bench) { b.drop(day2 + dayEnd); mkdir(b.t.(*testing.T), b.dayPath(day2)) }, "changed missing-entries", day2 + ":0", "remove it"},
		{"a planted stub", func(b *bench) { b.put(stubName, []byte(`{"v":1,"to_day":"2026-11-20","n":4}`)); b.drop(day1 + dayEnd) }, "stub", ":0", ""},
		{"a planted spool file", func(b *bench) { b.put(spoolName+"/0jk3v9x2mabc1234.json", []byte(`{"v":1}`)) }, "spool", ":0", ""},
		{"a planted spool name", func(b *bench) { b.put(spoolName+"/hello", nil) }, "spool", ":0", ""},
		{"a line from another history", func(b *bench) {
			other := start(b.t)
			other.add(4)
			other.tomorrow()
			other.add(4)
			l := b.lines(day2)
			l[1] = other.lines(day2)[1]
			b.putLines(day2, l...)
		}, "missing-entries missing-entries", day2 + ":2", "what it followed was replaced"},
		{"an older copy of a day", func(b *bench) {
			other := start(b.t)
			other.add(4)
			other.tomorrow()
			other.add(4)
			other.tomorrow()
			other.add(4)
			b.put(day3+dayEnd, other.read(day3+dayEnd))
		}, "missing-entries missing-entries", day3 + ":1", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := three(t)
			b.t = t
			tt.do(b)
			r := b.verify()
			if kinds(r) != tt.kinds {
				t.Fatalf("found %q, want %q: %+v", kinds(r), tt.kinds, r.Diagnostics)
			}
			f := r.Diagnostics[0]
			if at := fmt.Sprintf("%s:%d", dayIn(f), f.Line); at != tt.at || !strings.Contains(f.Text, tt.text) {
				t.Errorf("at %s: %s; want %s: %s", at, f.Text, tt.at, tt.text)
			}
			if r.Intact() {
				t.Error("it counts as intact")
			}
		})
	}
}

// Whatever single byte is changed, wherever: it is found, at its day.
func TestAnyChangedByteIsFound(t *testing.T) {
	b := start(t)
	b.add(2)
	b.tomorrow()
	b.add(1)
	for _, day := range []string{day1, day2} {
		data := b.read(day + dayEnd)
		for i := 0; i < len(data); i += testrun.Pick(7, 1) {
			for _, x := range []byte{data[i] ^ 1, data[i] ^ 0x20, '\n'} {
				if x == data[i] {
					continue
				}
				changed := bytes.Clone(data)
				changed[i] = x
				b.put(day+dayEnd, changed)
				r := b.verify()
				if r.Intact() || !slices.ContainsFunc(r.Diagnostics, func(f diagnostic.Diagnostic) bool { return dayIn(f) == day }) {
					t.Fatalf("byte %d of %s changed from %q to %q: %+v", i, day, data[i], x, r.Diagnostics)
				}
			}
			// Nor can it be taken away, or doubled.
			for _, changed := range [][]byte{slices.Delete(bytes.Clone(data), i, i+1), slices.Insert(bytes.Clone(data), i, data[i])} {
				b.put(day+dayEnd, changed)
				if r := b.verify(); r.Intact() {
					t.Fatalf("byte %d of %s removed or doubled is not found", i, day)
				}
			}
		}
		b.put(day+dayEnd, data)
	}
	b.intact(3)
}

// In the head, the bytes after the record are padding; every other byte matters.
func TestAnyChangedByteOfTheHeadIsFound(t *testing.T) {
	b := start(t)
	b.add(2)
	data := b.read(headName)
	if len(data) != headLen {
		t.Fatalf("%d bytes", len(data))
	}
	for i := range bytes.TrimRight(data, " \n") {
		changed := bytes.Clone(data)
		changed[i] ^= 1
		b.put(headName, changed)
		if r := b.verify(); r.Intact() {
			t.Fatalf("byte %d is not found", i)
		}
	}
}

// With another key nothing is genuine, and that is said once.
func TestAnotherKey(t *testing.T) {
	b := three(t)
	b.opt.Key = bytes.Repeat([]byte{8}, 32)
	if r := b.verify(); kinds(r) != "wrong-key" || r.Intact() {
		t.Errorf("%+v", r.Diagnostics)
	}
}

func TestVeryManyFindings(t *testing.T) {
	b := start(t)
	b.add(1)
	b.put(day1+dayEnd, append(b.read(day1+dayEnd), bytes.Repeat([]byte("x\n"), maxFindings+9)...))
	if r := b.verify(); len(r.Diagnostics) != maxFindings || r.More != 9 || r.Intact() {
		t.Errorf("%d and %d more", len(r.Diagnostics), r.More)
	}
}
