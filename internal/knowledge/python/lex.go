package python

import (
	"strings"
	"unicode/utf8"
)

// kind is what a token is.
type kind uint8

const (
	name kind = iota
	number
	text // a literal; its own text is what it stands for, where plain is set
	sign // an operator or a bracket, one character, or two with "=" behind it
	line // the end of a statement: a line or a semicolon
)

type token struct {
	kind kind
	text string
	// plain is set for a literal that stands for its text: no prefix but r, b and u, and no
	// backslash.
	plain bool
	// open is the index of the bracket around the token, -1 for none.
	open int
}

// lexer takes a script apart (docs.python.org/3/reference/lexical_analysis.html). What
// versions of Python read differently, and what it does not know, makes it fail.
type lexer struct {
	s      string
	at     int
	out    []token
	open   []int
	failed bool
}

// tokens are those of a script, with those in the braces of f-strings behind the string;
// false where the script is not surely read.
func tokens(script string) ([]token, bool) {
	if !utf8.ValidString(script) {
		return nil, false
	}
	l := lexer{s: script}
	l.add(line, "")
	for l.at < len(l.s) && !l.failed {
		l.next()
	}
	l.add(line, "")
	return l.out, !l.failed && len(l.open) == 0
}

func (l *lexer) add(k kind, s string) *token {
	open := -1
	if len(l.open) > 0 {
		open = l.open[len(l.open)-1]
	}
	l.out = append(l.out, token{kind: k, text: s, open: open})
	return &l.out[len(l.out)-1]
}

func (l *lexer) next() {
	c := l.s[l.at]
	switch {
	case c == ' ' || c == '\t':
		l.at++
	case c == '\n' || c == ';':
		if len(l.open) == 0 {
			l.add(line, "")
		}
		l.failed = c == ';' && len(l.open) > 0
		l.at++
	case c == '#':
		l.comment()
	case c == '\'' || c == '"':
		l.literal("")
	case isDigit(c) || c == '.' && l.at+1 < len(l.s) && isDigit(l.s[l.at+1]):
		l.number()
	case isName(c):
		l.word()
	default:
		l.sign(c)
	}
}

// comment skips up to the end of the line. A carriage return ends one, too, for Python.
func (l *lexer) comment() {
	for ; l.at < len(l.s) && l.s[l.at] != '\n'; l.at++ {
		l.failed = l.failed || isControl(l.s[l.at])
	}
}

func (l *lexer) word() {
	from := l.at
	for l.at < len(l.s) && (isName(l.s[l.at]) || isDigit(l.s[l.at])) {
		l.at++
	}
	word := l.s[from:l.at]
	if l.at < len(l.s) && (l.s[l.at] == '\'' || l.s[l.at] == '"') {
		l.literal(strings.ToLower(word))
		return
	}
	l.failed = l.failed || l.at < len(l.s) && l.s[l.at] >= utf8.RuneSelf // Python normalizes it
	l.add(name, word)
}

// number reads one. A name behind a point belongs to an attribute.
func (l *lexer) number() {
	from := l.at
	for l.at < len(l.s) && (isName(l.s[l.at]) || isDigit(l.s[l.at]) || l.s[l.at] == '.') {
		l.at++
	}
	word := l.s[from:l.at]
	point := strings.IndexByte(word, '.')
	l.failed = l.failed || strings.Count(word, ".") > 1 || point >= 0 && strings.Trim(word[point:], ".0123456789eE_jJ") != "" ||
		strings.Trim(word, ".0123456789abcdefxojABCDEFXOJ_") != ""
	l.add(number, word)
}

func (l *lexer) sign(c byte) {
	switch {
	case strings.IndexByte("([{", c) >= 0:
		l.add(sign, string(c))
		l.open = append(l.open, len(l.out)-1)
	case strings.IndexByte(")]}", c) >= 0:
		l.failed = len(l.open) == 0 || l.out[l.open[len(l.open)-1]].text != map[byte]string{')': "(", ']': "[", '}': "{"}[c]
		if !l.failed {
			l.open = l.open[:len(l.open)-1]
			l.add(sign, string(c))
		}
	case strings.HasPrefix(l.s[l.at:], "!="), strings.IndexByte("=<>:", c) >= 0 && strings.HasPrefix(l.s[l.at+1:], "="):
		l.add(sign, l.s[l.at:l.at+2])
		l.at++
	case strings.IndexByte("=<>:,.+-*/%&|^~", c) >= 0:
		l.add(sign, string(c))
	default: // decorators, line continuations, other alphabets, what Python does not know
		l.failed = true
	}
	l.at++
}

// literal reads a string with its prefix.
func (l *lexer) literal(prefix string) {
	if !strings.Contains(" r u b br rb f fr rf ", " "+prefix+" ") && prefix != "" {
		l.failed = true
		return
	}
	quote := l.s[l.at : l.at+1]
	if strings.HasPrefix(l.s[l.at:], strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	l.at += len(quote)
	from := l.at
	for !strings.HasPrefix(l.s[l.at:], quote) {
		switch {
		case l.at >= len(l.s), l.s[l.at] == '\n' && len(quote) == 1, isControl(l.s[l.at]):
			l.failed = true
			return
		case l.s[l.at] >= utf8.RuneSelf && strings.HasPrefix(l.s[l.at+1:], "\\"):
			l.failed = true // in another encoding, it may take the backslash with it
			return
		case l.s[l.at] == '\\':
			l.at++
		}
		l.at++
	}
	body := l.s[from:l.at]
	l.at += len(quote)
	formatted := strings.Contains(prefix, "f")
	l.add(text, body).plain = !formatted && !strings.Contains(body, "\\")
	if formatted {
		l.fields(body, quote[:1])
	}
}

// fields adds the tokens of the expressions in an f-string, as if they stood in parentheses.
func (l *lexer) fields(body, quote string) {
	for i := 0; i < len(body) && !l.failed; i++ {
		switch {
		case strings.HasPrefix(body[i:], "{{"), strings.HasPrefix(body[i:], "}}"):
			i++
		case body[i] == '}':
			l.failed = true
		case body[i] == '{':
			end := fieldEnd(body, i)
			if end < 0 || strings.ContainsAny(body[i:end], "\\#\n") || strings.Contains(body[i:end], quote) {
				l.failed = true // versions differ on what may stand there
				return
			}
			l.field(body[i+1:end], quote)
			i = end
		}
	}
}

// fieldEnd is where the field that begins at i ends, -1 for nowhere.
func fieldEnd(body string, i int) int {
	for depth := 0; i < len(body); i++ {
		switch body[i] {
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			if depth--; depth == 0 {
				if body[i] == '}' {
					return i
				}
				return -1
			}
		case '\'', '"': // a bracket in a text counts for nothing
			end := strings.IndexByte(body[i+1:], body[i])
			if end < 0 {
				return -1
			}
			i += 1 + end
		}
	}
	return -1
}

// field adds an expression, up to a conversion or a format behind a colon, and the fields in
// that format.
func (l *lexer) field(s, quote string) {
	inner := lexer{s: s}
	l.add(sign, "(")
	open := len(l.out) - 1
	for inner.at < len(inner.s) && !inner.failed {
		c := inner.s[inner.at]
		if len(inner.open) == 0 && (c == ':' || c == '!' && !strings.HasPrefix(inner.s[inner.at:], "!=")) {
			break
		}
		if c == '=' && strings.Trim(inner.s[inner.at:], "= ") == "" {
			inner.at = len(inner.s) // {x=}
			break
		}
		inner.next()
	}
	l.failed = l.failed || inner.failed || len(inner.open) > 0
	for _, t := range inner.out {
		t.open += open + 1
		l.failed = l.failed || t.kind == line
		l.out = append(l.out, t)
	}
	l.out = append(l.out, token{kind: sign, text: ")", open: open})
	rest := s[inner.at:]
	l.failed = l.failed || strings.Contains(rest, "{{") || strings.Contains(rest, "}}") // versions differ
	l.fields(rest, quote)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isName(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }

// isControl reports what Python may take for the end of a line, or refuses.
func isControl(c byte) bool { return c < ' ' && c != '\t' && c != '\n' || c == 0x7f }
