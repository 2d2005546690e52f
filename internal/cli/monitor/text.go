package monitor

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"cardea.dev/internal/hook"
)

// maxMarks is how many marks may stand on one letter: more of them draw over the lines
// above and below, in terminals that show them all.
const maxMarks = 2

// oneLine is text from outside in one line, in which nothing moves the cursor, changes the
// direction of writing, shows nothing, or leaves its line.
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

// cellsOf is how many cells of a terminal a character takes at most: terminals differ on
// some, and none of them may push what follows into the next line.
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

// cells is how many cells a text takes.
func cells(s string) int {
	n := 0
	for _, r := range s {
		n += cellsOf(r)
	}
	return n
}

// fit cuts a text so that it takes at most n cells, and says so by a last "…".
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

// column is a text in exactly n cells.
func column(s string, n int) string {
	s = fit(s, n)
	return s + strings.Repeat(" ", max(0, n-cells(s)))
}

// wrap breaks a text into lines of at most n cells, so that all of it can be read. Lines
// after the first begin as deep as it does.
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
