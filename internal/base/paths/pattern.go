package paths

import "strings"

// Pattern is a pattern of paths, segment by segment, with the meaning that
// gitignore gives it: "*", "?" and "[…]" stay within a segment, a segment "**"
// stands for any number of segments, none too, and at the end for at least one.
// Where a pattern begins, and whether it names what lies below a folder that it
// names, is the reader's business: rules and permission lists differ there.
type Pattern []Segment

// Segment is one segment of a pattern. Folders that a pattern is relative to are
// literal, whatever their names look like.
type Segment struct {
	Text    string
	Literal bool
}

// AnyDepth is the segment "**".
var AnyDepth = Segment{Text: "**"}

// Literal is a folder as a pattern.
func Literal(folder string) Pattern {
	out := Pattern(nil).Join(folder)
	for i := range out {
		out[i].Literal = true
	}
	return out
}

// Join appends a pattern that is relative to a folder. "." and ".." are
// removed.
func (p Pattern) Join(rel string) Pattern {
	out := p[:len(p):len(p)]
	for s := range strings.SplitSeq(rel, "/") {
		switch s {
		case "", ".":
		case "..":
			if len(out) > 0 {
				out = out[: len(out)-1 : len(out)-1]
			}
		default:
			out = append(out, Segment{Text: s, Literal: !IsPattern(s)})
		}
	}
	return out
}

// Root are the leading segments without wildcards.
func (p Pattern) Root() Pattern {
	for i, s := range p {
		if !s.Literal {
			return p[:i]
		}
	}
	return p
}

// LastLiteral is the last segment without wildcards, "" for a pattern of wildcards alone.
func (p Pattern) LastLiteral() (text string) {
	for _, s := range p {
		if s.Literal {
			text = s.Text
		}
	}
	return text
}

// EndsAnyDepth reports whether a pattern names all that lies below a folder.
func (p Pattern) EndsAnyDepth() bool { return len(p) > 0 && p[len(p)-1] == AnyDepth }

// Segments are the segments of a path.
func Segments(path string) []string {
	path = strings.Trim(path, "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}

// Match reports whether the segments of a path match the pattern.
func (p Pattern) Match(path []string) bool {
	if len(path) < len(p) && len(path) < p.least() || len(path) > len(p) && p.least() == len(p) {
		return false
	}
	// The last segment tells most paths from most patterns.
	if n := len(p); n > 0 && p[n-1] != AnyDepth && (len(path) == 0 || !p[n-1].match(path[len(path)-1])) {
		return false
	}
	return matched(p, path, func(s Segment) bool { return s == AnyDepth }, Segment.match) == len(p)
}

// matched is how many elements of a pattern, of which stars stand for any number, it takes
// to match a whole list; -1 where it does not match.
func matched[P, N any](pattern []P, list []N, star func(P) bool, same func(P, N) bool) int {
	i, j, last, mark := 0, 0, -1, 0
	for j < len(list) {
		switch {
		case i < len(pattern) && star(pattern[i]):
			last, mark = i, j
			i++
		case i < len(pattern) && same(pattern[i], list[j]):
			i++
			j++
		case last >= 0:
			mark++
			i, j = last+1, mark
		default:
			return -1
		}
	}
	return i
}

// least is how many segments a path has at least that matches. One that has no "**"
// matches paths of just so many.
func (p Pattern) least() int {
	n := 0
	for _, s := range p {
		if s != AnyDepth {
			n++
		}
	}
	return n
}

// Meets reports whether a pattern of the line, by its segments, and the pattern
// can name the same file. It errs on the side of yes. crosses tells which
// segments a "**" of the line may stand for.
func (p Pattern) Meets(line []string, crosses func(segment int) bool) bool {
	return meets(line, p,
		func(s string) bool { return s == "**" },
		func(s Segment) bool { return s == AnyDepth },
		crosses,
		func(l string, r Segment) bool { return r.meets(l) })
}

// meets reports whether two sequences can stand for the same one, where starL
// and starR tell which elements stand for any number of elements, and taken
// which of r's those of l may stand for. It takes time in proportion to the
// product of their lengths.
func meets[L, R any](l []L, r []R, starL func(L) bool, starR func(R) bool, taken func(int) bool, same func(L, R) bool) bool {
	// row[j] tells whether l[i:] and r[j:] can be the same.
	row, below := make([]bool, len(r)+1), make([]bool, len(r)+1)
	for i := len(l); i >= 0; i-- {
		row, below = below, row
		for j := len(r); j >= 0; j-- {
			switch {
			case i == len(l) && j == len(r):
				row[j] = true
			case j < len(r) && starR(r[j]):
				row[j] = row[j+1] || i < len(l) && below[j]
			case i < len(l) && starL(l[i]):
				row[j] = below[j] || j < len(r) && row[j+1] && taken(j)
			case i < len(l) && j < len(r):
				row[j] = below[j+1] && same(l[i], r[j])
			default:
				row[j] = false
			}
		}
	}
	return row[0]
}
