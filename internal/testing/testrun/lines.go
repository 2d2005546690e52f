package testrun

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Case is one line of a table: its columns, and where it is.
type Case struct {
	File    string
	Line    int
	Columns []string
}

// At returns the file and line of the case, for messages.
func (c Case) At() string { return fmt.Sprintf("%s:%d", filepath.Base(c.File), c.Line) }

// Text returns the last column.
func (c Case) Text() string { return c.Columns[len(c.Columns)-1] }

// marks replaces the characters of a table that stand for the end of a line or a column.
var marks = strings.NewReplacer("⏎", "\n", "⇥", "\t", "␍", "\r")

// numbered matches characters written as their number, and bytes: ⟨00a0⟩, ⟨xff⟩.
var numbered = regexp.MustCompile("⟨(x[0-9a-f]{2}|[0-9a-f]{4,5})⟩")

// Unmark returns the text of a column: ⏎, ⇥ and ␍ are a line feed, a tab and a
// carriage return, ⟨00a0⟩ is a character by its number and ⟨xff⟩ a byte.
func Unmark(column string) string {
	return numbered.ReplaceAllStringFunc(marks.Replace(column), func(mark string) string {
		digits := strings.Trim(mark, "⟨⟩")
		if hex, ok := strings.CutPrefix(digits, "x"); ok {
			n, _ := strconv.ParseUint(hex, 16, 8) // two digits
			return string([]byte{byte(n)})
		}
		n, _ := strconv.ParseUint(digits, 16, 20) // at most five digits
		return string(rune(n))
	})
}

// ReadCases reads a table with one case per line. Tabs separate columns, which [Unmark]
// reads. It skips empty lines, lines that begin with "# " and lines of one "#".
func ReadCases(path string) ([]Case, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read a table: %w", err)
	}
	var out []Case
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		if line = strings.TrimSuffix(line, "\n"); line == "" || line == "#" || strings.HasPrefix(line, "# ") {
			continue
		}
		c := Case{File: path, Line: n}
		for column := range strings.SplitSeq(line, "\t") {
			c.Columns = append(c.Columns, Unmark(column))
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("read %s: %w", path, errors.New("no cases"))
	}
	return out, nil
}

// Cases reads a table as ReadCases does. It fails the test unless each case has that
// many columns.
func Cases(t testing.TB, path string, columns int) []Case {
	t.Helper()
	out, err := ReadCases(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range out {
		if len(c.Columns) != columns {
			t.Fatalf("%s: %d columns, want %d", c.At(), len(c.Columns), columns)
		}
	}
	return out
}

// Texts reads a table of one column.
func Texts(t testing.TB, path string) []string {
	t.Helper()
	var out []string
	for _, c := range Cases(t, path, 1) {
		out = append(out, c.Text())
	}
	return out
}
