package lesson

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"cardea.dev"
)

// scanner reads the JSON of one line. It supports only the keys of a lesson, since a file may have
// a million lines.
type scanner struct {
	s string
	i int
}

// lineKeys are the keys of a line. text returns the field of those that are plain texts.
var lineKeys = [...]struct {
	name string
	text func(l *Line) *string
}{
	{name: "v"}, {name: "effect"}, {name: "when"}, {name: "files"}, {name: "expires"}, {name: "unsandboxed"},
	{"tool", func(l *Line) *string { return &l.Tool }},
	{"subject", func(l *Line) *string { return &l.Subject }},
	{"role", func(l *Line) *string { return &l.Role }},
	{"dir", func(l *Line) *string { return &l.Dir }},
	{"by", func(l *Line) *string { return &l.By }},
	{"who", func(l *Line) *string { return &l.Who }},
	{"reason", func(l *Line) *string { return &l.Reason }},
	{"kind", func(l *Line) *string { return &l.Kind }},
	{"removes", func(l *Line) *string { return &l.Removes }},
	{"model", func(l *Line) *string { return &l.Model }},
	{"prompt", func(l *Line) *string { return &l.Prompt }},
	{"policy", func(l *Line) *string { return &l.Policy }},
}

// keyAt returns the index of a key in [lineKeys], or -1.
func keyAt(key string) int {
	for i := range lineKeys {
		if lineKeys[i].name == key {
			return i
		}
	}
	return -1
}

// keys is the set of keys in a line, one bit each.
type keys uint32

func (k keys) has(key string) bool { return k>>keyAt(key)&1 != 0 }

func (s *scanner) blanks() {
	for s.i < len(s.s) && (s.s[s.i] == ' ' || s.s[s.i] == '\t' || s.s[s.i] == '\r') {
		s.i++
	}
}

// take skips a character, and reports whether it was there.
func (s *scanner) take(c byte) bool {
	s.blanks()
	if s.i < len(s.s) && s.s[s.i] == c {
		s.i++
		return true
	}
	return false
}

var errNoObject = errors.New("this is no JSON object with the keys of a lesson")

// line reads the whole line, and returns the keys it has.
func (s *scanner) line(l *Line) (given keys, err error) {
	err = s.object(func(key string) error {
		at := keyAt(key)
		switch {
		case at < 0:
			return fmt.Errorf("the key %q is not known", key)
		case given>>at&1 != 0:
			return fmt.Errorf("the key %q stands there twice", key)
		}
		given |= 1 << at
		return s.value(l, key)
	})
	if s.blanks(); err == nil && s.i < len(s.s) {
		err = errNoObject
	}
	return given, err
}

// object reads an object and calls member with each key; member reads the value.
func (s *scanner) object(member func(key string) error) error {
	if !s.take('{') {
		return errNoObject
	}
	if s.take('}') {
		return nil
	}
	for {
		key, err := s.text()
		if err != nil {
			return err
		}
		if !s.take(':') {
			return errNoObject
		}
		if err := member(key); err != nil {
			return err
		}
		if s.take('}') {
			return nil
		}
		if !s.take(',') {
			return errNoObject
		}
	}
}

// value reads the value of a key into the line.
func (s *scanner) value(l *Line, key string) (err error) {
	switch key {
	case "v":
		if s.blanks(); !strings.HasPrefix(s.s[s.i:], "1") {
			return errors.New("this version of Cardea knows lessons of version 1")
		}
		s.i++
		if s.i < len(s.s) && strings.IndexByte(", }\t", s.s[s.i]) < 0 {
			return errors.New("this version of Cardea knows lessons of version 1")
		}
		return nil
	case "unsandboxed":
		s.blanks()
		for _, word := range [...]string{"true", "false"} {
			if strings.HasPrefix(s.s[s.i:], word) {
				l.Unsandboxed = word == "true"
				s.i += len(word)
				return nil
			}
		}
		return errors.New("unsandboxed is true or false")
	case "files":
		return s.object(func(name string) error {
			if l.Files == nil {
				l.Files = map[string]string{}
			}
			if _, twice := l.Files[name]; twice {
				return fmt.Errorf("the file %q stands there twice", name)
			}
			l.Files[name], err = s.text()
			return err
		})
	}
	text, err := s.text()
	if err != nil {
		return err
	}
	return l.set(key, text)
}

// set sets the text of a key of the line.
func (l *Line) set(key, text string) (err error) {
	switch key {
	case "effect":
		l.Effect, err = cardea.ParseEffect(text)
	case "when":
		l.When, err = parseTime(key, text)
	case "expires":
		l.Expires, err = parseTime(key, text)
	default:
		*lineKeys[keyAt(key)].text(l) = text
	}
	return err
}

// parseTime parses a time; "" is the zero time.
func parseTime(key, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("%s is no time; write it as 2026-11-20T10:00:00Z", key)
	}
	return t, nil
}

// text reads a string. A string without escapes shares the memory of the line.
func (s *scanner) text() (string, error) {
	if !s.take('"') {
		return "", errNoObject
	}
	start, plain := s.i, true
	for s.i < len(s.s) {
		switch c := s.s[s.i]; {
		case c == '"':
			raw := s.s[start:s.i]
			s.i++
			if plain {
				return raw, nil
			}
			return unescaped(s.s[start-1 : s.i])
		case c == '\\':
			plain = false
			s.i++
		case c < ' ':
			return "", errors.New("a text holds a character that JSON wants as an escape")
		case c >= utf8.RuneSelf:
			plain = false
		}
		s.i++
	}
	return "", errors.New("a text has no end")
}

// unescaped reads a string with escapes or non-ASCII characters.
func unescaped(raw string) (string, error) {
	var out string
	if !utf8.ValidString(raw) {
		return "", errors.New("a text is no UTF-8")
	}
	if err := json.Unmarshal([]byte(raw), &out); err != nil {
		return "", errors.New("a text has an escape that JSON does not know")
	}
	if strings.ContainsRune(out, utf8.RuneError) && !strings.ContainsRune(raw, utf8.RuneError) {
		return "", errors.New("a text has half of a character as an escape")
	}
	return out, nil
}
