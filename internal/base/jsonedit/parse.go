package jsonedit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxDepth is the maximum nesting of values. No settings file comes near it.
const maxDepth = 200

// Kind is the kind of a value.
type Kind uint8

// The kinds of values. Literal is a number, true, false or null.
const (
	Object Kind = iota
	Array
	String
	Literal
)

// String returns the kind in words, for messages.
func (k Kind) String() string {
	return [...]string{"an object", "a list", "a text", "a number, true, false or null"}[k]
}

// Node is a value and its place: Data[Start:End].
type Node struct {
	Kind       Kind
	Start, End int
	// Text is the decoded text of a String, or a Literal as written.
	Text string
	// Items are the members of an Object or the elements of an Array.
	Items []Item
}

// Item is a member or an element.
type Item struct {
	// Key is the member's name, "" for elements.
	Key string
	// Start is the offset of the key, or of the value for elements.
	Start int
	Value *Node
}

// Get returns the value of a key, nil if none exists. If the key occurs twice, it returns
// the last value, as most readers do.
func (n *Node) Get(key string) *Node {
	var out *Node
	for _, v := range n.All(key) {
		out = v
	}
	return out
}

// All returns the values of a key in order, nil if n is not an object.
func (n *Node) All(key string) []*Node {
	var out []*Node
	if n == nil || n.Kind != Object {
		return nil
	}
	for _, m := range n.Items {
		if m.Key == key {
			out = append(out, m.Value)
		}
	}
	return out
}

// Elements returns the values of a list, nil if n is not a list.
func (n *Node) Elements() []*Node {
	if n == nil || n.Kind != Array {
		return nil
	}
	var out []*Node
	for _, e := range n.Items {
		out = append(out, e.Value)
	}
	return out
}

// Words returns the texts of a list. It returns false if n is not a list of texts.
func (n *Node) Words() ([]string, bool) {
	if n == nil || n.Kind != Array {
		return nil, false
	}
	var out []string
	for _, e := range n.Elements() {
		if e.Kind != String {
			return nil, false
		}
		out = append(out, e.Text)
	}
	return out, true
}

// Str returns the text of a key, "" if it has no text.
func (n *Node) Str(key string) string {
	if v := n.Get(key); v != nil && v.Kind == String {
		return v.Text
	}
	return ""
}

// Lit returns the literal of a key as written, such as "10" or "true"; "" if it has no
// literal.
func (n *Node) Lit(key string) string {
	if v := n.Get(key); v != nil && v.Kind == Literal {
		return v.Text
	}
	return ""
}

// Document is a parsed file.
type Document struct {
	Data []byte
	Root *Node
	// Plain reports whether the file is standard JSON, without comments and trailing commas.
	Plain bool
}

// SyntaxError is a syntax error of a file. Line and Column start at 1; the column is in
// characters.
type SyntaxError struct {
	Line, Column int
	Text         string
}

// Error returns the place and the error: "3:5: a colon is missing here".
func (e *SyntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Text) }

// Parse parses a JSON document. A byte order mark, comments and trailing commas are
// allowed. The error is a *SyntaxError.
func Parse(data []byte) (*Document, error) {
	p := parser{data: data}
	if strings.HasPrefix(string(data[:min(3, len(data))]), "\ufeff") {
		p.pos = 3
	}
	root, err := p.document()
	if err != nil {
		return nil, err
	}
	return &Document{Data: data, Root: root, Plain: !p.extended}, nil
}

// ValueAt parses the value that begins at an offset, and ignores the text after it. Use it
// for a file that is broken as a whole.
func ValueAt(data []byte, at int) (*Node, error) {
	p := parser{data: data, pos: at}
	return p.value(0)
}

type parser struct {
	data []byte
	pos  int
	// nodes are preallocated nodes: a settings file has thousands.
	nodes []Node
	// extended is set if the text has comments or trailing commas.
	extended bool
}

// document parses the whole text: one value, with nothing after it but white space and
// comments.
func (p *parser) document() (*Node, error) {
	if err := p.trivia(); err != nil {
		return nil, err
	}
	if p.pos == len(p.data) {
		return nil, p.broken("the file is empty")
	}
	root, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if err := p.trivia(); err != nil {
		return nil, err
	}
	if p.pos < len(p.data) {
		return nil, p.broken("something stands behind the end of the document")
	}
	return root, nil
}

func (p *parser) broken(text string) error {
	line, column := Position(p.data, p.pos)
	return &SyntaxError{line, column, text}
}

// Position returns the line and column of an offset, both from 1.
func Position(data []byte, at int) (line, column int) {
	before := string(data[:min(at, len(data))])
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}

// trivia skips white space and comments.
func (p *parser) trivia() error {
	end, ok := skipTrivia(p.data, p.pos)
	p.extended = p.extended || bytes.IndexByte(p.data[p.pos:end], '/') >= 0
	p.pos = end
	if !ok {
		return p.broken("the comment has no end")
	}
	return nil
}

// skipTrivia returns the end of white space and comments. ok is false for a comment without
// an end; end is then its beginning.
func skipTrivia(data []byte, at int) (end int, ok bool) {
	for at < len(data) {
		switch {
		case isSpace(data[at]):
			at++
		case hasPrefix(data, at, "//"):
			for at < len(data) && data[at] != '\n' {
				at++
			}
		case hasPrefix(data, at, "/*"):
			i := strings.Index(string(data[at+2:]), "*/")
			if i < 0 {
				return at, false
			}
			at += i + 4
		default:
			return at, true
		}
	}
	return at, true
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func hasPrefix(data []byte, at int, s string) bool {
	return len(data)-at >= len(s) && string(data[at:at+len(s)]) == s
}

func (p *parser) peek() byte {
	if p.pos < len(p.data) {
		return p.data[p.pos]
	}
	return 0
}

// value parses the value at pos, at a nesting of depth.
func (p *parser) value(depth int) (*Node, error) {
	if depth > maxDepth {
		return nil, p.broken(fmt.Sprintf("values are nested deeper than %d", maxDepth))
	}
	switch p.peek() {
	case '{':
		return p.container(Object, '}', depth)
	case '[':
		return p.container(Array, ']', depth)
	case '"':
		return p.text()
	}
	return p.literal()
}

// node returns a new node that begins at pos.
func (p *parser) node(kind Kind) *Node {
	if len(p.nodes) == 0 {
		p.nodes = make([]Node, 64)
	}
	n := &p.nodes[0]
	p.nodes = p.nodes[1:]
	n.Kind, n.Start = kind, p.pos
	return n
}

// container parses an object or array up to closer.
func (p *parser) container(kind Kind, closer byte, depth int) (*Node, error) {
	n := p.node(kind)
	p.pos++
	for {
		if err := p.trivia(); err != nil {
			return nil, err
		}
		if p.peek() == closer {
			p.extended = p.extended || len(n.Items) > 0 // a trailing comma
			p.pos++
			n.End = p.pos
			return n, nil
		}
		item, err := p.item(kind, depth)
		if err != nil {
			return nil, err
		}
		n.Items = append(n.Items, item)
		if err := p.trivia(); err != nil {
			return nil, err
		}
		switch p.peek() {
		case ',':
			p.pos++
		case closer:
			p.pos++
			n.End = p.pos
			return n, nil
		default:
			return nil, p.broken(fmt.Sprintf("a comma or %q is missing here", closer))
		}
	}
}

// item parses an element, or a member with its key.
func (p *parser) item(kind Kind, depth int) (Item, error) {
	it := Item{Start: p.pos}
	if kind == Object {
		if p.peek() != '"' {
			return it, p.broken("a key in double quotes is missing here")
		}
		key, err := p.text()
		if err != nil {
			return it, err
		}
		it.Key = key.Text
		if err := p.trivia(); err != nil {
			return it, err
		}
		if p.peek() != ':' {
			return it, p.broken("a colon is missing here")
		}
		p.pos++
		if err := p.trivia(); err != nil {
			return it, err
		}
	}
	v, err := p.value(depth + 1)
	it.Value = v
	return it, err
}

// text parses a string.
func (p *parser) text() (*Node, error) {
	n := p.node(String)
	i := p.pos + 1
	plain := true
	for i < len(p.data) && p.data[i] != '"' && p.data[i] != '\n' {
		plain = plain && p.data[i] >= ' ' && p.data[i] < utf8.RuneSelf && p.data[i] != '\\'
		if p.data[i] == '\\' {
			i++
		}
		i++
	}
	if i >= len(p.data) || p.data[i] != '"' {
		return nil, p.broken("this text has no closing quote")
	}
	n.End = i + 1
	if plain { // the usual case
		n.Text, p.pos = string(p.data[n.Start+1:i]), n.End
		return n, nil
	}
	if err := json.Unmarshal(p.data[n.Start:n.End], &n.Text); err != nil {
		return nil, p.broken("this text has a character or an escape that JSON does not allow")
	}
	p.pos = n.End
	return n, nil
}

// literal parses a number, true, false or null.
func (p *parser) literal() (*Node, error) {
	n := p.node(Literal)
	i := p.pos
	for i < len(p.data) && !isSpace(p.data[i]) && !strings.ContainsRune(",:]}[{\"/", rune(p.data[i])) {
		i++
	}
	n.End, n.Text = i, string(p.data[p.pos:i])
	if !json.Valid([]byte(n.Text)) {
		return nil, p.broken("a value is missing here")
	}
	p.pos = i
	return n, nil
}
