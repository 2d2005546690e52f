package paths

import (
	"slices"
	"strings"
	"unicode"
)

// This file matches single names: segments of paths, and names of tools, roles, events and
// hosts. In a pattern, "*" stands for any number of characters, "?" for one, "[a-z]" and
// "[!a-z]" for one of a class; "\" escapes the next character. An unclosed bracket is
// literal.

// char is an element of a name pattern.
type char struct {
	// r is the character; if wild is set, '*', '?' or '['.
	r    rune
	wild bool
	// set is the content of a class, with "!" in front if it is negated.
	set string
}

// star reports whether c stands for any number of characters.
func (c char) star() bool { return c.wild && c.r == '*' }

// chars parses a name pattern. Its time is linear in the length, even with unclosed
// brackets.
func chars(s string) []char {
	var out []char
	rs := []rune(s)
	closed := true // no unclosed bracket seen yet
	for i := 0; i < len(rs); i++ {
		switch r := rs[i]; {
		case r == '*' || r == '?':
			out = append(out, char{r: r, wild: true})
		case r == '\\' && i+1 < len(rs):
			i++
			out = append(out, char{r: rs[i]})
		case r == '[' && closed:
			n := class(rs[i:])
			if n == 0 {
				closed = false
				out = append(out, char{r: r})
				continue
			}
			set := string(rs[i+1 : i+n-1])
			if strings.HasPrefix(set, "^") {
				set = "!" + set[1:]
			}
			out = append(out, char{r: '[', wild: true, set: set})
			i += n - 1
		default:
			out = append(out, char{r: r})
		}
	}
	return out
}

// literalChars returns a name as a pattern without wildcards.
func literalChars(name string) []char {
	var out []char
	for _, r := range name {
		out = append(out, char{r: r})
	}
	return out
}

// EitherCase returns a pattern that matches the same names in upper or lower case. It may
// match more names if pattern has classes.
func EitherCase(pattern string) string {
	var out strings.Builder
	for _, c := range chars(pattern) {
		switch {
		case c.star():
			out.WriteByte('*')
		case c.wild, c.r > unicode.MaxASCII:
			out.WriteByte('?')
		case unicode.IsLetter(c.r):
			out.WriteString("[" + string(unicode.ToLower(c.r)) + string(unicode.ToUpper(c.r)) + "]")
		case strings.ContainsRune(`*?[\`, c.r):
			out.WriteString(`\` + string(c.r))
		default:
			out.WriteRune(c.r)
		}
	}
	return out.String()
}

// OnlyStars returns a pattern in which "*" replaces everything uncertain, and no other
// character is special. It may match more names.
func OnlyStars(pattern string) string {
	var out strings.Builder
	for _, c := range chars(pattern) {
		if c.wild || strings.ContainsRune(`*?[\`, c.r) {
			c.r = '*'
		}
		out.WriteRune(c.r)
	}
	return out.String()
}

// class returns the length of the class at the front of rs, 0 if it is unclosed. A "]" at
// its beginning is a member, and so is a named class ("[:alpha:]").
func class(rs []rune) int {
	end := 1
	if end < len(rs) && (rs[end] == '!' || rs[end] == '^') {
		end++
	}
	if end < len(rs) && rs[end] == ']' {
		end++
	}
	for end < len(rs) && rs[end] != ']' {
		end += member(rs[end:])
	}
	if end >= len(rs) {
		return 0
	}
	return end + 1
}

// member returns the length of the next member of a class: a character, an escaped one, or
// "[:alpha:]", "[=a=]", "[.a.]". A named class must be closed within the maximum length of
// its name.
func member(rs []rune) int {
	const longest = 32
	if len(rs) > 1 && rs[0] == '\\' {
		return 2
	}
	if len(rs) < 2 || rs[0] != '[' || !strings.ContainsRune(":=.", rs[1]) {
		return 1
	}
	for i := 2; i+1 < len(rs) && i < longest; i++ {
		if rs[i] == rs[1] && rs[i+1] == ']' {
			return i + 2
		}
	}
	return 1
}

// holds reports whether a single-character pattern matches a character. A class that
// depends on the locale, such as "[=e=]", matches anything in a pattern of the command
// line, and nothing in one of a rule.
func (c char) holds(r rune, ofLine bool) bool {
	if !c.wild {
		return c.r == r
	}
	if c.r == '?' {
		return true
	}
	set, not := strings.CutPrefix(c.set, "!")
	rs := []rune(set)
	for i := 0; i < len(rs); {
		n := member(rs[i:])
		switch {
		case n > 2:
			is := named[string(rs[i+2:i+n-2])]
			if rs[i+1] != ':' || is == nil {
				return ofLine
			}
			if is(r) {
				return !not
			}
			i += n
			continue
		case n == 2:
			i++ // the backslash
		}
		low := rs[i]
		i++
		high := low
		if i+1 < len(rs) && rs[i] == '-' {
			i++
			if n := member(rs[i:]); n == 2 {
				i++
			}
			high = rs[i]
			i++
		}
		if low <= r && r <= high {
			return !not
		}
	}
	return not
}

// WithoutClasses returns a pattern in which its only character replaces each class, or "?"
// if there may be several.
func WithoutClasses(pattern string) string {
	var b strings.Builder
	for _, c := range chars(pattern) {
		if c.wild && c.r == '[' {
			c.r = onlyMember([]rune(c.set))
		}
		b.WriteRune(c.r)
	}
	return b.String()
}

// onlyMember returns the only character of a class, '?' if there may be several.
func onlyMember(set []rune) rune {
	switch {
	case len(set) == 1:
		return set[0]
	case len(set) == 2 && set[0] == '\\':
		return set[1]
	case len(set) == 3 && set[1] == '-' && set[0] == set[2]:
		return set[0]
	case len(set) == 5 && member(set) == 5 && set[1] != ':':
		return set[2]
	}
	return '?'
}

// named maps the names of POSIX character classes to their tests.
var named = map[string]func(rune) bool{
	"alpha":  unicode.IsLetter,
	"digit":  unicode.IsDigit,
	"lower":  unicode.IsLower,
	"upper":  unicode.IsUpper,
	"space":  unicode.IsSpace,
	"cntrl":  unicode.IsControl,
	"print":  unicode.IsPrint,
	"punct":  func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) },
	"graph":  func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) },
	"alnum":  func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) },
	"blank":  func(r rune) bool { return r == ' ' || r == '\t' },
	"xdigit": func(r rune) bool { return unicode.Is(unicode.ASCII_Hex_Digit, r) },
}

// IsPattern reports whether a name has wildcards.
func IsPattern(name string) bool { return strings.ContainsAny(name, `*?[\`) }

// LiteralBegin returns the part of a path pattern before its first wildcard.
func LiteralBegin(pattern string) string {
	if i := strings.IndexAny(pattern, "*?["); i >= 0 {
		return pattern[:i]
	}
	return pattern
}

// WellFormed reports whether every bracket of a name pattern is closed, and a character
// follows every backslash.
func WellFormed(pattern string) bool {
	rs := []rune(pattern)
	for i := 0; i < len(rs); i++ {
		switch rs[i] {
		case '\\':
			i++
			if i == len(rs) {
				return false
			}
		case '[':
			n := class(rs[i:])
			if n == 0 {
				return false
			}
			i += n - 1
		}
	}
	return true
}

// MatchName reports whether a name matches a pattern. "*" matches all characters, including
// "/", so it also works for names of tools, roles and hosts.
func MatchName(pattern, name string) bool {
	if !IsPattern(pattern) {
		return pattern == name
	}
	if pattern == "*" {
		return true
	}
	if !sameEnds(pattern, name) {
		return false
	}
	if !strings.ContainsAny(pattern, `?[\`) {
		return matchStars(pattern, name)
	}
	p := chars(pattern)
	used := matched(p, []rune(name), char.star, func(c char, r rune) bool { return c.holds(r, false) })
	return used >= 0 && !slices.ContainsFunc(p[used:], func(c char) bool { return !c.star() })
}

// matchStars is MatchName for a pattern with "*" as its only wildcard.
func matchStars(pattern, name string) bool {
	piece, pattern, _ := strings.Cut(pattern, "*")
	name, ok := strings.CutPrefix(name, piece)
	if !ok {
		return false
	}
	for {
		piece, rest, more := strings.Cut(pattern, "*")
		if !more {
			return strings.HasSuffix(name, piece)
		}
		i := strings.Index(name, piece)
		if i < 0 {
			return false
		}
		name, pattern = name[i+len(piece):], rest
	}
}

// sameEnds is a quick check. It returns false only if name lacks the literal prefix or
// suffix of the pattern.
func sameEnds(pattern, name string) bool {
	if i := strings.IndexAny(pattern, `*?[\`); i >= 0 && !strings.HasPrefix(name, pattern[:i]) {
		return false
	}
	return strings.Contains(pattern, `\`) || strings.HasSuffix(name, pattern[strings.LastIndexAny(pattern, "*?]")+1:])
}

// MayLeadUp reports whether a segment of a path pattern may become "..". In many shells, a
// dot with wildcards can match it; wildcards alone never do.
func MayLeadUp(pattern string) bool {
	return slices.ContainsFunc(strings.Split(pattern, "/"), func(s string) bool {
		return s == ".." || MatchName(s, "..") && s[0] != '*' && s[0] != '?' && s[0] != '[' || strings.HasPrefix(s, ".") && (strings.Contains(s, "(") || strings.Contains(s, "[["))
	})
}

// MayBeNamed reports whether a pattern of the command line may stand for a name. As in the
// shell, a leading wildcard does not match hidden files. An extended pattern, or braces
// that some programs expand, may stand for anything.
func MayBeNamed(pattern, name string) bool {
	return Segment{Text: name, Literal: true}.meets(pattern)
}

// longestPattern is the maximum length in bytes of a name pattern that is compared with
// another. A longer one may stand for any name: a name has at most 255 bytes (NAME_MAX).
const longestPattern = 1024

// meets reports whether the segment and a name of the command line, which may be a pattern,
// can be the same name.
func (s Segment) meets(line string) bool {
	if line == s.Text && (s.Literal || !strings.ContainsRune(line, '\\')) {
		return true
	}
	if strings.Contains(line, "(") || strings.Contains(line, "{") && strings.Contains(line, ",") {
		return true
	}
	if !IsPattern(line) {
		return s.match(line)
	}
	if len(line) > longestPattern {
		return true
	}
	l, r := chars(line), literalChars(s.Text)
	if !s.Literal {
		r = chars(s.Text)
	}
	if len(l) > 0 && l[0].wild && len(r) > 0 && r[0] == (char{r: '.'}) {
		return false
	}
	return meets(l, r, char.star, char.star, func(int) bool { return true }, func(a, b char) bool {
		switch {
		case a.wild && b.wild:
			return true
		case a.wild:
			return a.holds(b.r, true)
		}
		return b.holds(a.r, false)
	})
}

// match reports whether the segment matches a name.
func (s Segment) match(name string) bool {
	if s.Literal {
		return s.Text == name
	}
	return MatchName(s.Text, name)
}

// SaysName reports whether the last segment is a literal name. It also returns true if both
// the segment and a pattern of the command line end with a literal.
func (p Pattern) SaysName(line string) bool {
	if len(p) == 0 {
		return false
	}
	last := p[len(p)-1]
	return last.Literal || endsPlain(last.Text) && endsPlain(line)
}

// endsPlain reports whether a name pattern ends with a literal character.
func endsPlain(pattern string) bool {
	list := chars(pattern)
	return len(list) > 0 && !list[len(list)-1].wild
}
