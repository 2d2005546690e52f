package harness

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"cardea.dev"
)

// The limits of a message. No tool that a vendor documents comes near them. A value beyond them is
// still checked to be JSON, then dropped with a defect.
const (
	maxDepth   = 100
	maxValues  = 500_000
	maxDefects = 50
)

// scanner reads JSON from left to right, once. It recurses no deeper than maxDepth, so that
// brackets cannot exhaust the stack.
type scanner struct {
	text    string
	pos     int
	values  int // below the top-level key being read
	defects []defect

	top   string // the top-level key being read
	noted int    // its defects: one key's must not crowd out another's
	depth int    // objects and arrays that are open
}

func (s *scanner) broken(what string) error {
	return fmt.Errorf("broken JSON at byte %d: %s", s.pos, what)
}

func (s *scanner) defect(text, reason string) { s.defectOf(cardea.OpaqueInput, text, reason) }

func (s *scanner) defectOf(code cardea.OpaqueCode, text, reason string) {
	if s.noted++; s.noted > maxDefects+1 {
		return
	}
	if s.noted > maxDefects {
		code, text, reason = cardea.OpaqueTooMany, s.top, "has too many faults, so that not all are told"
	}
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	s.defects = append(s.defects, defect{key: s.top, deep: s.depth > 1, Opaque: cardea.Opaque{Code: code, Text: text, Reason: reason}})
}

// instead describes the text in place of the object.
func (s *scanner) instead() string {
	v, err := s.value(0)
	if err != nil {
		return err.Error()
	}
	return "it is " + describe(v)
}

// trailing describes the text after the object.
func (s *scanner) trailing() string {
	at := s.pos
	if v, err := s.value(0); err == nil {
		return fmt.Sprintf("there is %s behind the object, at byte %d", describe(v), at)
	}
	return fmt.Sprintf("broken JSON at byte %d: something stands behind the object", at)
}

func (s *scanner) space() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek skips white space and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.pos == len(s.text) {
		return 0
	}
	return s.text[s.pos]
}

// value reads the value that begins at the next byte. It drops containers that are too deep, and
// values beyond the limit.
func (s *scanner) value(depth int) (any, error) {
	c := s.peek()
	s.values++
	if c != '{' && c != '[' && !s.full() {
		return s.scalar()
	}
	switch {
	case s.full():
		s.defectOf(cardea.OpaqueTooMany, s.top, "has too many values, so that a part of it was not read")
		return nil, s.skip()
	case depth >= maxDepth:
		s.defectOf(cardea.OpaqueTooDeep, s.top, "is nested too deeply, so that a part of it was not read")
		return nil, s.skip()
	}
	s.depth++
	defer func() { s.depth-- }()
	if c == '{' {
		return s.object(depth)
	}
	return s.array(depth)
}

// full reports whether no further value is stored below this top-level key. Each key has its own
// limit, so that a huge tool input cannot push out the name of the event after it.
func (s *scanner) full() bool { return s.values > maxValues }

func (s *scanner) array(depth int) (any, error) {
	items := []any{}
	err := s.each(']', func() error {
		v, err := s.value(depth + 1)
		if err == nil && !s.full() {
			items = append(items, v)
		}
		return err
	})
	return items, err
}

// each reads the entries between brackets, up to the closing one, with commas between them.
func (s *scanner) each(end byte, entry func() error) error {
	s.pos++ // the opening one
	if s.peek() == end {
		s.pos++
		return nil
	}
	for {
		if err := entry(); err != nil {
			return err
		}
		switch s.peek() {
		case ',':
			s.pos++
		case end:
			s.pos++
			return nil
		default:
			return s.broken("a comma or " + string(end) + " is missing")
		}
	}
}

// object reads an object. It drops members beyond the limit, except at the top level.
func (s *scanner) object(depth int) (*Object, error) {
	o := &Object{}
	seen := map[string]string{} // folded key to the first spelling
	err := s.each('}', func() error {
		key, err := s.key(seen)
		if err != nil {
			return err
		}
		v, err := s.value(depth + 1)
		if err == nil && (s.depth == 1 || !s.full()) {
			o.fields = append(o.fields, Entry{key, v})
		}
		return err
	})
	return o, err
}

// key reads a key and its colon, and compares it with earlier keys.
func (s *scanner) key(seen map[string]string) (string, error) {
	if s.peek() != '"' {
		return "", s.broken("a key in double quotes is missing")
	}
	key, err := s.str()
	if err != nil {
		return "", err
	}
	if s.depth == 1 {
		s.top, s.noted, s.values = key, 0, 0
	}
	if s.full() {
		return key, s.colon()
	}
	folded := fold(key)
	switch first, there := seen[folded]; {
	case !there:
		seen[folded] = key
	case first == key:
		s.defect(key, "the key stands twice in one object")
	default:
		s.defect(key, "differs only in case from the key "+first)
	}
	return key, s.colon()
}

func (s *scanner) colon() error {
	if s.peek() != ':' {
		return s.broken("a colon is missing")
	}
	s.pos++
	return nil
}

// scalar reads a string, a number, true, false or null.
func (s *scanner) scalar() (any, error) {
	c := s.peek()
	switch {
	case c == '"':
		return s.str()
	case c == '-' || '0' <= c && c <= '9':
		return s.number()
	}
	for _, w := range [...]struct {
		text  string
		value any
	}{{"true", true}, {"false", false}, {"null", nil}} {
		if strings.HasPrefix(s.text[s.pos:], w.text) {
			s.pos += len(w.text)
			return w.value, nil
		}
	}
	if s.pos == len(s.text) {
		return nil, s.broken("it ends too early")
	}
	return nil, s.broken("no value begins so")
}

// number reads a number by the grammar of RFC 8259.
func (s *scanner) number() (any, error) {
	begin := s.pos
	digits := func() bool {
		from := s.pos
		for s.pos < len(s.text) && '0' <= s.text[s.pos] && s.text[s.pos] <= '9' {
			s.pos++
		}
		return s.pos > from
	}
	at := func(set string) bool { return s.pos < len(s.text) && strings.IndexByte(set, s.text[s.pos]) >= 0 }
	if at("-") {
		s.pos++
	}
	if at("0") {
		s.pos++
	} else if !digits() {
		return nil, s.broken("a digit is missing")
	}
	if at(".") {
		s.pos++
		if !digits() {
			return nil, s.broken("a digit is missing")
		}
	}
	if at("eE") {
		s.pos++
		if at("+-") {
			s.pos++
		}
		if !digits() {
			return nil, s.broken("a digit is missing")
		}
	}
	return json.Number(s.text[begin:s.pos]), nil
}

// str reads a string. Invalid or replaced characters are a defect: encoding/json would silently
// replace them by U+FFFD.
func (s *scanner) str() (string, error) {
	s.pos++ // "
	begin := s.pos
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == '"':
			out := s.checked(s.text[begin:s.pos])
			s.pos++
			return out, nil
		case c == '\\':
			return s.escaped(begin)
		case c < 0x20:
			return "", s.broken("a control character stands in a string")
		}
		s.pos++
	}
	return "", s.broken("a string has no end")
}

// escaped continues reading a string from its first backslash.
func (s *scanner) escaped(begin int) (string, error) {
	var out strings.Builder
	out.WriteString(s.text[begin:s.pos])
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		switch {
		case c == '"':
			s.pos++
			return s.checked(out.String()), nil
		case c < 0x20:
			return "", s.broken("a control character stands in a string")
		case c != '\\':
			out.WriteByte(c)
			s.pos++
		default:
			r, err := s.escape()
			if err != nil {
				return "", err
			}
			out.WriteRune(r)
		}
	}
	return "", s.broken("a string has no end")
}

// escape reads an escape at the position. Half of a surrogate pair is replaced, with a defect.
func (s *scanner) escape() (rune, error) {
	if s.pos+1 == len(s.text) {
		return 0, s.broken("a string has no end")
	}
	c := s.text[s.pos+1]
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		s.pos += 2
		return rune("\"\\/\b\f\n\r\t"[i]), nil
	}
	r, ok := s.unicode()
	if !ok {
		return 0, s.broken("an unknown escape stands in a string")
	}
	s.pos += 6
	if !utf16.IsSurrogate(r) {
		return r, nil
	}
	if low, ok := s.unicode(); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			s.pos += 6
			return pair, nil
		}
	}
	s.defect(fmt.Sprintf(`\u%04x`, r), "half of a surrogate pair, which was replaced")
	return utf8.RuneError, nil
}

// unicode reads a \uXXXX at the position, without advancing.
func (s *scanner) unicode() (rune, bool) {
	if len(s.text)-s.pos < 6 || s.text[s.pos] != '\\' || s.text[s.pos+1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s.text[s.pos+2:s.pos+6], 16, 32)
	return rune(n), err == nil
}

// checked returns a string as valid UTF-8, and records replaced characters.
func (s *scanner) checked(text string) string {
	if !utf8.ValidString(text) {
		s.defect(strconv.QuoteToASCII(head(text)), "bytes that are no UTF-8, which were replaced")
		text = strings.ToValidUTF8(text, string(utf8.RuneError))
	}
	if strings.IndexByte(text, 0) >= 0 {
		s.defect(strconv.QuoteToASCII(head(text)), "a NUL, at which programs in C end the text")
	}
	return text
}

func head(s string) string { return s[:min(len(s), 60)] }

// skip reads a value without keeping it, on a stack of its own.
func (s *scanner) skip() error {
	var open []byte // the closing bracket of each container
	for {
		c := s.peek()
		if c == '{' || c == '[' {
			s.pos++
			open = append(open, c+2)
			if s.peek() != c+2 {
				if err := s.member(c + 2); err != nil {
					return err
				}
				continue
			}
		} else if _, err := s.scalar(); err != nil {
			return err
		}
		for more := false; !more; {
			if len(open) == 0 {
				return nil
			}
			end := open[len(open)-1]
			switch s.peek() {
			case end:
				s.pos++
				open = open[:len(open)-1]
			case ',':
				s.pos++
				if err := s.member(end); err != nil {
					return err
				}
				more = true
			default:
				return s.broken("a comma or closing bracket is missing")
			}
		}
	}
}

// member reads the key before a value, where the container has keys.
func (s *scanner) member(end byte) error {
	if end != '}' {
		return nil
	}
	if s.peek() != '"' {
		return s.broken("a key in double quotes is missing")
	}
	if _, err := s.str(); err != nil {
		return err
	}
	return s.colon()
}
