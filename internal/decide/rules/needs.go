package rules

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"cardea.dev"
)

// beyondASCII is the need of a pattern that matches only characters beyond ASCII. No ASCII
// text contains it, and contains is true for all others.
const beyondASCII = "\u0080"

// needs returns texts, in lower case, of which every match of a pattern contains one. It
// returns nil if no such text is certain.
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

// foreign reports whether a class, as pairs of bounds, matches only characters beyond
// ASCII. The long s and the kelvin sign are excluded, since they are ASCII letters in
// another case.
func foreign(class []rune) bool {
	for i := 0; i+1 < len(class); i += 2 {
		if low, high := class[i], class[i+1]; low < utf8.RuneSelf || low <= 'ſ' && 'ſ' <= high || low <= '\u212a' && '\u212a' <= high {
			return false
		}
	}
	return len(class) > 0
}

// maxNeeds is the most texts of a pattern. Searching for more costs more than it saves.
const maxNeeds = 64

// literalsOf returns literals of which every match contains one, or nil. Of several such
// sets it returns the one whose shortest literal is longest, which is most selective.
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

// shortest returns the length of the shortest text, 0 for an empty list.
func shortest(texts []string) int {
	if len(texts) == 0 {
		return 0
	}
	return len(slices.MinFunc(texts, func(a, b string) int { return len(a) - len(b) }))
}

// choice reports whether an expression is a choice of words, "^(a|b)$", and whether a text
// is one of them. Most conditions on operands have this form, and need not be compiled.
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

// searched is a text in which texts are searched without regard to case.
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

// contains reports whether the text contains an ASCII text in lower case. It is always true
// for a text beyond ASCII, whose letters may fold into ASCII in ways that only the
// expression knows.
func (s *searched) contains(lower string) bool { return !s.ascii || strings.Contains(s.lower, lower) }

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// bitOf returns the bit of a program, independent of folder and case. For a name beyond
// ASCII it returns all bits, since only the comparison knows how it folds.
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

// bits returns the bits of a part's program and its wrappers.
func bits(p *cardea.Part) uint64 {
	if p.ProgramPattern != "" {
		return ^uint64(0)
	}
	program := programOf(p)
	all := bitOf(program) | bitOf(canonical(program))
	if p.UsualCommand != nil {
		all |= bitOf(p.UsualCommand[0])
	}
	// A rule that allows names the program as written, and a wrapper of two words, "docker
	// run", as two words.
	if len(p.Argv) > 0 {
		all |= bitOf(p.Argv[0].Text)
	}
	for _, w := range p.Wrappers {
		first, _, _ := strings.Cut(strings.TrimLeft(w, " "), " ")
		all |= bitOf(canonical(w)) | bitOf(first)
	}
	return all
}
