package hook

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"cardea.dev"
)

// Plain returns text that is safe to show in one line. Characters that move the cursor,
// change the writing direction or show nothing become escapes. What a person approves must
// be what runs.
func Plain(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n <= 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
			n = 1
		case visible(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		i += n
	}
	return b.String()
}

// visible reports whether a character is visible and does not affect others. Unicode
// classes some invisible characters as letters, marks or symbols.
func visible(r rune) bool {
	switch {
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x2800, r == 0x3164, r == 0xffa0,
		r >= 0x180b && r <= 0x180f, r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef:
		return false
	}
	return unicode.IsPrint(r)
}

// PlainJSON returns JSON with the same values, in which invisible characters are escaped:
// programs read the output, and people see it in a terminal.
func PlainJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r <= '~' || visible(r): // JSON has ASCII controls only between values
			out = append(out, text[i:i+n]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += n
	}
	return out
}

// PlainText returns text of several lines, each of them plain.
func PlainText(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i := range lines {
		lines[i] = Plain(lines[i])
	}
	return strings.Join(lines, "\n")
}

// Harmless returns a verdict with texts that are safe in a terminal, where harnesses write
// them. The texts may come from a project's rules, routes and policies. New lines, tabs and
// the joiners of emoji stay.
func Harmless(v cardea.Verdict) cardea.Verdict {
	v.Reason, v.Message, v.Instead = escapeControls(v.Reason), escapeControls(v.Message), escapeControls(v.Instead)
	v.Context = slices.Clone(v.Context)
	for i := range v.Context {
		v.Context[i] = escapeControls(v.Context[i])
	}
	return v
}

// escapeControls escapes the characters that controls reports.
func escapeControls(s string) string {
	if !strings.ContainsFunc(s, controls) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !controls(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// controls reports whether r is a C0 or C1 control (not new line or tab), a bidi mark, a
// line separator, or a tag character. Tag characters show nothing, but models read them.
func controls(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case unicode.IsControl(r), r == 0x061c, r == 0x200b, r == 0x200e, r == 0x200f, r == 0xfeff,
		r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x2069, r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
}
