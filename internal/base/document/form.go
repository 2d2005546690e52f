package document

import (
	"encoding/binary"
	"errors"
)

// FormVersion identifies the format of compiled forms. Change it when the format changes.
const FormVersion = "document 1"

// Form returns the document in a form that can be read without a YAML parser, "" if there
// are problems so far. The form lists the nodes in order with their places; an alias holds
// the number of its target. The form is not authenticated: keep it signed.
func (r *Reader) Form() string {
	if len(r.problems) > 0 {
		return ""
	}
	w := writer{numbers: map[*Node]int{}}
	if r.top != nil {
		w.node(r.top)
	}
	return FormVersion + "\n" + string(w.out)
}

// writer writes a form.
type writer struct {
	out     []byte
	numbers map[*Node]int
}

func (w *writer) number(n int) { w.out = binary.AppendUvarint(w.out, uint64(n)) }

func (w *writer) text(s string) {
	w.number(len(s))
	w.out = append(w.out, s...)
}

// node appends n and the nodes below it.
func (w *writer) node(n *Node) {
	w.numbers[n] = len(w.numbers)
	w.out = append(w.out, byte(n.Kind))
	w.number(n.Line)
	w.number(n.Column)
	switch n.Kind {
	case Scalar:
		w.text(n.Tag)
		w.text(n.Value)
		w.text(n.Number)
	case Alias:
		w.number(w.numbers[n.Of])
	default:
		w.number(len(n.Content))
		for _, c := range n.Content {
			w.node(c)
		}
	}
}

var errForm = errors.New("this is no compiled form of a document")

// ReadForm returns a Reader for a form made by [Reader.Form]. data is the text of the file,
// which only hints use. It fails if the form is malformed, exceeds the limits or has
// another version.
func ReadForm(file string, data []byte, form string) (*Reader, error) {
	if len(form) <= len(FormVersion) || form[:len(FormVersion)+1] != FormVersion+"\n" {
		return nil, errForm
	}
	r := &Reader{file: file, data: data}
	s := scanner{in: form[len(FormVersion)+1:]}
	if s.in != "" {
		top := s.node(1)
		if s.bad || s.in != "" || !r.bounded(top) {
			return nil, errForm
		}
		r.top = top
	}
	return r, nil
}

// scanner reads a form.
type scanner struct {
	in    string
	nodes []*Node
	bad   bool
}

// number reads a number of at most 31 bits. On malformed input it sets bad and returns 0.
func (s *scanner) number() int {
	n, shift := uint64(0), 0
	for i := range len(s.in) {
		b := s.in[i]
		n |= uint64(b&0x7f) << shift
		if shift += 7; b < 0x80 {
			s.in = s.in[i+1:]
			if n > 1<<31-1 {
				break
			}
			return int(n)
		}
		if shift > 28 {
			break
		}
	}
	s.bad, s.in = true, ""
	return 0
}

func (s *scanner) text() string {
	n := s.number()
	if n > len(s.in) {
		s.bad, s.in = true, ""
		return ""
	}
	text := s.in[:n]
	s.in = s.in[n:]
	return text
}

// node reads a node and those below it. On malformed input it sets bad.
func (s *scanner) node(depth int) *Node {
	n := &Node{}
	s.nodes = append(s.nodes, n)
	if s.in == "" || depth > MaxDepth {
		s.bad = true
		return n
	}
	n.Kind = Kind(s.in[0])
	s.in = s.in[1:]
	n.Line, n.Column = s.number(), s.number()
	switch n.Kind {
	case Scalar:
		n.Tag, n.Value, n.Number = s.text(), s.text(), s.text()
	case Alias:
		of := s.number()
		if of >= len(s.nodes)-1 {
			s.bad = true // an alias follows its target
			return n
		}
		n.Of = s.nodes[of]
	case Mapping, Sequence:
		count := s.number()
		for range count {
			if s.bad || s.in == "" {
				s.bad = true
				break
			}
			n.Content = append(n.Content, s.node(depth+1))
		}
	default:
		s.bad = true
	}
	return n
}
