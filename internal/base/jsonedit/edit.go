package jsonedit

import (
	"slices"
	"strings"
)

// Insertion is text inserted at an offset of the text before it.
type Insertion struct {
	At   int    `json:"at"`
	Text string `json:"text"`
}

// Apply returns data with the insertions made in order.
func Apply(data []byte, ins []Insertion) []byte {
	for _, i := range ins {
		data = slices.Concat(data[:i.At], []byte(i.Text), data[i.At:])
	}
	return data
}

// Revert undoes insertions, the last one first. It returns false if one of them is not at
// its offset.
func Revert(data []byte, ins []Insertion) ([]byte, bool) {
	for _, i := range slices.Backward(ins) {
		if i.At < 0 || i.At > len(data) || !hasPrefix(data, i.At, i.Text) {
			return nil, false
		}
		data = slices.Concat(data[:i.At], data[i.At+len(i.Text):])
	}
	return data, true
}

// Append returns the insertions that add an item to the end of container c. key is for
// objects; v is a value as in [Field].
func (d *Document) Append(c *Node, key string, v any) []Insertion {
	st := styleOf(d)
	gap := d.gapBehind(c, len(c.Items)-1)
	// A line comment needs the rest of its line.
	many := d.spread(c) || gap.lineComment
	text := ""
	if c.Kind == Object {
		text = quote(key) + st.colon
	}
	var out []Insertion
	at := gap.solid
	if len(c.Items) > 0 && gap.comma < 0 {
		out = append(out, Insertion{gap.from, ","})
		at++
	}
	if !many {
		if len(c.Items) > 0 {
			text = strings.TrimPrefix(st.comma, ",") + text
		}
		return append(out, Insertion{at, text + st.line(v)})
	}
	outer, _ := lineIndent(d.Data, c.Start)
	indent := outer + st.unit
	if n := len(c.Items); n > 0 {
		if own, first := lineIndent(d.Data, c.Items[n-1].Start); first {
			indent = own
		}
	}
	text = st.eol + indent + text + st.render(v, indent)
	if gap.comma >= 0 {
		text += ","
	}
	if len(c.Items) == 0 && gap.solid == gap.from && !strings.Contains(string(d.Data[gap.from:gap.to]), "\n") {
		text += st.eol + outer
	}
	return append(out, Insertion{at, text})
}

// spread reports whether the items of c are on lines of their own. An empty container
// follows the document.
func (d *Document) spread(c *Node) bool {
	if len(c.Items) > 0 {
		return strings.Contains(string(d.Data[c.Start:c.Items[0].Start]), "\n")
	}
	return c == d.Root || strings.Contains(string(d.Data[d.Root.Start:d.Root.End]), "\n")
}

// gap is the text between an item and the next one, or the end of the container.
type gap struct {
	from, to int
	// comma is the offset of the comma, -1 if none exists.
	comma int
	// solid is the end of the last thing in the gap that is not white space:
	// a comment, the comma, or the item before.
	solid int
	// lineComment is set if solid is the end of a line comment.
	lineComment bool
}

// gapBehind returns the gap after item i of a container; -1 means the gap before the first
// item.
func (d *Document) gapBehind(c *Node, i int) gap {
	g := gap{from: c.Start + 1, to: c.End - 1, comma: -1}
	if i >= 0 {
		g.from = c.Items[i].Value.End
	}
	if i+1 < len(c.Items) {
		g.to = c.Items[i+1].Start
	}
	g.solid = g.from
	for at := g.from; at < g.to; {
		switch {
		case isSpace(d.Data[at]):
			at++
			continue
		case d.Data[at] == ',':
			g.comma, g.lineComment = at, false
			at++
		default:
			g.lineComment = d.Data[at+1] == '/'
			at = commentEnd(d.Data, at)
		}
		g.solid = at
	}
	return g
}

// commentEnd returns the end of the comment at an offset, without the line break of a line
// comment.
func commentEnd(data []byte, at int) int {
	rest := string(data[at:])
	if strings.HasPrefix(rest, "/*") {
		return at + 2 + strings.Index(rest[2:], "*/") + 2
	}
	if i := strings.IndexByte(rest, '\n'); i >= 0 {
		return at + len(strings.TrimRight(rest[:i], "\r"))
	}
	return len(data)
}

type cut struct{ from, to int }

// Remove returns the text without item i of a container. Comments next to it stay.
func (d *Document) Remove(c *Node, i int) []byte {
	before, behind := d.gapBehind(c, i-1), d.gapBehind(c, i)
	end := c.Items[i].Value.End
	from := before.solid
	if before.lineComment && !startsLine(d.Data[end:]) {
		from = c.Items[i].Start
	}
	var cuts []cut
	switch {
	case behind.comma >= 0:
		cuts = []cut{{from, end}, {behind.comma, behind.comma + 1}}
	case before.comma >= 0:
		cuts = []cut{{before.comma, before.comma + 1}, {from, end}}
	default:
		cuts = []cut{{from, end}}
	}
	if len(c.Items) == 1 && before.solid == before.from && behind.solid == max(behind.from, behind.comma+1) {
		cuts = []cut{{before.from, behind.to}}
	}
	return without(d.Data, cuts)
}

// startsLine reports whether only blanks, and at most one comma, precede the next line
// break.
func startsLine(rest []byte) bool {
	i := strings.IndexByte(string(rest), '\n')
	return i >= 0 && strings.TrimSpace(strings.TrimPrefix(strings.TrimLeft(string(rest[:i]), " \t"), ",")) == ""
}

// without returns data without the cuts, which are in order.
func without(data []byte, cuts []cut) []byte {
	var out []byte
	at := 0
	for _, c := range cuts {
		if c.from > at {
			out = append(out, data[at:c.from]...)
		}
		at = max(at, c.to)
	}
	return append(out, data[at:]...)
}
