package document

import "sync/atomic"

// Kind is the kind of a node.
type Kind byte

// The kinds of nodes.
const (
	Scalar Kind = iota + 1
	Mapping
	Sequence
	// Alias is a reference to another node.
	Alias
)

// Node is a value of a text, with its place.
type Node struct {
	Kind Kind
	// Tag is the type of a scalar as YAML names it: "!!str".
	Tag string
	// Value is a scalar's text, without quotes. Number is the same number as JSON writes it,
	// for a text that is not a number in JSON.
	Value, Number string
	Line, Column  int
	// Of is the target of an alias.
	Of *Node
	// Content holds the entries of a list, or the keys and values of a map in turn.
	Content []*Node
}

// Parser parses a text. It returns its first document, nil if none exists, and the second
// one, which is a mistake.
type Parser func(data []byte) (first, second *Node, err error)

// parse is the registered parser, nil if the program has none.
var parse Parser

// unread is set if a text was not read because there is no parser.
var unread atomic.Bool

// Register sets the parser of this program. Only package yamltext calls it, before main.
// The hook does not import yamltext since the library is large (docs/decisions). Register
// always returns true.
func Register(p Parser) bool {
	parse = p
	return true
}

// Unread reports whether a text was not read because this program has no parser. Results
// that depend on the text are then wrong.
func Unread() bool { return unread.Load() }

// dropNulls removes null values below a node, and reports whether the node itself is null.
func (n *Node) dropNulls() bool {
	switch {
	case n == nil || n.Kind == Alias:
		return n != nil && n.Of.Kind == Scalar && n.Of.Tag == "!!null"
	case n.Kind == Scalar:
		return n.Tag == "!!null"
	}
	cached, step := n.Content[:0], 1
	if n.Kind == Mapping {
		step = 2
	}
	for ; len(n.Content) >= step; n.Content = n.Content[step:] {
		if !n.Content[step-1].dropNulls() {
			cached = append(cached, n.Content[:step]...)
		}
	}
	n.Content = cached
	return false
}
