// Package jsontext reads and writes JSON byte by byte as encoding/json does, but without
// its preparation for each type. For a process that writes a single object, that
// preparation takes longer than the object.
package jsontext

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Escape selects characters to escape in addition to those that JSON requires.
type Escape bool

const (
	// Plain escapes no other characters.
	Plain Escape = false
	// HTML escapes <, > and &, as json.Marshal does.
	HTML Escape = true
)

const hex = "0123456789abcdef"

// String appends a text. As in encoding/json, invalid UTF-8 becomes the replacement
// character, and U+2028 and U+2029 are escaped.
func (e Escape) String(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' && (e == Plain || c != '<' && c != '>' && c != '&') {
				i++
				continue
			}
			b = escape(append(b, s[start:i]...), c)
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = append(append(b, s[start:i]...), `\ufffd`...)
			start = i + n
		case r == '\u2028' || r == '\u2029':
			b = append(append(b, s[start:i]...), `\u202`...)
			b = append(b, hex[r&0xf])
			start = i + n
		}
		i += n
	}
	return append(append(b, s[start:]...), '"')
}

// escape appends the escape of a character.
func escape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b', '\t', '\n', '\f', '\r':
		return append(b, '\\', "btn-fr"[c-'\b']) // the letters of \b to \r, of which JSON has no \v
	}
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
}

// List returns texts as a JSON decoder returns them.
func List(texts []string) []any {
	out := make([]any, len(texts))
	for i, s := range texts {
		out[i] = s
	}
	return out
}

// Value appends a value as a JSON decoder returns it: nil, bool, string, json.Number, []any
// or map[string]any of these. It returns false for any other type, and for an invalid
// number.
func (e Escape) Value(b []byte, v any) ([]byte, bool) {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...), true
	case bool:
		return strconv.AppendBool(b, v), true
	case string:
		return e.String(b, v), true
	case json.Number:
		return append(b, v...), isNumber(string(v))
	case []any:
		if v == nil {
			return append(b, "null"...), true
		}
		b = append(b, '[')
		for i, x := range v {
			if i > 0 {
				b = append(b, ',')
			}
			var ok bool
			if b, ok = e.Value(b, x); !ok {
				return b, false
			}
		}
		return append(b, ']'), true
	case map[string]any:
		if v == nil {
			return append(b, "null"...), true
		}
		return e.object(b, v)
	}
	return b, false
}

// object appends an object with sorted keys.
func (e Escape) object(b []byte, v map[string]any) ([]byte, bool) {
	b = append(b, '{')
	for i, k := range slices.Sorted(maps.Keys(v)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(e.String(b, k), ':')
		var ok bool
		if b, ok = e.Value(b, v[k]); !ok {
			return b, false
		}
	}
	return append(b, '}'), true
}

// isNumber reports whether s is a JSON number with nothing around it.
func isNumber(s string) bool {
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	return s != "" && (s[0] == '-' || digit(s[0])) && digit(s[len(s)-1]) && json.Valid([]byte(s))
}
