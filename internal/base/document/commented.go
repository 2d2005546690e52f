package document

import (
	"fmt"
	"strings"
)

// A template is a file of comments. A user who removes the "#" from a line but not from the
// key above it writes invalid YAML, or puts the key below another one. The library then
// reports a line far from the mistake.

// These bound the search, in lines. A pull request can contain the file, so its mistakes
// must not make reading slow.
const (
	maxTemplate = 1000
	maxAbove    = 100
)

// lines returns the first maxTemplate lines of the text, nil if the Reader was made from a
// node.
func (r *Reader) lines() []string {
	if r.split == nil {
		r.split = strings.SplitN(string(r.data), "\n", maxTemplate)
	}
	return r.split
}

// commentedParent returns the number of the comment line that would be the key above a line
// if it were not a comment. It returns 0 if there is no such comment or another key is
// between them. Line numbers start at 1.
func commentedParent(lines []string, line int) int {
	if line < 1 || line > len(lines) {
		return 0
	}
	depth := indentation(lines[line-1])
	for i := line - 1; i >= max(1, line-maxAbove) && depth > 0; i-- {
		text, comment := strings.CutPrefix(lines[i-1], "#")
		word := strings.TrimSpace(text)
		switch {
		case word == "" || word[0] == '#' || indentation(text) >= depth:
		case !comment:
			return 0
		case opensBlock(word):
			return i
		}
	}
	return 0
}

// opensBlock reports whether other lines belong below s, a line without its indentation. s
// is then a key without a value, or the first line of an entry.
func opensBlock(s string) bool {
	if entry, is := strings.CutPrefix(s, "- "); is {
		return strings.Contains(entry, ": ")
	}
	key, value, is := strings.Cut(s, ":")
	value = strings.TrimSpace(value)
	return is && key != "" && !strings.ContainsAny(key, " \t{[\"'") && (value == "" || value[0] == '#')
}

func indentation(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

// orphan returns the place of the first line whose key above is still a comment, and a
// hint. line is 0 if there is no such line.
func (r *Reader) orphan() (line, column int, hint string) {
	lines := r.lines()
	for i, l := range lines {
		if word := strings.TrimSpace(l); word == "" || word[0] == '#' {
			continue
		}
		if parent := commentedParent(lines, i+1); parent > 0 {
			return i + 1, indentation(l) + 1, commentHint(lines, parent)
		}
	}
	return 0, 0, ""
}

// misindented returns the place of the first wrongly indented line, and a hint. Such a line
// returns to a column where no block began, or begins a block where none is possible. If
// there is no such line, line is 0.
func (r *Reader) misindented() (line, column int, hint string) {
	levels := []int{0}
	scalar := -1 // the indentation of the key of a multi-line text
	before := ":"
	for i, l := range r.lines() {
		word, n := strings.TrimSpace(l), indentation(l)
		if word == "" || word[0] == '#' || scalar >= 0 && n > scalar {
			continue
		}
		if scalar = -1; strings.ContainsAny(word, "{}[]\"'") && !strings.Contains(word, ": ") || strings.HasPrefix(word, "---") {
			return 0, 0, "" // a value over several lines; not supported
		}
		if strings.ContainsAny(word[len(word)-1:], "|>") {
			scalar = n
		}
		dedents := false
		for len(levels) > 0 && levels[len(levels)-1] > n {
			levels, dedents = levels[:len(levels)-1], true
		}
		top := -1
		if len(levels) > 0 {
			top = levels[len(levels)-1]
		}
		deeper := n > top && !dedents && !strings.HasSuffix(before, ":") && strings.Contains(word+" ", ": ")
		if n > top && dedents || deeper {
			return i + 1, n + 1, fmt.Sprintf("indent it by as many blanks as the lines that it belongs to; it has %d", n)
		}
		if before = word; n > top {
			levels = append(levels, n)
		}
		for entry, is := strings.CutPrefix(word, "- "); is; entry, is = strings.CutPrefix(entry, "- ") {
			n += 2 + indentation(entry)
			levels, entry = append(levels, n), strings.TrimLeft(entry, " ")
		}
	}
	return 0, 0, ""
}

// commentHint returns the hint to uncomment the key in line parent.
func commentHint(lines []string, parent int) string {
	text := strings.TrimPrefix(strings.TrimSpace(lines[parent-1][1:]), "- ")
	key, _, _ := strings.Cut(text, ":")
	return fmt.Sprintf("take the # in front of %q in line %d away, too: this belongs to it", key, parent)
}

// shapeHint returns the hint for a value of the wrong shape. It prefers the hint for the
// key, then one for an empty value with only comments below it, then other.
func (v Value) shapeHint(other string) string {
	if hint := known(v.r.shapes, strings.Trim(v.name, `"`)); hint != "" && !v.Null() {
		return hint
	}
	if lines := v.r.lines(); v.Null() && v.KeyLine() >= 1 && v.KeyLine() < len(lines) && strings.HasPrefix(lines[v.KeyLine()], "#") {
		return "take the # away from what belongs to it below, or make it a comment again"
	}
	return other
}
