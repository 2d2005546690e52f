// Package yamltext reads YAML for package document, and links the YAML library. A program
// that imports it can read YAML. The hook program does not import it, and reads compiled
// forms.
package yamltext

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"cardea.dev/internal/base/document"
	"go.yaml.in/yaml/v3"
)

var _ = document.Register(parse)

// parse returns the first document of a text, nil if none exists. second is the place of a
// second document.
func parse(data []byte) (first, second *document.Node, err error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	switch err := decode(dec, &doc); {
	case errors.Is(err, io.EOF):
		return nil, nil, nil // empty, or comments only
	case err != nil:
		return nil, nil, err
	}
	switch err := decode(dec, &more); {
	case err == nil:
		return nil, &document.Node{Line: more.Line, Column: more.Column}, nil
	case !errors.Is(err, io.EOF):
		return nil, nil, err
	}
	if doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 {
		return Node(doc.Content[0]), nil, nil
	}
	return nil, nil, nil
}

// decode reads one document. The library panics for some malformed input; a file of a
// project must not be able to end the process.
func decode(dec *yaml.Decoder, n *yaml.Node) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: cannot be parsed: %v", p)
		}
	}()
	return dec.Decode(n)
}

// Node translates a node of the library.
func Node(n *yaml.Node) *document.Node { return translation{}.node(n) }

// translation maps translated nodes, so that an alias and its target stay the same node.
type translation map[*yaml.Node]*document.Node

// node translates n and the nodes below it.
func (t translation) node(n *yaml.Node) *document.Node {
	if done := t[n]; done != nil {
		return done
	}
	out := &document.Node{Line: n.Line, Column: n.Column}
	t[n] = out
	switch n.Kind {
	case yaml.AliasNode:
		out.Kind, out.Of = document.Alias, t.node(n.Alias)
		return out
	case yaml.MappingNode:
		out.Kind = document.Mapping
	case yaml.SequenceNode:
		out.Kind = document.Sequence
	default:
		out.Kind, out.Tag, out.Value = document.Scalar, n.ShortTag(), n.Value
		out.Number = number(n, out.Tag)
	}
	for _, c := range n.Content {
		out.Content = append(out.Content, t.node(c))
	}
	return out
}

// number returns a YAML number as JSON writes it, "" if n is not a finite number.
func number(n *yaml.Node, tag string) string {
	if tag != "!!int" && tag != "!!float" {
		return ""
	}
	var f float64
	if err := n.Decode(&f); err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return ""
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
