package document

import (
	"fmt"
	"strconv"
	"time"

	"cardea.dev/internal/base/diagnostic"
)

// Map is a map of a document. It has the getters of [Value], with the key as first
// argument.
type Map struct {
	at     Value
	fields []field
	index  map[string]int
	asked  *asked
	// broken is set if the value is not a map, which was reported.
	broken bool
}

// asked holds the keys that were read or marked known.
type asked struct {
	set   map[string]bool
	order []string
}

type field struct {
	key   string
	at    *Node
	value *Node
}

// Map returns the value as a map. A missing value is an empty map; a value of another type
// is a problem. A key given twice is a problem, and its first value applies. A key from a
// merge ("<<") applies if the map itself does not have it.
func (v Value) Map() Map {
	m := Map{at: v, index: map[string]int{}, asked: &asked{set: map[string]bool{}}}
	n := v.real()
	if n == nil {
		return m
	}
	if n.Kind != Mapping {
		v.Report(diagnostic.LevelError, diagnostic.CodeWrongType, v.shapeHint(`write "key: value" lines below it`), "%s must be a map, not %s", v.name, v.kind())
		m.broken = true
		return m
	}
	m.fill(v.r, n)
	for i, f := range m.fields {
		m.index[f.key] = i
	}
	return m
}

// fill appends the fields of n, and then those of its merges. It reports keys that are not
// text or given twice.
func (m *Map) fill(r *Reader, n *Node) {
	seen := map[string]*Node{}
	var merges []*Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, val := n.Content[i], n.Content[i+1]
		for k.Kind == Alias {
			k = k.Of
		}
		if k.Tag == "!!merge" {
			merges = append(merges, val)
			continue
		}
		if k.Kind != Scalar {
			r.problem(n.Content[i].Line, n.Content[i].Column, diagnostic.CodeWrongType, "use a word as key", "a key must be text")
			continue
		}
		if first := seen[k.Value]; first != nil {
			r.problem(k.Line, k.Column, diagnostic.CodeDuplicate, "remove one of them", "key %q is given twice, first in line %d", k.Value, first.Line)
			continue
		}
		seen[k.Value] = k
		m.fields = append(m.fields, field{k.Value, k, val})
	}
	for _, val := range merges {
		m.merge(r, val, seen)
	}
}

// merge adds the missing fields from a merged map, or from a list of such maps.
func (m *Map) merge(r *Reader, val *Node, seen map[string]*Node) {
	at := val
	for val.Kind == Alias {
		val = val.Of
	}
	switch val.Kind {
	case Sequence:
		for _, e := range val.Content {
			m.merge(r, e, seen)
		}
	case Mapping:
		merged := Map{}
		merged.fill(r, val)
		for _, f := range merged.fields {
			if seen[f.key] == nil {
				seen[f.key] = f.at
				m.fields = append(m.fields, f)
			}
		}
	default:
		r.problem(at.Line, at.Column, diagnostic.CodeWrongType, `write "<<: *name"`, `"<<" must name a map or a list of maps`)
	}
}

// Value returns the map as a value, for reporting problems about it.
func (m Map) Value() Value { return m.at }

// Keys returns the map's keys in the order of the file, and marks all of them as known.
func (m Map) Keys() []string {
	out := make([]string, len(m.fields))
	for i, f := range m.fields {
		out[i] = f.key
	}
	m.Know(out...)
	return out
}

// Get returns the value of a key, missing if none exists, and marks the key as known.
func (m Map) Get(key string) Value {
	m.Know(key)
	if i, ok := m.index[key]; ok {
		f := m.fields[i]
		return Value{r: m.at.r, node: f.value, name: strconv.Quote(key), line: f.at.Line, col: f.at.Column}
	}
	line, col := m.at.place()
	return Value{r: m.at.r, name: strconv.Quote(key), line: line, col: col}
}

// Need returns the value of a required key. It reports a key that is missing or null.
func (m Map) Need(key string) Value {
	v := m.Get(key)
	if m.broken {
		return v
	}
	if !v.Present() {
		m.at.Report(diagnostic.LevelError, diagnostic.CodeMissing, "add "+key+": …", "%q is missing", key)
	} else if v.Null() {
		v.Report(diagnostic.LevelError, diagnostic.CodeMissing, "give it a value", "%q is empty", key)
		return Value{r: v.r, name: v.name, line: v.node.Line, col: v.node.Column}
	}
	return v
}

// Know marks keys as known without reading them.
func (m Map) Know(keys ...string) {
	for _, k := range keys {
		if !m.asked.set[k] {
			m.asked.set[k] = true
			m.asked.order = append(m.asked.order, k)
		}
	}
}

// Done warns of every key that is not known.
func (m Map) Done() { m.unknown(diagnostic.LevelWarning) }

// Only reports every key that is not known as an error. It is for maps where an unknown key
// changes the meaning of the others, such as a misspelt condition.
func (m Map) Only() { m.unknown(diagnostic.LevelError) }

// unknown reports every key that is not known, with the best hint available.
func (m Map) unknown(severity diagnostic.Level) {
	for _, f := range m.fields {
		if m.asked.set[f.key] {
			continue
		}
		hint := m.at.r.unknownHint()
		if near := Nearest(f.key, m.asked.order); near != "" {
			hint = "did you mean " + strconv.Quote(near) + "?"
		}
		if other := known(m.at.r.hints, f.key); other != "" {
			hint = other
		}
		if parent := commentedParent(m.at.r.lines(), f.at.Line); parent > 0 {
			hint = commentHint(m.at.r.lines(), parent)
		}
		m.at.r.add(diagnostic.Diagnostic{Severity: severity, Line: f.at.Line, Column: f.at.Column, Code: diagnostic.CodeUnknownKey,
			Text: fmt.Sprintf("unknown key %q", f.key), Hint: hint})
	}
}

// Unknown returns the keys that are not known yet, in the order of the file.
func (m Map) Unknown() []string {
	var out []string
	for _, f := range m.fields {
		if !m.asked.set[f.key] {
			out = append(out, f.key)
		}
	}
	return out
}

// Has reports whether the map has the key, and marks it as known.
func (m Map) Has(key string) bool { return m.Get(key).Present() }

// Map returns the map at the key.
func (m Map) Map(key string) Map { return m.Get(key).Map() }

// List returns the list at the key.
func (m Map) List(key string) []Value { return m.Get(key).List() }

// Text returns the text at the key.
func (m Map) Text(key string) string { return m.Get(key).Text() }

// Texts returns the list of texts, or the single text, at the key.
func (m Map) Texts(key string) []string { return m.Get(key).Texts() }

// Bool returns the truth value at the key.
func (m Map) Bool(key string) bool { return m.Get(key).Bool() }

// Int returns the whole number from low to high at the key.
func (m Map) Int(key string, low, high int) int { return m.Get(key).Int(low, high) }

// Duration returns the duration at the key.
func (m Map) Duration(key string) time.Duration { return m.Get(key).Duration() }

// Word returns the word at the key, which must be one of those allowed.
func (m Map) Word(key string, allowed ...string) string { return m.Get(key).Word(allowed...) }
