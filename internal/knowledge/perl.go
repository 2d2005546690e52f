package knowledge

import (
	"slices"
	"strings"

	"cardea.dev/internal/knowledge/form"
)

// perlScript reads a script of a small part of Perl, in which it is known at every place what a
// letter or a slash means (perlop(1), perlre(1) of 5.38): statements that print, replace,
// count and leave, with conditions behind them. Everything else is refused.
//
//	print "$1 $2\n" if /(\w+)=(\w+)/; s/a/b/g; $n{$_}++; END { print "$_ $n{$_}\n" for sort keys %n }
type perlScript struct{ scanner }

// harmlessPerl reports whether a script of Perl surely does nothing but compute and print.
func harmlessPerl(text string) bool {
	p := perlScript{scanner{s: text}}
	return !strings.ContainsAny(text, "\r\v\f\x00") && !strings.Contains(text, "\n=") && p.statements() && p.at == len(p.s)
}

// statements reads statements up to the end, or up to a closing bracket.
func (p *perlScript) statements() bool {
	for {
		p.skip()
		switch {
		case p.at == len(p.s) || p.s[p.at] == '}':
			return true
		case p.next(";"):
			continue
		case p.name("END") || p.name("BEGIN"):
			if !p.sign("{") || !p.statements() || !p.sign("}") {
				return false
			}
			continue
		}
		if !p.action() || !p.modifier() {
			return false
		}
		if p.skip(); p.at < len(p.s) && p.s[p.at] != '}' && !p.next(";") {
			return false
		}
	}
}

// name takes a word as a whole.
func (p *perlScript) name(word string) bool {
	p.skip()
	rest := p.s[p.at:]
	return strings.HasPrefix(rest, word) && (len(rest) == len(word) || !isNameLetter(rest[len(word)]) && rest[len(word)] != ':' && rest[len(word)] != '\'') && p.next(word)
}

func (p *perlScript) oneOf(words ...string) bool { return slices.ContainsFunc(words, p.name) }

func (p *perlScript) sign(text string) bool { p.skip(); return p.next(text) }

// action reads what a statement does.
func (p *perlScript) action() bool {
	switch p.skip(); {
	case p.oneOf("next", "last", "chomp", "exit"):
		return true
	case p.name("print"):
		// Behind print and a variable stands an operator, or it is where to print.
		if p.sign("(") {
			return p.list() && p.sign(")") && p.ends()
		}
		return p.ends() || p.list()
	case p.next("++"):
		return p.variable()
	case !p.next("$"):
		return p.replacement()
	}
	p.at--
	switch {
	case !p.variable():
		return false
	case p.sign("++"):
		return true
	case p.sign("=~"):
		p.skip()
		return p.replacement()
	}
	for _, operator := range []string{"+=", "-=", ".=", "="} {
		if p.sign(operator) {
			return p.list()
		}
	}
	return false
}

// replacement reads s/…/…/ and tr/…/…/.
func (p *perlScript) replacement() bool {
	switch {
	case p.next("s/"), p.next("s|"), p.next("s#"), p.next("s,"), p.next("s!"):
		end := p.s[p.at-1]
		return p.expression(end) && p.text(end) && p.flags("gimsx")
	case p.next("s{"):
		return p.expression('}') && p.next("{") && p.text('}') && p.flags("gimsx")
	case p.next("tr/"), p.next("y/"):
		from := p.letters()
		return from && p.letters() && p.flags("cdsr")
	}
	return false
}

// ends reports whether a statement ends here, or a condition follows.
func (p *perlScript) ends() bool {
	q := *p
	q.skip()
	return q.at == len(q.s) || strings.IndexByte(";}", q.s[q.at]) >= 0 || q.oneOf("if", "unless", "for", "foreach")
}

// modifier reads the condition or the loop behind an action, where there is one.
func (p *perlScript) modifier() bool {
	switch {
	case p.oneOf("if", "unless"):
		return p.condition()
	case p.oneOf("for", "foreach"):
		p.name("reverse")
		p.name("sort")
		if p.oneOf("keys", "values") {
			return p.sign("%") && p.own()
		}
		return p.sign("@") && p.own()
	}
	return true
}

// condition reads comparisons, with brackets around all of it.
func (p *perlScript) condition() bool {
	if q := *p; q.sign("(") && q.condition() && q.sign(")") && q.ends() {
		*p = q
		return true
	}
	for {
		p.sign("!")
		if !p.comparison() {
			return false
		}
		if !p.sign("&&") && !p.sign("||") && !p.sign("...") && !p.sign("..") && !p.oneOf("and", "or") {
			return true
		}
	}
}

func (p *perlScript) comparison() bool {
	p.skip()
	rest := p.s[p.at:]
	if strings.HasPrefix(rest, "/") || len(rest) > 1 && rest[0] == 'm' && strings.IndexByte("/|#,!{", rest[1]) >= 0 {
		return p.match()
	}
	if !p.value() {
		return false
	}
	if p.sign("=~") || p.sign("!~") {
		return p.match()
	}
	for _, operator := range []string{"==", "!=", ">=", "<=", ">", "<"} {
		if p.sign(operator) {
			return p.value()
		}
	}
	return !p.oneOf("eq", "ne", "lt", "gt", "le", "ge") || p.value()
}

// match reads an expression with its flags.
func (p *perlScript) match() bool {
	switch p.skip(); {
	case p.next("m{"):
		return p.expression('}') && p.flags("gimsx")
	case p.next("/"), p.next("m/"), p.next("m|"), p.next("m#"), p.next("m,"), p.next("m!"):
		return p.expression(p.s[p.at-1]) && p.flags("gimsx")
	}
	return false
}

// list reads values with operators between them. Behind print and a variable, an operator without
// a blank behind it may begin what is printed to that file.
func (p *perlScript) list() bool {
	for {
		if !p.value() {
			return false
		}
		if p.skip(); p.at == len(p.s) || strings.IndexByte(",.+-*/", p.s[p.at]) < 0 {
			return p.ends() || strings.HasPrefix(p.s[p.at:], ")")
		}
		operator := p.s[p.at]
		if p.at++; operator == '.' && strings.HasPrefix(strings.TrimLeft(p.s[p.at:], "0123456789"), ".") || operator == '.' && p.at < len(p.s) && isDigit(p.s[p.at]) ||
			operator != '.' && operator != ',' && !strings.HasPrefix(p.s[p.at:], " ") {
			return false
		}
	}
}

// value reads a text, a number, a variable, or a function of one.
func (p *perlScript) value() bool {
	switch p.skip(); {
	case p.at == len(p.s):
		return false
	case p.next(`"`):
		return p.text('"')
	case p.next("'"):
		return !strings.Contains(p.run(func(c byte) bool { return c != '\'' }), `\`) && p.next("'")
	case isDigit(p.s[p.at]):
		p.run(isDigit)
		return p.at == len(p.s) || !isNameLetter(p.s[p.at]) && p.s[p.at] != '.' && p.s[p.at] != '\''
	case p.oneOf("length", "lc", "uc", "ucfirst", "lcfirst", "int", "abs"):
		return p.ends() || p.sign("(") && p.value() && p.sign(")")
	case p.name("join"):
		return p.sign("(") && p.value() && p.sign(",") && p.sign("@") && p.own() && p.sign(")")
	case p.next("@"):
		return p.own()
	}
	return p.variable()
}

// text reads a text in which variables are replaced.
func (p *perlScript) text(end byte) bool {
	for p.at < len(p.s) {
		switch c := p.s[p.at]; {
		case c == end:
			p.at++
			return true
		case c == '\\':
			// \N{…} loads a module; \1 is a group.
			if p.at += 2; p.at > len(p.s) || strings.IndexByte(`ntr0\"'/$@|#,!{}.*+?()[]-123456789`, p.s[p.at-1]) < 0 || end == '}' && strings.IndexByte("{}", p.s[p.at-1]) >= 0 {
				return false
			}
		case c == '$':
			if !p.variable() || p.at < len(p.s) && strings.IndexByte("[{'", p.s[p.at]) >= 0 || strings.HasPrefix(p.s[p.at:], "->") || strings.HasPrefix(p.s[p.at:], "::") {
				return false
			}
		case c == '@' || c == '{' && end == '}':
			return false
		default:
			p.at++
		}
	}
	return false
}

// expression reads a regular expression without variables and without code.
func (p *perlScript) expression(end byte) bool {
	for p.at < len(p.s) {
		switch c := p.s[p.at]; {
		case c == end:
			p.at++
			return true
		case c == '\\':
			// \N{…} loads a module, and so may \p{…}; what \Q and its kin do to what follows is not looked at.
			if p.at += 2; p.at > len(p.s) || strings.IndexByte("NpPQULEFgk", p.s[p.at-1]) >= 0 {
				return false
			}
		case c == '$': // the end of a line, and no variable
			if p.at++; p.at < len(p.s) && p.s[p.at] != end && strings.IndexByte(")|", p.s[p.at]) < 0 {
				return false
			}
		case c == '@' || c == '{' && end == '}' || c == '(' && !harmlessGroup(p.s[p.at+1:]):
			return false
		default:
			p.at++
		}
	}
	return false
}

// letters reads a part of tr/…/…/.
func (p *perlScript) letters() bool {
	return !strings.Contains(p.run(func(c byte) bool { return c != '/' }), `\`) && p.next("/")
}

// flags takes the letters behind an expression. e would evaluate.
func (p *perlScript) flags(known string) bool {
	return strings.Trim(p.run(isNameLetter), known) == ""
}

// harmlessGroup reports whether a group of an expression is none with code: (?{…}), (??{…}),
// (*{…}).
func harmlessGroup(rest string) bool {
	if !strings.HasPrefix(rest, "?") {
		return !strings.HasPrefix(rest, "*")
	}
	return slices.ContainsFunc([]string{"?:", "?=", "?!", "?i)", "?i:", "?<=", "?<!"}, func(begin string) bool { return strings.HasPrefix(rest, begin) })
}

// variable reads a scalar: one of the script, $_, a group, the number of the line, or an element
// of an array or a hash of the script's own. One of another variable may be a reference by name.
func (p *perlScript) variable() bool {
	switch {
	case p.next("$&"), p.next("$."):
		return true
	case !p.next("$"):
		return false
	case p.at < len(p.s) && isDigit(p.s[p.at]):
		return strings.Trim(p.run(isNameLetter), "123456789") == ""
	case !p.own():
		return false
	}
	switch {
	case p.next("["):
		p.next("-")
		return p.run(isDigit) != "" && p.next("]") && !strings.HasPrefix(p.s[p.at:], "[") && !strings.HasPrefix(p.s[p.at:], "{")
	case p.next("{"):
		if !p.next("$") {
			return false
		}
		if p.at < len(p.s) && isDigit(p.s[p.at]) {
			if strings.Trim(p.run(isNameLetter), "123456789") != "" {
				return false
			}
		} else if !p.own() {
			return false
		}
		return p.next("}") && !strings.HasPrefix(p.s[p.at:], "[") && !strings.HasPrefix(p.s[p.at:], "{")
	}
	return true
}

// own reads the name of a variable that is the script's own, or that of the line. Files to
// read, the environment and Perl's folders have other names.
func (p *perlScript) own() bool {
	name := p.run(isNameLetter)
	others, _ := WordsOf(form.LanguageCalls, "Perl's own variables")
	return name != "" && (isLetter(name[0])) && !slices.Contains(others, name) && !strings.HasPrefix(p.s[p.at:], "::") && !strings.HasPrefix(p.s[p.at:], "'")
}
