package yamledit

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// errChange reports a value that can only be changed by rewriting the file.
var errChange = errors.New("the value is written in a way that it cannot be changed by itself; change it by hand")

// Put sets the value at a path of keys, and replaces the value that is there. value is YAML
// in one line. Comments stay, except inside a replaced value of several lines.
func Put(text string, path []string, value string) (string, error) {
	out, result, err := Set(text, path, value)
	if err != nil || result != Cached {
		return out, err
	}
	root, err := parse(text)
	if err != nil {
		return text, err
	}
	at, found := find(root, path)
	if !found {
		return text, fmt.Errorf("%s is no map there: %w", strings.Join(path[:len(path)-1], "."), errChange)
	}
	begin, end := at.span(text)
	if end < 0 {
		return text, errChange
	}
	out = text[:begin] + at.head(text, path[len(path)-1], value) + text[end:]
	now, err := parse(out)
	if err != nil || !(entry{value: value}).isAt(now, path) || !reflect.DeepEqual(but(root, path), but(now, path)) {
		return text, errChange
	}
	return out, nil
}

// Remove removes the key at a path with its value, and the maps above it that become empty.
// It returns false if there is no such key.
func Remove(text string, path []string) (string, bool, error) {
	root, err := parse(text)
	if err != nil {
		return text, false, err
	}
	at, found := find(root, path)
	if !found {
		return text, false, nil
	}
	for up := path[:len(path)-1]; len(at.in.Content) == 2 && len(up) > 0; up = up[:len(up)-1] {
		at, _ = find(root, up)
	}
	begin, end := at.span(text)
	if end < 0 {
		return text, false, errChange
	}
	if at.flow() {
		begin, end = withComma(text, begin, end)
	}
	out := text[:begin] + text[end:]
	now, err := parse(out)
	if err != nil || !reflect.DeepEqual(but(root, path), but(now, path)) {
		return text, false, errChange
	}
	if _, still := find(now, path); still {
		return text, false, errChange
	}
	return out, true, nil
}

// keyValue is a key with its value and the map that contains it.
type keyValue struct{ in, key, value *yaml.Node }

// find returns the place of a path.
func find(root *yaml.Node, path []string) (at keyValue, found bool) {
	in := root
	for i, name := range path {
		if in == nil || in.Kind != yaml.MappingNode {
			return keyValue{}, false
		}
		key, value := child(in, name)
		if key == nil {
			return keyValue{}, false
		}
		if i == len(path)-1 {
			return keyValue{in, key, value}, true
		}
		in = value
	}
	return keyValue{}, false
}

func (p keyValue) flow() bool { return p.in.Style&yaml.FlowStyle != 0 }

// span returns the bytes of the entry. In brackets, they go from its key to the end of its
// value; otherwise they are its lines. end is -1 if it is unknown.
func (p keyValue) span(text string) (begin, end int) {
	if p.flow() {
		begin = offset(text, p.key.Line, p.key.Column)
		return begin, flowEnd(text, begin)
	}
	lines := strings.SplitAfter(text, "\n")
	last := p.key.Line // the last line of the entry so far
	for n := p.key.Line; n < len(lines); n++ {
		line := strings.TrimRight(lines[n], "\r\n")
		words := strings.TrimLeft(line, " ")
		switch {
		case words == "" || strings.HasPrefix(words, "#") && len(line)-len(words) < p.key.Column:
			continue // part of the entry only if more of it follows
		case len(line)-len(words) < p.key.Column && !(p.value.Kind == yaml.SequenceNode && len(line)-len(words) == p.key.Column-1 && strings.HasPrefix(words, "-")):
			return bytesOf(lines, p.key.Line-1, last)
		}
		last = n + 1
	}
	return bytesOf(lines, p.key.Line-1, last)
}

// bytesOf returns the offsets of the lines from+1 to to.
func bytesOf(lines []string, from, to int) (begin, end int) {
	for _, l := range lines[:from] {
		begin += len(l)
	}
	end = begin
	for _, l := range lines[from:to] {
		end += len(l)
	}
	return begin, end
}

// head returns the entry with another value. It keeps the comment at the end of the line.
func (p keyValue) head(text, name, value string) string {
	if p.flow() {
		return quoteKey(name) + ": " + value
	}
	line, _, _ := strings.Cut(after(text, p.key.Line-1), "\n")
	line = strings.TrimSuffix(line, "\r")
	comment := ""
	for _, n := range []*yaml.Node{p.value, p.key} {
		for _, c := range []string{n.LineComment, n.HeadComment} {
			if at := strings.LastIndex(line, c); c != "" && at > 0 && comment == "" {
				blanks := len(line[:at]) - len(strings.TrimRight(line[:at], " \t"))
				comment = line[at-blanks:]
			}
		}
	}
	return strings.Repeat(" ", p.key.Column-1) + quoteKey(name) + ": " + value + comment + "\n"
}

// flowEnd returns the end of an entry in brackets: its last byte before the next comma or
// closing bracket, without blanks. It returns -1 if there is no end.
func flowEnd(text string, at int) int {
	depth, end := 0, at
	for i := at; i < len(text); i++ {
		switch c := text[i]; c {
		case '\'', '"':
			i = quoteEnd(text, i)
		case '#':
			if i > 0 && strings.IndexByte(" \t\n", text[i-1]) >= 0 {
				return -1 // a comment inside; its owner is unknown
			}
		case '{', '[':
			depth++
		case '}', ']', ',':
			if depth == 0 {
				return end
			}
			if c != ',' {
				depth--
			}
		}
		if i < len(text) && !strings.ContainsRune(" \t\r\n", rune(text[i])) {
			end = i + 1
		}
	}
	return -1
}

// withComma extends the span of an entry in brackets by a comma and its blanks.
func withComma(text string, begin, end int) (int, int) {
	rest := strings.TrimLeft(text[end:], " \t")
	if strings.HasPrefix(rest, ",") {
		rest = strings.TrimLeft(rest[1:], " \t")
		return begin, len(text) - len(rest)
	}
	before := strings.TrimRight(text[:begin], " \t\r\n")
	if strings.HasSuffix(before, ",") {
		return len(before) - 1, end
	}
	return begin, end
}

// but returns the content of a file without the value at a path, and without the maps above
// it that become empty.
func but(root *yaml.Node, path []string) any {
	whole := map[string]any{}
	if root != nil && root.Decode(&whole) != nil {
		return errShape
	}
	drop(whole, path)
	return whole
}

// drop removes a path from a map.
func drop(m map[string]any, path []string) {
	if len(path) > 1 {
		inner, isMap := m[path[0]].(map[string]any)
		if isMap {
			drop(inner, path[1:])
		}
		if len(inner) > 0 || m[path[0]] != nil && !isMap {
			return
		}
	}
	delete(m, path[0])
}
