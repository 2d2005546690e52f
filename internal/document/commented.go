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

// commentHint says what to do about a key that is a comment.
func commentHint(lines []string, parent int) string {
	text := strings.TrimPrefix(strings.TrimSpace(lines[parent-1][1:]), "- ")
	key, _, _ := strings.Cut(text, ":")
	return fmt.Sprintf("take the # in front of %q in line %d away, too: this belongs to it", key, parent)
}

// shapeHint is the hint for a value of another shape than its key has: what is known
// of the key, that only comments stand below it, or the other hint.
func (v Value) shapeHint(other string) string {
	if hint := v.r.shapes[strings.Trim(v.name, `"`)]; hint != "" && !v.Null() {
		return hint
	}
	if lines := v.r.lines(); v.Null() && v.KeyLine() >= 1 && v.KeyLine() < len(lines) && strings.HasPrefix(lines[v.KeyLine()], "#") {
		return "take the # away from what belongs to it below, or make it a comment again"
	}
	return other
}
