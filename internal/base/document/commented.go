package document

import (
	"fmt"
	"strings"
)

// A template is a file of comments, and a person takes the # away from the lines
// that they want. Who forgets the key above leaves YAML that means nothing, or a
// key below another one. The library then points at a line far off.

// How far is looked, in lines: whoever sent the file must not be able to make its
// mistakes slow.
const (
	maxTemplate = 1000
	maxAbove    = 100
)

// lines are the first lines of the text; there are none where only a value was
// given.
func (r *Reader) lines() []string {
	if r.split == nil {
		r.split = strings.SplitN(string(r.data), "\n", maxTemplate)
	}
	return r.split
}

// commentedParent is the line of a comment to which a line would belong if the
// comment was a key, and no other line is in the way; 0 where there is none. Lines
// count from 1.
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

// opensBlock reports whether a line, without its indentation, is one below which
// others belong: a key without a value, or the first line of an entry.
func opensBlock(s string) bool {
	if entry, is := strings.CutPrefix(s, "- "); is {
		return strings.Contains(entry, ": ")
	}
	key, value, is := strings.Cut(s, ":")
	value = strings.TrimSpace(value)
	return is && key != "" && !strings.ContainsAny(key, " \t{[\"'") && (value == "" || value[0] == '#')
}

func indentation(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

// orphan is the place of the first line whose key above is still a comment, with
// what to do about it; line 0 where there is none.
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

// misindented is the place of the first line that ends a block and begins at a column
// at which no block began, or begins a block where none can, with what to do about it;
// line 0 where there is none.
func (r *Reader) misindented() (line, column int, hint string) {
	levels := []int{0}
	scalar := -1 // the indentation of the line above a text of several lines
	before := ":"
	for i, l := range r.lines() {
		word, n := strings.TrimSpace(l), indentation(l)
		if word == "" || word[0] == '#' || scalar >= 0 && n > scalar {
			continue
		}
		if scalar = -1; strings.ContainsAny(word, "{}[]\"'") && !strings.Contains(word, ": ") || strings.HasPrefix(word, "---") {
			return 0, 0, "" // a value over several lines, which is not followed
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

// commentHint says what to do about a key that is a comment.
func commentHint(lines []string, parent int) string {
	text := strings.TrimPrefix(strings.TrimSpace(lines[parent-1][1:]), "- ")
	key, _, _ := strings.Cut(text, ":")
	return fmt.Sprintf("take the # in front of %q in line %d away, too: this belongs to it", key, parent)
}

// shapeHint is the hint for a value of another shape than its key has: what is known
// of the key, that only comments stand below it, or the other hint.
func (v Value) shapeHint(other string) string {
	if hint := known(v.r.shapes, strings.Trim(v.name, `"`)); hint != "" && !v.Null() {
		return hint
	}
	if lines := v.r.lines(); v.Null() && v.KeyLine() >= 1 && v.KeyLine() < len(lines) && strings.HasPrefix(lines[v.KeyLine()], "#") {
		return "take the # away from what belongs to it below, or make it a comment again"
	}
	return other
}
