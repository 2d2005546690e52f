package paths

import "strings"

// Pattern is a path pattern, split into segments, with the meaning of gitignore. "*", "?"
// and "[…]" match within a segment. A segment "**" stands for zero or more segments; at the
// end, for at least one. The reader of a pattern decides where it begins and whether it
// includes what is below a folder: rules and permission lists differ.
type Pattern []Segment

// Segment is a segment of a pattern. The folders that a pattern is relative to are literal,
// even if their names have wildcards.
type Segment struct {
	Text    string
	Literal bool
}

// AnyDepth is the segment "**".
var AnyDepth = Segment{Text: "**"}

// Literal returns the pattern that matches exactly a folder.
func Literal(folder string) Pattern {
	out := Pattern(nil).Join(folder)
	for i := range out {
		out[i].Literal = true
	}
	return out
}

// Join appends a relative pattern to a folder. "." and ".." are removed.
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

// Root returns the leading segments without wildcards.
func (p Pattern) Root() Pattern {
	for i, s := range p {
		if !s.Literal {
			return p[:i]
		}
	}
	return p
}

// LastLiteral returns the last segment without wildcards, "" if none exists.
func (p Pattern) LastLiteral() (text string) {
	for _, s := range p {
		if s.Literal {
			text = s.Text
		}
	}
	return text
}

// EndsAnyDepth reports whether a pattern names everything below a folder.
func (p Pattern) EndsAnyDepth() bool { return len(p) > 0 && p[len(p)-1] == AnyDepth }

// Segments returns the segments of a path.
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
	// The last segment rules out most paths for most patterns.
	if n := len(p); n > 0 && p[n-1] != AnyDepth && (len(path) == 0 || !p[n-1].match(path[len(path)-1])) {
		return false
	}
	return matched(p, path, func(s Segment) bool { return s == AnyDepth }, Segment.match) == len(p)
}

// matched returns how many elements of pattern are needed to match the whole list, -1 if it
// does not match. star reports elements that stand for any number of entries.
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

// least returns the minimum number of segments of a matching path. A pattern without "**"
// matches only paths with exactly as many.
func (p Pattern) least() int {
	n := 0
	for _, s := range p {
		if s != AnyDepth {
			n++
		}
	}
	return n
}

// Meets reports whether the pattern and one of the command line, given as segments, can
// name the same file. When in doubt, it returns true. crosses reports which segments a "**"
// of the command line may stand for.
func (p Pattern) Meets(line []string, crosses func(segment int) bool) bool {
	return meets(line, p,
		func(s string) bool { return s == "**" },
		func(s Segment) bool { return s == AnyDepth },
		crosses,
		func(l string, r Segment) bool { return r.meets(l) })
}

// meets reports whether two sequences can stand for the same one. The functions starL and
// starR report elements that stand for any number of elements. The function taken reports
// the elements of r that those of l may stand for. The time is proportional to the product
// of the lengths.
func meets[L, R any](l []L, r []R, starL func(L) bool, starR func(R) bool, taken func(int) bool, same func(L, R) bool) bool {
	// row[j] reports whether l[i:] and r[j:] can be the same.
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
