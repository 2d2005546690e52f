package knowledge

import (
	"slices"
	"strings"

	"cardea.dev/internal/knowledge/form"
)

// perlScript reads a script of Perl that only computes and prints: each token in it is known, no
// name is one that is not listed, and nothing in a text or an expression is code (perlop(1),
// perlre(1) of 5.38).
type perlScript struct {
	scanner
	operand bool // a value stands in front: a slash divides
	closed  bool // a bracket or a word: what a slash is, nobody knows
}

// harmlessPerl reports whether a script of Perl surely does nothing but compute and print.
func harmlessPerl(text string) bool {
	p := perlScript{scanner: scanner{s: text}}
	for p.skip(); p.at < len(p.s); p.skip() {
		if !p.token() {
			return false
		}
	}
	return true
}

func (p *perlScript) token() bool {
	operand, closed := p.operand, p.closed
	p.operand, p.closed = true, false
	switch c := p.s[p.at]; {
	case p.next(`"`):
		return p.within('"', false)
	case p.next("'"):
		return !strings.Contains(p.run(func(c byte) bool { return c != '\'' }), `\`) && p.next("'")
	case isLetter(c):
		return p.word(p.run(isNameLetter), operand)
	case isDigit(c):
		return p.run(isNameLetter) != ""
	case c == '$' || c == '@' || c == '%' && !operand:
		if !p.variable() {
			return false
		}
		p.skip()
		return p.elements()
	case c == '/' && !operand:
		p.at++
		return p.within('/', true) && p.flags("gimsxo")
	case c == '/' && closed, c == '=' && (p.at == 0 || p.s[p.at-1] == '\n'):
		return false // a division or an expression, nobody knows; or text that is no code
	case c == ')' || c == ']' || c == '}':
		p.at, p.closed = p.at+1, true
		p.skip()
		return c == '}' || !p.next("(")
	}
	p.operand = false
	// Without a value in front "<" reads files, and "*" means a name. "-e" is a word behind a minus.
	for _, operator := range []string{"<=", "< ", "*"} {
		if p.next(operator) {
			return operand
		}
	}
	for _, operator := range []string{"&&", "||", "/", "+", "-", "%", "=", ">", "!", "~", "?", ":", ";", ",", ".", "(", "{", "["} {
		if p.next(operator) {
			return !(operator == ":" && p.next(":")) && !(operator == "-" && p.next(">"))
		}
	}
	return false
}

// word reads what begins with a name: an operator that quotes, or a listed word.
func (p *perlScript) word(name string, operand bool) bool {
	names, _ := WordsOf(form.LanguageCalls, "Perl that reads")
	before, _ := WordsOf(form.LanguageCalls, "Perl before a value")
	p.operand = !slices.Contains(before, name)
	p.closed = p.operand
	switch name {
	case "m", "qr":
		return p.quoting(false, 1)
	case "s":
		return p.quoting(false, 2)
	case "tr", "y":
		return p.quoting(true, 2)
	case "x":
		return operand // "-x" tests a file
	case "sort": // of a variable: it names what compares
		return !strings.HasPrefix(strings.TrimLeft(p.s[p.at:], " \t\n("), "$")
	}
	return !p.operand || slices.Contains(names, name)
}

// quoting reads the parts of an operator with its own delimiters.
func (p *perlScript) quoting(plain bool, parts int) bool {
	const open, ends = "/|!,#{", "/|!,#}"
	at := strings.IndexByte(open, (p.s + " ")[p.at])
	if at < 0 {
		return false
	}
	p.at++
	for n := range parts {
		if n > 0 && ends[at] == '}' {
			if p.skip(); !p.next("{") {
				return false
			}
		}
		first := p.at
		if plain {
			p.run(func(c byte) bool { return c != ends[at] && c != '\\' })
		}
		if plain && !p.next(ends[at:at+1]) || !plain && !p.within(ends[at], n == 0) || ends[at] == '}' && strings.Contains(p.s[first:p.at], "{") {
			return false
		}
	}
	p.operand, p.closed = true, false
	return p.flags("gimsxordc")
}

// flags takes the letters behind an expression. e would evaluate.
func (p *perlScript) flags(known string) bool {
	return strings.Trim(p.run(isNameLetter), known) == ""
}

// within reads a text or an expression up to its end.
func (p *perlScript) within(end byte, expression bool) bool {
	for p.at < len(p.s) {
		switch c := p.s[p.at]; {
		case c == end:
			p.at++
			return true
		case c == '\\':
			// \N{…} loads a module, and so may \p{…}; what \Q and its kin do to what follows is not looked at.
			if p.at += 2; p.at > len(p.s) || strings.IndexByte("NpPQULEF", p.s[p.at-1]) >= 0 {
				return false
			}
		case c == '$' && expression && p.at+1 < len(p.s) && (p.s[p.at+1] == end || p.s[p.at+1] == ')' || p.s[p.at+1] == '|'):
			p.at++
		case c == '$':
			if !p.variable() || p.at < len(p.s) && (p.s[p.at] == '[' || p.s[p.at] == '{') && (expression || !p.elements()) {
				return false
			}
			if rest := p.s[p.at:]; strings.HasPrefix(rest, "->") || strings.HasPrefix(rest, "::") || strings.HasPrefix(rest, "'") {
				return false
			}
		case c == '@', expression && c == '(' && !harmlessGroup(p.s[p.at+1:]), expression && c == '{' && end == '}':
			return false
		default:
			p.at++
		}
	}
	return false
}

// harmlessGroup reports whether a group of an expression is none with code: (?{…}), (??{…}),
// (*{…}).
func harmlessGroup(rest string) bool {
	if !strings.HasPrefix(rest, "?") {
		return !strings.HasPrefix(rest, "*")
	}
	return slices.ContainsFunc([]string{"?:", "?=", "?!", "?i)", "?i:", "?<"}, func(begin string) bool { return strings.HasPrefix(rest, begin) })
}

// variable reads a variable: one of the script, $_, a group of an expression, or the number of
// the line. Files to read, the environment and Perl's own folders are others.
func (p *perlScript) variable() bool {
	p.at++
	if p.s[p.at-1] == '$' && (p.next("&") || p.next(".")) {
		return true
	}
	p.next("#")
	name := p.run(isNameLetter)
	own, _ := WordsOf(form.LanguageCalls, "Perl's own variables")
	return name != "" && !slices.Contains(own, name) && !p.next("::") && !p.next("'")
}

// elements reads the places behind a variable: a number, a variable, or a plain word.
func (p *perlScript) elements() bool {
	found := false
	for p.at < len(p.s) && (p.s[p.at] == '[' || p.s[p.at] == '{') {
		end := map[byte]string{'[': "]", '{': "}"}[p.s[p.at]]
		p.at++
		p.next("-")
		if strings.HasPrefix(p.s[p.at:], "$") {
			if !p.variable() || !p.elements() {
				return false
			}
		} else if p.run(isNameLetter) == "" {
			return false
		}
		if found = p.next(end); !found {
			return false
		}
	}
	return !found || !strings.HasPrefix(strings.TrimLeft(p.s[p.at:], " \t\n"), "(") // a call
}
