package question

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"cardea.dev/internal/command/redact"
)

// style selects the characters of a text to escape, in addition to those that JSON requires.
type style uint8

const (
	// code is for commands, names and paths: everything except ASCII is escaped, so that similar
	// letters of another script are visible.
	code style = iota
	// prose is for people's texts: letters of all scripts stay. Invisible characters, and those
	// that change the direction of writing, are escaped.
	prose
)

// appendQuoted appends a text as a JSON string that cannot end the fence around it: it contains no
// line end, quote or angle bracket.
func appendQuoted(b []byte, s string, as style) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '<' && strings.HasPrefix(s[i:], redact.Mark):
			b, n = append(b, redact.Mark...), len(redact.Mark) // it ends no fence
		case r == utf8.RuneError && n <= 1:
			b = append(b, `\ufffd`...)
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\t':
			b = append(b, `\t`...)
		case shows(r, as):
			b = append(b, s[i:i+n]...)
		case r > 0xffff:
			high, low := surrogates(r)
			b = appendEscape(appendEscape(b, high), low)
		default:
			b = appendEscape(b, r)
		}
		i += n
	}
	return append(b, '"')
}

// shows reports whether a character needs no escape.
func shows(r rune, as style) bool {
	switch {
	case r == '<' || r == '`':
		return false // they begin marks of fences
	case r >= ' ' && r <= '~':
		return true
	case as == code:
		return false
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x2800, r == 0x3164, r == 0xffa0,
		r >= 0x180b && r <= 0x180f, r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef:
		return false // Unicode counts these as letters and marks, and they show nothing
	}
	return unicode.IsPrint(r)
}

func surrogates(r rune) (high, low rune) {
	r -= 0x10000
	return 0xd800 + r>>10, 0xdc00 + r&0x3ff
}

func appendEscape(b []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}

// object is a JSON object whose members keep their order. Empty members are left out.
type object []member

type member struct {
	name  string
	value any
}

// quoted is a text from outside this program, in a style.
type quoted struct {
	text redact.Text
	as   style
}

// word is a text of this program.
type word string

// list is a JSON array.
type list []any

// empty reports whether a value is empty and can be left out.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case quoted:
		return v.text.String() == ""
	case word:
		return v == ""
	case bool:
		return !v
	case list:
		return len(v) == 0
	case object:
		return !slices.ContainsFunc(v, func(m member) bool { return !empty(m.value) })
	}
	return false
}

// appendValue appends a value as JSON. Nested objects and lists have a line for each member, so
// that a person can read a question.
func appendValue(b []byte, v any, indent int) []byte {
	switch v := v.(type) {
	case quoted:
		return appendQuoted(b, v.text.String(), v.as)
	case word:
		return appendQuoted(b, string(v), code)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case object:
		return appendAll(b, '{', '}', len(v), indent, func(b []byte, i int) ([]byte, bool) {
			if empty(v[i].value) {
				return b, false
			}
			b = append(appendQuoted(b, v[i].name, code), ": "...)
			return appendValue(b, v[i].value, indent+1), true
		}, flat(v))
	case list:
		return appendAll(b, '[', ']', len(v), indent, func(b []byte, i int) ([]byte, bool) {
			return appendValue(b, v[i], indent+1), true
		}, flatList(v))
	}
	return append(b, "null"...)
}

// appendAll appends n members between open and end. one appends member i, and reports false for an
// empty one, which is left out.
func appendAll(b []byte, open, end byte, n, indent int, one func([]byte, int) ([]byte, bool), inLine bool) []byte {
	b = append(b, open)
	first := true
	for i := range n {
		before := len(b)
		if !first {
			b = append(b, ',')
		}
		if !inLine {
			b = append(b, '\n')
			for range indent + 1 {
				b = append(b, ' ')
			}
		} else if !first {
			b = append(b, ' ')
		}
		out, written := one(b, i)
		if !written {
			b = b[:before]
			continue
		}
		b, first = out, false
	}
	if !inLine && !first {
		b = append(b, '\n')
		for range indent {
			b = append(b, ' ')
		}
	}
	return append(b, end)
}

// flat reports whether an object contains no other objects and lists.
func flat(o object) bool {
	for _, m := range o {
		switch v := m.value.(type) {
		case object:
			return empty(v)
		case list:
			return empty(v)
		}
	}
	return true
}

func flatList(l list) bool {
	for _, v := range l {
		switch v.(type) {
		case object, list:
			return false
		}
	}
	return true
}
