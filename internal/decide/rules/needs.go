package rules

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// beyondASCII is what a pattern needs that matches characters beyond ASCII
// only: no text of ASCII contains it, and contains takes every other text for
// one that does.
const beyondASCII = "\u0080"

// needs is a text, in lower case, that every match of a pattern contains, or
// "" where nothing is certain.
func needs(pattern string) string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || pattern == "" {
		return ""
	}
	if re.Op == syntax.OpCharClass && foreign(re.Rune) {
		return beyondASCII
	}
	s := strings.ToLower(literalOf(re))
	if len(s) < 2 || !ascii(s) {
		return ""
	}
	return s
}

// foreign reports whether a class, as pairs of bounds, has no member that is an
// ASCII letter in another case: the long s and the sign for kelvin are.
func foreign(class []rune) bool {
	for i := 0; i+1 < len(class); i += 2 {
		low, high := class[i], class[i+1]
		if low < utf8.RuneSelf || low <= 'ſ' && 'ſ' <= high || low <= '\u212a' && '\u212a' <= high {
			return false
		}
	}
	return len(class) > 0
}

// literalOf is the longest literal that is certain to be part of a match.
func literalOf(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return literalOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return literalOf(re.Sub[0])
		}
	case syntax.OpConcat:
		best := ""
		for _, sub := range re.Sub {
			if s := literalOf(sub); len(s) > len(best) {
				best = s
			}
		}
		return best
	}
	return ""
}

// contains reports whether a text contains an ASCII text in lower case,
// without regard to case. Letters beyond ASCII fold into ASCII ones in ways
// that only the expression knows, so such texts count as containing it.
func contains(text, lower string) bool {
	if !ascii(text) {
		return true
	}
	first := lower[0]
	upper := first
	if 'a' <= first && first <= 'z' {
		upper -= 'a' - 'A'
	}
	for i := 0; i+len(lower) <= len(text); i++ {
		if c := text[i]; (c == first || c == upper) && strings.EqualFold(text[i:i+len(lower)], lower) {
			return true
		}
	}
	return false
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
