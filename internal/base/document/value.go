package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cardea.dev/internal/base/diagnostic"
)

// Value is a value of a document, or the place of a missing one. Its getters report a value
// of the wrong type and then return the zero value. They report nothing for a missing
// value.
type Value struct {
	r    *Reader
	node *Node
	// name is the value's name in messages: `"flags"`, "entry 2 of \"flags\"".
	name string
	// line and col are the place of the key, or of the parent of a missing value.
	line, col int
}

// Present reports whether the value exists. A null value exists.
func (v Value) Present() bool { return v.node != nil }

// Null reports whether the value exists and is null.
func (v Value) Null() bool {
	n := v.real()
	return n != nil && n.Kind == Scalar && n.Tag == "!!null"
}

// Name returns the value's name in messages.
func (v Value) Name() string { return v.name }

// Line returns the line of the value, or of its parent if it is missing.
func (v Value) Line() int { line, _ := v.place(); return line }

// Column returns the column of the value, or of its parent if it is missing.
func (v Value) Column() int { _, col := v.place(); return col }

// KeyLine returns the line of the value's key. Without a key, it returns Line.
func (v Value) KeyLine() int {
	if v.line > 0 {
		return v.line
	}
	return v.Line()
}

// KeyColumn returns the column of the value's key. Without a key, it returns Column.
func (v Value) KeyColumn() int {
	if v.line > 0 {
		return v.col
	}
	return v.Column()
}

func (v Value) place() (line, col int) {
	if v.node != nil {
		return v.node.Line, v.node.Column
	}
	return v.line, v.col
}

// Broken calls read, and returns the first error that it adds to the document, "" if none
// exists. Warnings are ignored.
func (v Value) Broken(read func()) string {
	before := v.r.Errors()
	if read(); v.r.Errors() == before {
		return ""
	}
	return v.r.broke(before)
}

// Problem reports an error about the value.
func (v Value) Problem(code diagnostic.Code, hint, format string, args ...any) {
	v.Report(diagnostic.LevelError, code, hint, format, args...)
}

// Warn reports a warning about the value. The file stays in force.
func (v Value) Warn(code diagnostic.Code, hint, format string, args ...any) {
	v.Report(diagnostic.LevelWarning, code, hint, format, args...)
}

// Report reports a finding of any severity about the value.
func (v Value) Report(severity diagnostic.Level, code diagnostic.Code, hint, format string, args ...any) {
	line, column := v.place()
	v.r.add(diagnostic.Diagnostic{Severity: severity, Line: line, Column: column, Code: code, Text: fmt.Sprintf(format, args...), Hint: hint})
}

// ReportKey reports an error about the value's key.
func (v Value) ReportKey(code diagnostic.Code, hint, format string, args ...any) {
	v.r.add(diagnostic.Diagnostic{Line: v.KeyLine(), Column: v.KeyColumn(), Code: code, Text: fmt.Sprintf(format, args...), Hint: hint})
}

// wrongType reports that the value has the wrong type.
func (v Value) wrongType(hint, format string, args ...any) {
	v.Report(diagnostic.LevelError, diagnostic.CodeWrongType, hint, format, args...)
}

// real returns the node with aliases followed, nil if the value is missing.
func (v Value) real() *Node {
	n := v.node
	for n != nil && n.Kind == Alias {
		n = n.Of
	}
	return n
}

// kind returns the value's type as messages name it.
func (v Value) kind() string {
	n := v.real()
	switch {
	case n == nil:
		return "nothing"
	case n.Kind == Mapping:
		return "a map"
	case n.Kind == Sequence:
		return "a list"
	}
	switch n.Tag {
	case "!!null":
		return "null"
	case "!!bool":
		return "a truth value"
	case "!!int", "!!float":
		return "a number"
	case "!!str", "!!timestamp":
		return "text"
	}
	return "a value of type " + n.Tag
}

// scalar returns the value's text as written. It returns false unless the value is a scalar
// of a plain type.
func (v Value) scalar() (string, bool) {
	n := v.real()
	if n == nil || n.Kind != Scalar {
		return "", false
	}
	switch n.Tag {
	case "!!str", "!!int", "!!float", "!!bool", "!!timestamp":
		return n.Value, true
	}
	return "", false
}

// Text returns the value as text. Numbers and truth values are returned as written, so an
// id may be 7 and a switch may be off.
func (v Value) Text() string {
	s, ok := v.scalar()
	if v.Present() && !ok {
		v.wrongType("put it in quotes", "%s must be text, not %s", v.name, v.kind())
	}
	return s
}

// Bool returns the value as a truth value. Only true and false are accepted.
func (v Value) Bool() bool {
	s, ok := v.scalar()
	if !v.Present() || ok && s == "false" {
		return false
	}
	if ok && s == "true" {
		return true
	}
	v.wrongType("use true or false", "%s must be true or false", v.name)
	return false
}

// Int returns the value as a whole number from low to high.
func (v Value) Int(low, high int) int {
	if !v.Present() {
		return 0
	}
	s, ok := v.scalar()
	n, err := strconv.Atoi(s)
	hint := "use " + strconv.Itoa(low) + " to " + strconv.Itoa(high)
	if low == high {
		hint = "write " + strconv.Itoa(low)
	}
	switch {
	case ok && (errors.Is(err, strconv.ErrRange) || err == nil && (n < low || n > high)):
		v.Problem(diagnostic.CodeBadValue, hint, "%s is out of range: %s", v.name, s)
		return 0
	case !ok:
		v.wrongType(hint, "%s must be a whole number, not %s", v.name, v.kind())
		return 0
	case err != nil:
		v.wrongType(hint, "%s must be a whole number, not %q", v.name, s)
		return 0
	}
	return n
}

// Duration returns the value as a duration that is not negative: "5s", "200ms", "1m30s".
func (v Value) Duration() time.Duration {
	if !v.Present() {
		return 0
	}
	s, ok := v.scalar()
	d, err := time.ParseDuration(s)
	if !ok || err != nil || d < 0 {
		v.wrongType(`write it as "5s", "200ms" or "1m30s"`, "%s must be a length of time", v.name)
		return 0
	}
	return d
}

// Word returns the value if it is one of the allowed words.
func (v Value) Word(allowed ...string) string {
	if !v.Present() {
		return ""
	}
	s, ok := v.scalar()
	if ok && slices.Contains(allowed, s) {
		return s
	}
	hint := "use " + orList(allowed)
	near := Nearest(s, allowed)
	if near == "" {
		near = Nearest(strings.ToLower(s), allowed)
	}
	if ok && near != "" {
		hint = "did you mean " + strconv.Quote(near) + "? " + hint
	}
	if !ok {
		v.wrongType(hint, "%s must be a word, not %s", v.name, v.kind())
	} else {
		v.Problem(diagnostic.CodeBadValue, hint, "unknown value %q for %s", s, v.name)
	}
	return ""
}

// Texts returns the value as a list of texts; a single text becomes a list of one.
func (v Value) Texts() []string {
	var out []string
	for _, e := range v.Items() {
		before := v.r.Errors()
		if s := e.Text(); v.r.Errors() == before {
			out = append(out, s)
		}
	}
	return out
}

// Items returns the entries of a list; any other value becomes a list of one.
func (v Value) Items() []Value {
	n := v.real()
	if n == nil {
		return nil
	}
	if n.Kind != Sequence {
		return []Value{v}
	}
	return v.entries(n)
}

// List returns the entries of a list; any other value is a problem.
func (v Value) List() []Value {
	n := v.real()
	if n == nil {
		return nil
	}
	if n.Kind != Sequence {
		v.wrongType(v.shapeHint(`write "- " before each entry`), "%s must be a list, not %s", v.name, v.kind())
		return nil
	}
	return v.entries(n)
}

func (v Value) entries(n *Node) []Value {
	out := make([]Value, len(n.Content))
	for i, c := range n.Content {
		out[i] = Value{r: v.r, node: c, name: "entry " + strconv.Itoa(i+1) + " of " + v.name}
	}
	return out
}

// IsList reports whether the value is a list.
func (v Value) IsList() bool { n := v.real(); return n != nil && n.Kind == Sequence }

// IsMap reports whether the value is a map.
func (v Value) IsMap() bool { n := v.real(); return n != nil && n.Kind == Mapping }

// Any returns the value as encoding/json decodes it: string, json.Number, bool, nil, []any,
// map[string]any. Duplicate keys are a problem.
func (v Value) Any() any {
	n := v.real()
	switch {
	case n == nil:
		return nil
	case n.Kind == Mapping:
		out := map[string]any{}
		m := v.Map()
		for _, k := range m.Keys() {
			out[k] = m.Get(k).Any()
		}
		return out
	case n.Kind == Sequence:
		out := make([]any, 0, len(n.Content))
		for _, e := range v.entries(n) {
			out = append(out, e.Any())
		}
		return out
	}
	return v.scalarAny(n)
}

// scalarAny returns a scalar as Any does. A number that JSON cannot write becomes a string.
func (v Value) scalarAny(n *Node) any {
	switch n.Tag {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int", "!!float":
		switch {
		case json.Valid([]byte(n.Value)):
			return json.Number(n.Value)
		case n.Number != "":
			return json.Number(n.Number)
		}
		return n.Value
	case "!!str", "!!timestamp":
		return n.Value
	}
	v.wrongType("use text, a number, true, false or null", "%s has the type %s", v.name, n.Tag)
	return nil
}

// orList joins words as in "a, b or c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
