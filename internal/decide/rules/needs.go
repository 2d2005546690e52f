package rules

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"cardea.dev"
)

// beyondASCII is what a pattern needs that matches characters beyond ASCII
// only: no text of ASCII contains it, and contains takes every other text for
// one that does.
const beyondASCII = "\u0080"

// needs are texts, in lower case, of which every match of a pattern contains
// one; none where nothing is certain.
func needs(pattern string) []string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil || pattern == "" {
		return nil
	}
	if re.Op == syntax.OpCharClass && foreign(re.Rune) {
		return []string{beyondASCII}
	}
	var out []string
	for _, s := range literalsOf(re) {
		if s = strings.ToLower(s); len(s) < 2 || !ascii(s) {
			return nil
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// foreign reports whether a class, as pairs of bounds, has no member that is an
// ASCII letter in another case: the long s and the sign for kelvin are.
func foreign(class []rune) bool {
	for i := 0; i+1 < len(class); i += 2 {
		if low, high := class[i], class[i+1]; low < utf8.RuneSelf || low <= 'ſ' && 'ſ' <= high || low <= '\u212a' && '\u212a' <= high {
			return false
		}
	}
	return len(class) > 0
}

// maxNeeds bounds how many texts a pattern may need: to look for many costs
// more than it saves.
const maxNeeds = 64

// literalsOf are literals of which one is certain to be part of a match; none
// where there are none. Of several such sets the one whose shortest is longest
// tells most.
func literalsOf(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{string(re.Rune)}
	case syntax.OpCapture, syntax.OpPlus:
		return literalsOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return literalsOf(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if s := literalsOf(sub); shortest(s) > shortest(best) {
				best = s
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			s := literalsOf(sub)
			if all = append(all, s...); len(s) == 0 || len(all) > maxNeeds {
				return nil
			}
		}
		return all
	}
	return nil
}

// shortest is the length of the shortest of some texts, 0 where there are none.
func shortest(texts []string) int {
	if len(texts) == 0 {
		return 0
	}
	return len(slices.MinFunc(texts, func(a, b string) int { return len(a) - len(b) }))
}

// choice reports whether an expression is a choice of words, "^(a|b)$", and
// whether a text is one of them: what most conditions on operands are need not
// be compiled.
func choice(expr, text string) (is, same bool) {
	list, begins := strings.CutPrefix(expr, "^")
	list, ends := strings.CutSuffix(list, "$")
	several := strings.HasPrefix(list, "(") && strings.HasSuffix(list, ")")
	if several {
		list = list[1 : len(list)-1]
	}
	if !begins || !ends || strings.ContainsAny(list, `\.+*?()[]{}^$`) || !several && strings.Contains(list, "|") {
		return false, false
	}
	for word := range strings.SplitSeq(list, "|") {
		same = same || word == text
	}
	return true, same
}

// searched is a text in which others are looked for, without regard to case.
type searched struct {
	text, lower string
	ascii       bool
}

func newSearched(text string) *searched {
	s := &searched{text: text, ascii: ascii(text)}
	if s.ascii {
		s.lower = strings.ToLower(text)
	}
	return s
}

// contains reports whether the text contains an ASCII text in lower case. Letters
// beyond ASCII fold into ASCII ones in ways that only the expression knows, so a
// text with such letters counts as containing it.
func (s *searched) contains(lower string) bool { return !s.ascii || strings.Contains(s.lower, lower) }

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// bitOf is the bit that stands for a program, whatever its folder and case; all
// of them where only the comparison itself knows what its letters fold into.
func bitOf(program string) uint64 {
	program = program[strings.LastIndexAny(program, `/\`)+1:]
	hash := uint32(2166136261) // FNV-1a
	for i := range len(program) {
		b := program[i]
		if b >= utf8.RuneSelf {
			return ^uint64(0)
		}
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		hash = (hash ^ uint32(b)) * 16777619
	}
	return 1 << (hash >> 26)
}

// bits are those of a part's program and of the wrappers in front of it.
func bits(p *cardea.Part) uint64 {
	if p.ProgramPattern != "" {
		return ^uint64(0)
	}
	program := programOf(p)
	all := bitOf(program) | bitOf(canonical(program))
	if p.UsualCommand != nil {
		all |= bitOf(p.UsualCommand[0])
	}
	// A rule that allows names the program as it is written, and a wrapper of two
	// words, "docker run", as two.
	if len(p.Argv) > 0 {
		all |= bitOf(p.Argv[0].Text)
	}
	for _, w := range p.Wrappers {
		first, _, _ := strings.Cut(strings.TrimLeft(w, " "), " ")
		all |= bitOf(canonical(w)) | bitOf(first)
	}
	return all
}
