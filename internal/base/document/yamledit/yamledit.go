// Package yamledit adds, changes and removes entries of YAML files that users write. It
// keeps everything else as it is: comments, order and spelling.
package yamledit

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Result is the outcome of an edit.
type Result int

// The results. Kept means that the entry already has another value.
const (
	Added Result = iota
	Same
	Cached
)

// errShape reports a file that can only be changed by rewriting it.
var errShape = errors.New("the file is written in a way that nothing can be added to it; add the entry by hand")

// Set adds a value at a path of keys. value is YAML in one line. It never changes a value
// that is there.
func Set(text string, path []string, value string) (string, Result, error) {
	return edit(text, path, entry{value: value})
}

// Append adds items, each YAML in one line, to the list at a path. It skips items that the
// list already has.
func Append(text string, path, items []string) (string, Result, error) {
	return edit(text, path, entry{items: items, list: true})
}

// entry is the value to add, or the items to add to a list.
type entry struct {
	value string
	items []string
	list  bool
}

// edit adds e at a path. It checks the result, and fails if anything else changed.
func edit(text string, path []string, e entry) (string, Result, error) {
	root, err := parse(text)
	if err != nil {
		return text, Cached, err
	}
	out, result, err := e.into(text, root, path)
	if err != nil || result != Added {
		return text, result, err
	}
	// For any file, the entry must be there and all else must be unchanged.
	if now, err := parse(out); err != nil || !e.isAt(now, path) || !reflect.DeepEqual(but(root, path), but(now, path)) {
		return text, Cached, errShape
	}
	return out, Added, nil
}

// parse returns the root of a file, nil if it has no content.
func parse(text string) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return nil, fmt.Errorf("the file is broken: %w", err)
	}
	if len(doc.Content) == 0 || isEmpty(doc.Content[0]) {
		return nil, nil
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return nil, errShape
	}
	return doc.Content[0], nil
}

func isEmpty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null" && n.Value == ""
}

// into adds the entry to text, whose root node is root.
func (e entry) into(text string, root *yaml.Node, path []string) (string, Result, error) {
	if root == nil {
		return closed(text) + e.block(path, 0), Added, nil
	}
	at, key := root, (*yaml.Node)(nil)
	for i, name := range path {
		k, v := child(at, name)
		if k == nil {
			out, err := e.insert(text, at, key, path[i:])
			return out, Added, err
		}
		last := i == len(path)-1
		switch {
		case isEmpty(v):
			return insertLines(text, k.Line, e.rest(path[i+1:], k.Column+1)), Added, nil
		case last && e.list && v.Kind == yaml.SequenceNode:
			return e.append(text, k, v)
		case last && decodes(v, e.single()):
			return text, Same, nil
		case last || v.Kind != yaml.MappingNode:
			return text, Cached, nil
		}
		at, key = v, k
	}
	return text, Cached, errShape
}

// insert adds the entry below the keys of path to map m, which has none of them. key is the
// map's own key, nil for the root.
func (e entry) insert(text string, m, key *yaml.Node, path []string) (string, error) {
	switch {
	case m.Style&yaml.FlowStyle != 0:
		return insertFlow(text, m, '{', quoteKey(path[0])+": "+e.flow(path[1:]))
	case key == nil:
		return closed(text) + e.block(path, m.Column-1), nil
	}
	return insertLines(text, key.Line, e.block(path, m.Column-1)), nil
}

// append adds the missing items to an existing list.
func (e entry) append(text string, key, list *yaml.Node) (string, Result, error) {
	fresh := e
	fresh.items = slices.DeleteFunc(slices.Clone(e.items), func(item string) bool {
		return slices.ContainsFunc(list.Content, func(n *yaml.Node) bool { return decodes(n, item) })
	})
	if len(fresh.items) == 0 {
		return text, Same, nil
	}
	if list.Style&yaml.FlowStyle != 0 {
		out, err := insertFlow(text, list, '[', strings.Join(fresh.items, ", "))
		return out, Added, err
	}
	return insertLines(text, key.Line, fresh.rest(nil, list.Column-1)), Added, nil
}

// block returns the entry below the keys of path as indented lines.
func (e entry) block(path []string, indent int) string {
	head := strings.Repeat(" ", indent) + quoteKey(path[0]) + ":"
	if len(path) == 1 && !e.list {
		return head + " " + e.value + "\n"
	}
	return head + "\n" + e.rest(path[1:], indent+2)
}

// rest returns the lines below a key: the remaining path, the value or the items.
func (e entry) rest(path []string, indent int) string {
	switch {
	case len(path) > 0:
		return e.block(path, indent)
	case !e.list:
		return strings.Repeat(" ", indent) + e.value + "\n"
	}
	var b strings.Builder
	for _, item := range e.items {
		b.WriteString(strings.Repeat(" ", indent) + "- " + item + "\n")
	}
	return b.String()
}

// flow returns the entry below the keys of path in one line.
func (e entry) flow(path []string) string {
	if len(path) == 0 {
		return e.single()
	}
	return "{" + quoteKey(path[0]) + ": " + e.flow(path[1:]) + "}"
}

// single returns the value, or the list of items, in one line.
func (e entry) single() string {
	if e.list {
		return "[" + strings.Join(e.items, ", ") + "]"
	}
	return e.value
}

// isAt reports whether the entry is at the path.
func (e entry) isAt(root *yaml.Node, path []string) bool {
	at := root
	for _, name := range path {
		if at == nil || at.Kind != yaml.MappingNode {
			return false
		}
		if _, at = child(at, name); at == nil {
			return false
		}
	}
	if !e.list {
		return decodes(at, e.value)
	}
	return at.Kind == yaml.SequenceNode && !slices.ContainsFunc(e.items, func(item string) bool {
		return !slices.ContainsFunc(at.Content, func(n *yaml.Node) bool { return decodes(n, item) })
	})
}

// child returns a key of a map with its value, nil if none exists.
func child(m *yaml.Node, name string) (key, value *yaml.Node) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == name {
			return m.Content[i], m.Content[i+1]
		}
	}
	return nil, nil
}

// decodes reports whether n has the value that the YAML text value describes.
func decodes(n *yaml.Node, value string) bool {
	var a, b any
	return n.Decode(&a) == nil && yaml.Unmarshal([]byte(value), &b) == nil && reflect.DeepEqual(a, b)
}

// closed returns text with a line break at its end, unless it is empty.
func closed(text string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// insertLines adds lines after line number after. Line numbers start at 1.
func insertLines(text string, after int, lines string) string {
	at := 0
	for range after {
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			return closed(text) + lines
		}
		at += next + 1
	}
	return text[:at] + lines + text[at:]
}

// insertFlow adds an entry to a map or list in brackets.
func insertFlow(text string, n *yaml.Node, open byte, add string) (string, error) {
	at := offset(text, n.Line, n.Column)
	begin := strings.IndexByte(text[at:], open)
	if begin < 0 {
		return text, errShape
	}
	end, last := closing(text, at+begin)
	if end < 0 {
		return text, errShape
	}
	switch last {
	case open, ',':
	default:
		add = ", " + add
	}
	if last == ',' && text[end-1] != ' ' {
		add = " " + add
	}
	return text[:end] + add + text[end:], nil
}

// offset returns the offset of a line and column, which both start at 1.
func offset(text string, line, column int) int {
	at := len(text) - len(after(text, line-1))
	for i := range text[at:] {
		if column--; column == 0 {
			return at + i
		}
	}
	return len(text)
}

// after returns the text after the first lines.
func after(text string, lines int) string {
	for range lines {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

// quoteEnd returns the offset at which the quote at at is closed. For a quote inside a
// plain word, as in don't, it returns at.
func quoteEnd(text string, at int) int {
	if at > 0 && strings.IndexByte(",[{: \n\t", text[at-1]) < 0 {
		return at
	}
	i := at + 1
	for ; i < len(text) && text[i] != text[at]; i++ {
		if text[at] == '"' && text[i] == '\\' {
			i++
		}
	}
	return i
}

// closing returns the offset of the bracket that closes the one at at, -1 if it is not
// closed. The byte last is the last one before it that is neither a blank nor in a comment.
func closing(text string, at int) (end int, last byte) {
	depth := 0
	for i := at; i < len(text); i++ {
		switch text[i] {
		case '\'', '"':
			i = quoteEnd(text, i)
		case '#':
			if text[i-1] == ' ' || text[i-1] == '\t' || text[i-1] == '\n' {
				for i+1 < len(text) && text[i+1] != '\n' {
					i++
				}
				continue
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i, last
			}
		}
		if i < len(text) && !strings.ContainsRune(" \t\r\n", rune(text[i])) {
			last = text[i]
		}
	}
	return -1, 0
}

// quoteKey returns a key as YAML, with quotes if needed.
func quoteKey(key string) string {
	plain := key != "" && !strings.ContainsFunc(key, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
	var v any
	if plain && key[0] != '-' && yaml.Unmarshal([]byte(key), &v) == nil {
		if s, ok := v.(string); ok && s == key {
			return key
		}
	}
	return "'" + strings.ReplaceAll(key, "'", "''") + "'"
}
