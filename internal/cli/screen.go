package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cardea.dev"
)

// screen writes text for people. Its print functions make every argument plain, so that no
// caller can forget it; formats are constants. It stores the first error.
type screen struct {
	w      io.Writer
	colour bool
	err    error
}

// style is an emphasis, as a parameter of the terminal's SGR sequence.
type style string

const (
	bold   style = "1"
	faint  style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
)

// painted is text in a style.
type painted struct {
	style style
	text  string
}

// screenOn returns a screen that writes to w. It uses colour only on a terminal, unless
// NO_COLOR is set (no-color.org) or TERM is dumb.
func screenOn(w io.Writer, env func(string) string) *screen {
	colour := env("NO_COLOR") == "" && env("TERM") != "dumb" && isTerminal(w)
	return &screen{w: w, colour: colour}
}

// isTerminal reports whether a standard stream is a terminal.
func isTerminal(stream any) bool {
	t, ok := stream.(interface{ Stat() (os.FileInfo, error) })
	if !ok {
		return false
	}
	info, err := t.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// printf writes a line or part of one.
func (s *screen) printf(format string, args ...any) {
	if s.err != nil {
		return
	}
	for i, a := range args {
		args[i] = s.shown(a)
	}
	_, s.err = fmt.Fprintf(s.w, format, args...)
}

// printIf calls printf if a condition holds. Its arguments are evaluated in any case.
func (s *screen) printIf(is bool, format string, args ...any) {
	if is {
		s.printf(format, args...)
	}
}

// shown returns an argument without anything that a terminal would obey.
func (s *screen) shown(a any) any {
	switch a := a.(type) {
	case painted:
		if !s.colour || a.text == "" {
			return Plain(a.text)
		}
		return "\x1b[" + string(a.style) + "m" + Plain(a.text) + "\x1b[0m"
	case int, int64, bool, float64:
		return a
	}
	return Plain(fmt.Sprint(a))
}

// block writes text of several lines after a lead, the second and later ones
// indented like the first.
func (s *screen) block(lead, text string) {
	for _, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		s.printf("%s%s\n", lead, l)
		lead = strings.Repeat(" ", utf8.RuneCountInString(lead))
	}
}

// code writes a line of a file, with its tabs.
func (s *screen) code(lead, line string) {
	for i, piece := range strings.Split(line, "\t") {
		if i > 0 {
			lead = "\t"
		}
		s.raw(lead + Plain(piece))
	}
	s.printf("\n")
}

// raw writes text without changes.
func (s *screen) raw(text string) {
	if s.err == nil {
		_, s.err = io.WriteString(s.w, text)
	}
}

// columns is the width of a line of prose.
const columns = 80

// filled writes prose as block does, wrapped at blanks to the number of columns. It is not
// for commands, which are shown as they are.
func (s *screen) filled(lead, text string) {
	indent := utf8.RuneCountInString(lead)
	var b strings.Builder
	for n, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if n > 0 {
			b.WriteByte('\n')
		}
		at := indent
		for i, w := range strings.Fields(line) {
			width := utf8.RuneCountInString(w)
			switch {
			case i == 0:
			case at+1+width > columns:
				b.WriteByte('\n')
				at = indent
			default:
				b.WriteByte(' ')
				at++
			}
			b.WriteString(w)
			at += width
		}
	}
	s.block(lead, b.String())
}

// noneIf writes that a list is empty.
func (s *screen) noneIf(empty bool) {
	s.printIf(empty, "  none\n")
}

// field writes a named text, if there is one.
func (s *screen) field(name, text string) {
	if text != "" {
		s.block("  "+name+": ", text)
	}
}

// effect returns an effect's word in its colour.
func effect(e cardea.Effect) painted {
	colours := map[cardea.Effect]style{cardea.Allow: green, cardea.Deny: red, cardea.Halt: red, cardea.Ask: yellow, cardea.Defer: yellow}
	return painted{cmp.Or(colours[e], faint), e.String()}
}

// meaning explains the effects whose words do not explain themselves.
var meaning = map[cardea.Effect]string{
	cardea.Abstain: "no rule matched",
	cardea.Defer:   "no rule may allow it",
	cardea.Halt:    "denied, and the agent is stopped",
}

// count returns a number with a word, in the plural unless the number is 1.
func count(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return strconv.Itoa(n) + " " + word
}

// onlyIf returns a text if a condition holds, else "".
func onlyIf(is bool, text string) string { return either(is, text, "") }

// either returns one value if a condition holds, else the other.
func either[T any](is bool, yes, no T) T {
	if is {
		return yes
	}
	return no
}

// joined returns the non-empty words, joined by a separator.
func joined(separator string, words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), separator)
}

// shorten cuts plain text at n characters.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
