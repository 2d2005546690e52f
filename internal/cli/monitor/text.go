package monitor

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"cardea.dev/internal/hook"
)

// maxMarks is the most marks on one letter. With more, some terminals draw over the lines
// above and below.
const maxMarks = 2

// oneLine returns external text as one safe line: nothing in it moves the cursor, changes
// the writing direction, is invisible, or leaves its line.
func oneLine(s string) string {
	s = hook.Plain(s)
	if !strings.ContainsFunc(s, unicode.IsMark) {
		return s
	}
	var b strings.Builder
	marks := 0
	for i, r := range s {
		if !unicode.IsMark(r) {
			marks = 0
			b.WriteRune(r)
			continue
		}
		if marks++; marks > maxMarks || i == 0 {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// cellsOf returns the most terminal cells that a character takes. Terminals differ, and on
// none may the following text wrap to the next line.
func cellsOf(r rune) int {
	switch {
	case ' ' <= r && r <= '~', r == '…':
		return 1
	case unicode.IsMark(r):
		return 0
	}
	s := string(r)
	return max(1, ansi.StringWidth(s), ansi.StringWidthWc(s))
}

// cells returns the most cells that a text takes.
func cells(s string) int {
	n := 0
	for _, r := range s {
		n += cellsOf(r)
	}
	return n
}

// fit cuts a text to at most n cells. A cut text ends with "…".
func fit(s string, n int) string {
	if len(s) <= n || cells(s) <= n { // no character takes more cells than bytes
		return s
	}
	used := 0
	for i, r := range s {
		if used += cellsOf(r); used > n-1 {
			return s[:i] + strings.Repeat("…", min(1, max(0, n)))
		}
	}
	return s
}

// column returns a text in exactly n cells.
func column(s string, n int) string {
	s = fit(s, n)
	return s + strings.Repeat(" ", max(0, n-cells(s)))
}

// wrap breaks a text into lines of at most n cells. The following lines have the indent of
// the first.
func wrap(s string, n int) []string {
	n = max(n, 8)
	indent := s[:len(s)-len(strings.TrimLeft(s, " "))]
	if len(indent) > n/2 {
		indent = ""
	}
	var out []string
	begin, used := 0, 0
	lead := ""
	for i, r := range s {
		w := cellsOf(r)
		if used+w > n {
			out = append(out, lead+s[begin:i])
			lead, begin, used = indent, i, len(indent)
		}
		used += w
	}
	return append(out, lead+s[begin:])
}
