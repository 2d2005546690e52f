package ledger

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cardea.dev/internal/command/redact"
)

// FuzzReadLine: whatever a file contains, reading it fails only with an error. Nothing is genuine
// that the key did not sign. A line that can be read can be written and read again.
func FuzzReadLine(f *testing.F) {
	body := []byte(`{"v":1,"id":"0jk3v9x2mabc1234","time":"2026-11-20T10:00:00.000000Z","effect":"deny","parts":[{"part":0,"text":"x","effect":"deny"}]}`)
	line, _ := seal(testKey(), body, link{Day: day1, N: 7, Prev: strings.Repeat("a", 64), Repaired: repairedHead})
	line = bytes.TrimSuffix(line, []byte("\n"))
	for _, seed := range []string{string(line), string(line[:100]), string(line) + "\n" + string(line), "", "{}", "\n\n", strings.Repeat("x", 300), `{"v":1,"id":"`, `","mac":"`} {
		f.Add([]byte(seed))
	}
	r := redact.New()
	f.Fuzz(func(t *testing.T, data []byte) {
		var lines [][]byte
		if err := readLines(bytes.NewReader(data), func(raw rawLine) bool {
			if raw.text == nil && raw.whole == false && len(data) <= maxLine {
				t.Fatal("a short line is too long")
			}
			lines = append(lines, bytes.Clone(raw.text))
			return true
		}); err != nil {
			t.Fatal(err)
		}
		var back [][]byte
		if err := readBack(bytes.NewReader(data), int64(len(data)), func(line []byte) bool {
			back = append(back, bytes.Clone(line))
			return true
		}); err != nil {
			t.Fatal(err)
		}
		slices.Reverse(back)
		whole := lines
		if len(data) > 0 && data[len(data)-1] != '\n' {
			whole = lines[:len(lines)-1]
		}
		if len(data) <= maxLine && !slices.EqualFunc(back, whole, bytes.Equal) {
			t.Fatalf("forwards %q, backwards %q", whole, back)
		}
		for _, text := range lines {
			if l, ok := readLink(testKey(), text); ok && (!bytes.Equal(text, line) || l.N != 7 || l.Day != day1) {
				t.Fatalf("genuine: %q", text)
			}
			looksCut(text)
			w, err := parse(text)
			if err != nil {
				continue
			}
			e, err := w.entry(r)
			if err != nil {
				continue
			}
			again, err := e.encode()
			if err != nil {
				continue // longer than a line, escaped
			}
			w2, err := parse(again)
			if err != nil {
				t.Fatalf("%s: %v", again, err)
			}
			if _, err := w2.entry(r); err != nil {
				t.Fatalf("%s: %v", again, err)
			}
		}
	})
}

// Lines are read from the end as from the begin, whatever their lengths.
func TestReadBack(t *testing.T) {
	var file bytes.Buffer
	var want []string
	for i, n := range []int{0, 1, 70000, 5, 64 << 10, 64<<10 - 1, maxLine - 1, 3, 100000, 0, 0, 9} {
		s := strings.Repeat(fmt.Sprint(i%10), n)
		want = append([]string{s}, want...)
		file.WriteString(s + "\n")
	}
	read := func(data []byte) []string {
		var got []string
		if err := readBack(bytes.NewReader(data), int64(len(data)), func(line []byte) bool { got = append(got, string(line)); return true }); err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := read(file.Bytes()); !slices.Equal(got, want) {
		t.Errorf("%d lines of %d", len(got), len(want))
	}
	if got := read(append(file.Bytes(), strings.Repeat("cut", 50000)...)); !slices.Equal(got, want) {
		t.Error("a last line without end is not left out")
	}
	if got := read(append(append([]byte(strings.Repeat("y", 5*maxLine)+"\n"), file.Bytes()...), strings.Repeat("z", 3*maxLine)+"\nlast\n"...)); !slices.Equal(got, append([]string{"last"}, want...)) {
		t.Errorf("lines that are too long are not left out: %d lines", len(got))
	}
	n := 0
	if err := readBack(bytes.NewReader(file.Bytes()), int64(file.Len()), func([]byte) bool { n++; return n < 3 }); err != nil || n != 3 {
		t.Errorf("read %d, %v", n, err)
	}
	if err := readBack(bytes.NewReader(nil), 10, func([]byte) bool { return true }); err == nil {
		t.Error("a file that shrinks is no error")
	}
}
