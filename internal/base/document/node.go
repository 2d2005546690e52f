package document

import "sync/atomic"

// Kind is what a node is.
type Kind byte

// The kinds of nodes.
const (
	Scalar Kind = iota + 1
	Mapping
	Sequence
	// Alias is a node that stands for another one.
	Alias
)

// Node is a value as it stands in a text, with its place there.
type Node struct {
	Kind Kind
	// Tag is the type of a scalar in YAML's words: "!!str".
	Tag string
	// Value is a scalar's text, without quotes. Number is the same number as JSON
	// writes it, where the text is no number of JSON.
	Value, Number string
	Line, Column  int
	// Of is what an alias stands for.
	Of *Node
	// Content are the entries of a list, and the keys and values of a map in turn.
	Content []*Node
}

// Parser reads a text: its first document, nil where there is none, and the second one,
// where there is one, which is a mistake.
type Parser func(data []byte) (first, second *Node, err error)

// parse is the parser of this program, nil where it has none.
var parse Parser

// unread is set where a text was not read, since there is no parser.
var unread atomic.Bool

// Register gives the program a parser. It is for package yamltext, which every program
// imports that reads YAML; the hook does not, since the library is large
// (docs/decisions). It is to be called before main, and gives true.
func Register(p Parser) bool {
	parse = p
	return true
}

// Unread reports whether a text was not read, since this program has no parser: whatever
// followed from that is not what the text says.
func Unread() bool { return unread.Load() }

// dropNulls removes what is null below a node, and reports whether the node itself is.
func (n *Node) dropNulls() bool {
	switch {
	case n == nil || n.Kind == Alias:
		return n != nil && n.Of.Kind == Scalar && n.Of.Tag == "!!null"
	case n.Kind == Scalar:
		return n.Tag == "!!null"
	}
	kept, step := n.Content[:0], 1
	if n.Kind == Mapping {
		step = 2
	}
	for ; len(n.Content) >= step; n.Content = n.Content[step:] {
		if !n.Content[step-1].dropNulls() {
			kept = append(kept, n.Content[:step]...)
		}
	}
	n.Content = kept
	return false
}
