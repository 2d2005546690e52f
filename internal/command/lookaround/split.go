// Package lookaround rewrites expressions with lookahead and lookbehind, where possible,
// in a form that RE2 can run. Expressions of other tools have them. Go's regexp, whose
// time is bounded, does not.
//
// A lookahead restricts the text after it. The lookahead and the expression after it
// therefore run side by side, as automata, over the rest of the text, and the product of
// both is written as an expression again. The result matches in exactly the same texts.
// Groups do not keep their numbers.
package lookaround

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
)

// errPlace is the error for a lookaround in a place where it cannot be replaced.
var errPlace = errors.New("it has a lookahead or lookbehind inside of a repeat, or two with text between them")

// Has reports whether an expression has a lookaround.
func Has(pattern string) bool {
	return slices.ContainsFunc([]string{"(?=", "(?!", "(?<=", "(?<!"}, func(look string) bool { return strings.Contains(pattern, look) })
}

// Remove returns an expression without lookaround that matches in the same texts,
// ignoring case if fold is set. An expression without lookaround is returned unchanged.
// It fails if the lookaround cannot be replaced or the result is too long.
func Remove(pattern string, fold bool) (string, error) {
	if !Has(pattern) {
		return pattern, nil
	}
	outer := ""
	if fold {
		outer = "(?i)"
	}
	flags := leadingFlags(pattern)
	fold = fold || strings.Contains(flags, "i")
	var out []string
	all, err := alternatives(pattern[len(flags):])
	if err != nil {
		return "", err
	}
	for _, a := range all {
		s, err := split(a)
		if err != nil {
			return "", err
		}
		text, err := s.rewrite(outer+flags, fold)
		if err != nil {
			return "", err
		}
		out = append(out, text)
	}
	text := flags + strings.Join(out, "|")
	if _, err := syntax.Parse(outer+text, syntax.Perl); err != nil {
		return "", fmt.Errorf("it cannot be written without lookaround: %w", err)
	}
	return text, nil
}

// Check returns an error if the lookarounds of an expression are in places where
// [Remove] cannot replace them. It does not rewrite, which takes a hundred times as
// long, so the result may still be too long.
func Check(pattern string) error {
	all, err := alternatives(pattern[len(leadingFlags(pattern)):])
	for _, a := range all {
		if _, err := split(a); err != nil {
			return err
		}
	}
	if err == nil {
		_, err = syntax.Parse(Loose(pattern), syntax.Perl)
	}
	return err
}

// Loose returns an expression without its lookarounds: it matches wherever the
// expression does, and in more texts. [Check] must accept the expression.
func Loose(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); {
		n, err := item(pattern[i:])
		if err != nil {
			return b.String() + pattern[i:]
		}
		text := pattern[i : i+n]
		i += n
		switch kind, _ := lookOf(text); {
		case kind != "":
		case len(text) > 2 && text[0] == '(':
			b.WriteString("(" + Loose(text[1:len(text)-1]) + ")")
		default:
			b.WriteString(text)
		}
	}
	return b.String()
}

// leadingFlags returns the flags at the beginning, which apply to the whole expression.
func leadingFlags(pattern string) string {
	rest := pattern
	for strings.HasPrefix(rest, "(?") {
		end := strings.IndexByte(rest, ')')
		if end < 0 || strings.Trim(rest[2:end], "imsU") != "" {
			break
		}
		rest = rest[end+1:]
	}
	return pattern[:len(pattern)-len(rest)]
}

// sequence is one alternative of an expression: lookbehinds, the part after them,
// lookaheads, and the part after these.
type sequence struct {
	behind []look
	head   string
	ahead  []look
	tail   string
}

// look is one lookaround.
type look struct {
	not  bool
	body string
}

// maxAlternatives is the number of alternatives that are rewritten.
const maxAlternatives = 32

// alternatives splits an expression at the top and at the groups that contain a
// lookaround: a(b(?!c)|d)e becomes ab(?!c)e and ade.
func alternatives(pattern string) ([]string, error) {
	var out []string
	todo, err := top(pattern)
	for len(todo) > 0 && err == nil {
		if len(todo)+len(out) > maxAlternatives {
			return nil, errLarge
		}
		first := todo[0]
		at, end := groupIn(first)
		if end == 0 {
			out, todo = append(out, first), todo[1:]
			continue
		}
		var inside []string
		if inside, err = top(bodyOf(first[at:end])); err != nil {
			break
		}
		rest := first[end:]
		switch {
		case bodyOf(first[at:end]) == "" || rest != "" && strings.IndexByte("*+{", rest[0]) >= 0:
			return nil, errPlace
		case strings.HasPrefix(rest, "?"):
			inside = append(inside, "")
			rest = strings.TrimPrefix(rest[1:], "?")
		}
		for i, text := range inside {
			inside[i] = first[:at] + text + rest
		}
		todo = append(inside, todo[1:]...)
	}
	return out, err
}

// top splits an expression at the bars outside of groups.
func top(pattern string) ([]string, error) {
	var out []string
	begin := 0
	for i := 0; i < len(pattern); {
		n, err := item(pattern[i:])
		if err != nil {
			return nil, err
		}
		if pattern[i] == '|' {
			out = append(out, pattern[begin:i])
			begin = i + n
		}
		i += n
	}
	return append(out, pattern[begin:]), nil
}

// groupIn returns the position of the first group, not a lookaround, that contains a
// lookaround. end is 0 if there is no such group. The expression was split before.
func groupIn(pattern string) (begin, end int) {
	for i := 0; i < len(pattern); {
		n, err := item(pattern[i:])
		if err != nil {
			return 0, 0
		}
		if kind, _ := lookOf(pattern[i : i+n]); kind == "" && pattern[i] == '(' && Has(pattern[i:i+n]) {
			return i, i + n
		}
		i += n
	}
	return 0, 0
}

// bodyOf returns the inside of a group, or "" if its flags apply only inside it.
func bodyOf(group string) string {
	body := group[1 : len(group)-1]
	switch name := strings.IndexByte(body, '>'); {
	case strings.HasPrefix(body, "?:"):
		body = body[len("?:"):]
	case (strings.HasPrefix(body, "?P<") || strings.HasPrefix(body, "?<")) && name > 0:
		body = body[name+1:]
	case strings.HasPrefix(body, "?"):
		return ""
	}
	for rest := body; ; {
		at := strings.Index(rest, "(?")
		if at < 0 {
			return body
		}
		if rest = rest[at+2:]; rest != "" && strings.IndexByte("imsU-", rest[0]) >= 0 {
			return ""
		}
	}
}

// split splits an alternative into its sequence.
func split(pattern string) (s sequence, err error) {
	part := &s.head
	for i := 0; i < len(pattern); {
		n, err := item(pattern[i:])
		if err != nil {
			return s, err
		}
		text := pattern[i : i+n]
		i += n
		switch kind, body := lookOf(text); {
		case kind == "":
			*part += text
		case i < len(pattern) && strings.IndexByte("*+?{", pattern[i]) >= 0 || Has(body):
			return s, errPlace
		case strings.HasPrefix(kind, "(?<"):
			if s.head != "" || len(s.ahead) > 0 {
				return s, errPlace
			}
			s.behind = append(s.behind, look{kind == "(?<!", body})
		case s.tail != "":
			return s, errPlace
		default:
			s.ahead = append(s.ahead, look{kind == "(?!", body})
			part = &s.tail
		}
	}
	return s, nil
}

// lookOf returns the beginning and the inside of a lookaround, or "" for another item.
func lookOf(text string) (kind, body string) {
	for _, kind := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.HasPrefix(text, kind) {
			return kind, text[len(kind) : len(text)-1]
		}
	}
	return "", ""
}

// item returns the length of the first item of an expression: a group, a class, an
// escape or a character.
func item(s string) (int, error) {
	switch s[0] {
	case '\\':
		if len(s) < 2 {
			return 0, errors.New("it ends in a backslash")
		}
		return 2, nil
	case '[':
		return class(s)
	case '(':
		for i := 1; i < len(s); {
			if s[i] == ')' {
				return i + 1, nil
			}
			n, err := item(s[i:])
			if err != nil {
				return 0, err
			}
			i += n
		}
		return 0, errors.New("a group has no end")
	}
	return 1, nil
}

// class returns the length of a character class.
func class(s string) (int, error) {
	i := 1
	if strings.HasPrefix(s[i:], "^") {
		i++
	}
	if strings.HasPrefix(s[i:], "]") {
		i++
	}
	for ; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], "[:"):
			if n := strings.Index(s[i:], ":]"); n > 0 {
				i += n + 1
			}
		case s[i] == ']':
			return i + 1, nil
		}
	}
	return 0, errors.New("a character class has no end")
}

// rewrite returns the sequence without its lookarounds.
func (s sequence) rewrite(flags string, fold bool) (string, error) {
	out := s.head
	if len(s.ahead) > 0 {
		rest, err := restOf(s.ahead, s.tail, flags, fold)
		if err != nil {
			return "", err
		}
		out += rest
	}
	if len(s.behind) == 0 {
		return out, nil
	}
	before, err := beforeOf(s.behind, flags, fold)
	if err != nil {
		return "", err
	}
	return before + out, nil
}

// restOf returns the replacement of lookaheads and of the part after them.
func restOf(ahead []look, tail, flags string, fold bool) (string, error) {
	m := machine{fold: fold}
	for _, l := range append(ahead, look{false, tail}) {
		p, err := compile(flags + "(?:" + l.body + ")")
		if err != nil {
			return "", err
		}
		m.runs = append(m.runs, run{p, l.not})
	}
	return m.expression(false)
}

// beforeOf returns the replacement of lookbehinds. They test the text from its end to
// its beginning, so they run backwards.
func beforeOf(behind []look, flags string, fold bool) (string, error) {
	m := machine{fold: fold}
	for _, l := range behind {
		tree, err := syntax.Parse(flags+"(?:"+l.body+")", syntax.Perl)
		if err != nil {
			return "", err
		}
		if err := reverse(tree); err != nil {
			return "", err
		}
		p, err := syntax.Compile(tree.Simplify())
		if err != nil {
			return "", err
		}
		m.runs = append(m.runs, run{p, l.not})
	}
	return m.expression(true)
}

// reverse reverses an expression in place.
func reverse(t *syntax.Regexp) error {
	switch t.Op {
	case syntax.OpConcat:
		for i, j := 0, len(t.Sub)-1; i < j; i, j = i+1, j-1 {
			t.Sub[i], t.Sub[j] = t.Sub[j], t.Sub[i]
		}
	case syntax.OpLiteral:
		for i, j := 0, len(t.Rune)-1; i < j; i, j = i+1, j-1 {
			t.Rune[i], t.Rune[j] = t.Rune[j], t.Rune[i]
		}
	case syntax.OpBeginText:
		t.Op = syntax.OpEndText
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return errPlace
	}
	for _, sub := range t.Sub {
		if err := reverse(sub); err != nil {
			return err
		}
	}
	return nil
}

func compile(pattern string) (*syntax.Prog, error) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	return syntax.Compile(tree.Simplify())
}
