package harness

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"cardea.dev"
)

// ErrNoObject is the error that Read wraps: stdin is not exactly one JSON object.
var ErrNoObject = errors.New("stdin is no JSON object")

// Payload is one hook message, read strictly: keys keep their order, and duplicates are stored as
// well. encoding/json would match keys without regard to case and let the last duplicate win, so
// that the gate and the harness could read different commands in the same bytes.
type Payload struct {
	root    *Object
	defects []defect
}

// Object is a JSON object in the order in which it was written.
type Object struct{ fields []Entry }

// Entry is a key with its value: string, json.Number, bool, nil, []any or
// *Object.
type Entry struct {
	Key   string
	Value any
}

// Entries lists the entries in order, duplicates included.
func (o *Object) Entries() []Entry { return o.fields }

// ObjectOf returns an object with one entry.
func ObjectOf(key string, value any) *Object { return &Object{fields: []Entry{{key, value}}} }

// Get returns the first value of exactly this key.
func (o *Object) Get(key string) (any, bool) {
	for i := range o.fields {
		if o.fields[i].Key == key {
			return o.fields[i].Value, true
		}
	}
	return nil, false
}

// defect is a mistake in the bytes, with its place.
type defect struct {
	// key is the top-level key at or below which the defect is.
	key string
	// deep is set if the defect is inside of that key's value.
	deep bool
	cardea.Opaque
}

// Read reads a hook message. An error wraps ErrNoObject and describes what was there instead. Every
// other mistake is a defect of the payload and never an error: a harness may send anything, and the
// gate must answer it.
func Read(raw []byte) (*Payload, error) {
	s := &scanner{text: unmarked(raw)}
	s.space()
	if s.pos == len(s.text) {
		return nil, noObject("it is empty")
	}
	if s.text[s.pos] != '{' {
		return nil, noObject(s.instead())
	}
	s.depth = 1
	root, err := s.object(0)
	if err != nil {
		return nil, noObject(err.Error())
	}
	s.space()
	if s.pos < len(s.text) {
		return nil, noObject(s.trailing())
	}
	return &Payload{root: root, defects: s.defects}, nil
}

// unmarked returns a message without the byte order mark that some programs on Windows write first,
// in UTF-8 if the mark is that of UTF-16.
func unmarked(raw []byte) string {
	var order binary.ByteOrder
	switch {
	case len(raw) < 2 || len(raw)%2 != 0:
	case raw[0] == 0xff && raw[1] == 0xfe:
		order = binary.LittleEndian
	case raw[0] == 0xfe && raw[1] == 0xff:
		order = binary.BigEndian
	}
	if order == nil {
		return strings.TrimPrefix(string(raw), "\ufeff")
	}
	units := make([]uint16, len(raw)/2-1)
	for i := range units {
		units[i] = order.Uint16(raw[2*i+2:])
	}
	return string(utf16.Decode(units))
}

func noObject(found string) error {
	return fmt.Errorf("%w: %s; a harness sends exactly one object: look at the hook's command in its settings", ErrNoObject, found)
}

// Get returns the first value of exactly this top-level key.
func (p *Payload) Get(key string) (any, bool) { return p.root.Get(key) }

// Root returns the whole message.
func (p *Payload) Root() *Object { return p.root }

// Fields returns the top-level fields in the types of encoding/json, with the first of several
// values of a key.
func (p *Payload) Fields() map[string]any {
	m, _ := Decoded(p.root).(map[string]any)
	return m
}

// Has reports whether the message has this top-level key, with any value.
func (p *Payload) Has(key string) bool {
	_, ok := p.root.Get(key)
	return ok
}

// Holds is Has for a key with dots, as in [Reading.Value].
func (p *Payload) Holds(path string) bool {
	r := Reading{p: p}
	_, ok := r.Value(path)
	return ok
}

// Only returns an object with the top-level entries of these keys, and of keys that differ from
// them only in case.
func (p *Payload) Only(keys []string) *Object {
	out := &Object{}
	for _, e := range p.root.fields {
		if slices.ContainsFunc(keys, func(k string) bool { return strings.EqualFold(k, e.Key) }) {
			out.fields = append(out.fields, e)
		}
	}
	return out
}

// Text returns a top-level string, "" for any other value. Unlike [Reading.Text] it records no
// defect: it is for detecting harnesses.
func (p *Payload) Text(key string) string {
	v, _ := p.root.Get(key)
	s, _ := v.(string)
	return s
}

// Defects returns the defects at the top level of the message, and those below the named keys.
func (p *Payload) Defects(below ...string) []cardea.Opaque {
	var out []cardea.Opaque
	for _, f := range p.defects {
		take := !f.deep
		for _, k := range below {
			take = take || f.key == k
		}
		if take {
			out = append(out, f.Opaque)
		}
	}
	return out
}

// Reading reads typed fields from a payload and collects their defects. An adapter's Parse makes
// one for each payload.
type Reading struct {
	p       *Payload
	defects []cardea.Opaque
}

// NewReading returns a reading of a payload.
func NewReading(p *Payload) *Reading { return &Reading{p: p} }

// Text returns a string. A missing field and null are "". Another type, and a key that differs from
// this one only in case, are defects.
func (r *Reading) Text(key string) string {
	v, _ := r.Value(key)
	s, ok := v.(string)
	if !ok && v != nil {
		r.Defect(key, "is "+describe(v)+", not a string")
	}
	return s
}

// EventName returns the name of the message's event, "" for a value that is not a word. Of several
// values, also under keys that differ only in case, it returns the one that the gate answers, so
// that a second value cannot hide a call.
func (r *Reading) EventName(key string) string { return r.EventOf(key, canonicalKind) }

// EventOf is EventName for a harness whose event names are mapped by kind.
func (r *Reading) EventOf(key string, kind func(string) cardea.Kind) string {
	name := word(r.Text(key))
	for _, e := range r.p.root.fields {
		s, _ := e.Value.(string)
		if strings.EqualFold(e.Key, key) && !kind(name).Answered() && kind(s).Answered() {
			name = s
		}
	}
	return name
}

func word(s string) string {
	for i := range len(s) {
		if c := s[i] | 0x20; (c < 'a' || c > 'z') && s[i] != '_' && s[i] != '.' {
			return ""
		}
	}
	return s
}

// Folder returns a string that is an absolute path of any platform. Any other text is "" and a
// defect.
func (r *Reading) Folder(key string) string {
	s := r.Text(key)
	if s == "" || strings.HasPrefix(s, "/") || strings.HasPrefix(s, `\\`) || IsDrivePath(s) {
		return s
	}
	r.Defect(key, "is no absolute path")
	return ""
}

// IsDrivePath reports whether a path is absolute and begins with a Windows
// drive: `C:\x`, `C:/x`.
func IsDrivePath(s string) bool {
	if len(s) < 3 || s[1] != ':' || (s[2] != '\\' && s[2] != '/') {
		return false
	}
	c := s[0] | 0x20
	return 'a' <= c && c <= 'z'
}

// Object parses an object in a JSON text under a key, as strictly as the message itself. Any other
// text is returned unchanged.
func (r *Reading) Object(key, text string) any {
	inner, err := Read([]byte(text))
	if err != nil {
		return text // Call records that it is not an object
	}
	all := make([]string, 0, len(inner.root.fields))
	for _, e := range inner.root.fields {
		all = append(all, e.Key)
	}
	r.Add(inner.Defects(all...)...)
	return inner.root
}

// Value returns a value of any type and whether the key exists. A key with dots leads into objects
// and, with a number, into lists: "tool_call.input", "roots.0".
func (r *Reading) Value(path string) (any, bool) {
	key, rest, nested := strings.Cut(path, ".")
	v, ok := r.field(r.p.root, key)
	for nested && ok && v != nil {
		at := ""
		at, rest, nested = strings.Cut(rest, ".")
		switch in := v.(type) {
		case *Object:
			if v, ok = r.field(in, at); at == "0" && !ok {
				r.Defect(key, "is an object, not a list")
			}
		case []any:
			if v, ok = item(in, at); !ok && (at < "0" || at > "9") {
				r.Defect(key, "is a list, not an object")
			}
		default:
			r.Defect(key, "is "+describe(v)+", not an object")
			return nil, false
		}
		key = at
	}
	return v, ok && !nested
}

func item(list []any, number string) (any, bool) {
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(list) {
		return nil, false
	}
	return list[i], true
}

// field returns the value of a key of an object.
func (r *Reading) field(o *Object, key string) (any, bool) {
	if v, ok := o.Get(key); ok {
		return v, true
	}
	for _, e := range o.fields {
		if strings.EqualFold(e.Key, key) {
			r.Defect(e.Key, "differs only in case from the key "+key)
		}
	}
	return nil, false
}

// Defect records a field that is not as documented.
func (r *Reading) Defect(text, reason string) {
	r.defects = append(r.defects, cardea.Opaque{Code: cardea.OpaqueInput, Text: text, Reason: reason})
}

// Add records further defects.
func (r *Reading) Add(defects ...cardea.Opaque) { r.defects = append(r.defects, defects...) }

// Defects returns the defects of the message's top level, of the named keys' values, and of this
// reading, without duplicates.
func (r *Reading) Defects(below ...string) []cardea.Opaque {
	var out []cardea.Opaque
	seen := map[cardea.Opaque]bool{}
	for _, f := range append(r.p.Defects(below...), r.defects...) {
		if !seen[f] {
			seen[f] = true
			out = append(out, f)
		}
	}
	return out
}

// Decoded returns a value in the types of encoding/json: *Object becomes map[string]any, with the
// first of several values of a key.
func Decoded(v any) any {
	switch v := v.(type) {
	case *Object:
		m := make(map[string]any, len(v.fields))
		for _, e := range v.fields {
			if _, taken := m[e.Key]; !taken {
				m[e.Key] = Decoded(e.Value)
			}
		}
		return m
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = Decoded(v[i])
		}
		return out
	}
	return v
}

// describe returns the name of a value's JSON type, for messages.
func describe(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case bool:
		return "a boolean"
	case []any:
		return "an array"
	}
	return "an object"
}

// fold maps keys that are equal under Unicode simple folding to one string.
func fold(key string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			if 'a' <= r && r <= 'z' {
				return r - 'a' + 'A'
			}
			return r
		}
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, key)
}
