// Package texts computes how bash changes texts: quotes and escapes, the output of
// printf and echo, and expansions such as ${x%y}. It does not know variables.
package texts

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Piece is a part of a literal.
type Piece struct {
	Text   string
	Quoted bool // a backslash protects it
}

// Unescape removes the backslashes of an unquoted literal. The characters after them are
// quoted.
func Unescape(text string) (out []Piece) {
	plain := ""
	flush := func() {
		if plain != "" {
			out, plain = append(out, Piece{Text: plain}), ""
		}
	}
	for text != "" {
		before, after, escapes := strings.Cut(text, "\\")
		plain, text = plain+before, strings.TrimPrefix(after, "\n")
		if escapes && after == "" {
			plain += "\\"
		} else if escapes && after[0] != '\n' {
			flush()
			_, size := utf8.DecodeRuneInString(after)
			out, text = append(out, Piece{after[:size], true}), after[size:]
		}
	}
	flush()
	return out
}

// escapeLetters are the characters that a backslash changes, and escapedLetters their
// replacements.
const escapeLetters, escapedLetters = `abeEfnrtv\`, "\a\b\x1b\x1b\f\n\r\t\v\\"

// reader is the kind of text with escapes: the format of printf, echo -e and %b, or $'…'.
type reader uint8

const (
	format reader = iota
	echo
	ansiC
)

// ANSIC decodes the inside of $'…'. It returns false for escapes whose result depends
// on the shell or the locale, or cuts the string. The text is then roughly that of zsh.
func ANSIC(s string) (string, bool) {
	text, stops, exact := escaped(s, ansiC)
	return text, exact && !stops
}

// Escaped decodes the escapes that printf and echo -e know. If zero is set, octal
// numbers follow a zero. stops is set for \c, which ends the output. exact is set if
// bash certainly prints the text.
func Escaped(s string, zero bool) (text string, stops, exact bool) {
	if zero {
		return escaped(s, echo)
	}
	return escaped(s, format)
}

// escaped decodes the escapes of s as the reader by does. stops and exact are those of
// [Escaped].
func escaped(s string, by reader) (text string, stops, exact bool) {
	var b strings.Builder
	exact = true
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		letter := strings.IndexByte(escapeLetters, s[i])
		switch c := s[i]; {
		case letter >= 0:
			b.WriteByte(escapedLetters[letter])
		case c == 'c':
			return b.String(), true, exact
		case by != echo && (c == '"' || c == '\'' || c == '?'):
			b.WriteByte(c)
			exact = exact && (c == '"' || by == ansiC)
		case c == 'x', c == 'u', c == 'U', c >= '0' && c <= '7':
			rest := s[i:]
			if by == echo && c == '0' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '7' {
				i++
				rest = rest[1:]
			} else if by == echo && c >= '1' && c <= '7' {
				exact = false // bash's own echo does not change it
			}
			n, used := escapeNumber(rest)
			exact = exact && n > 0 && n <= 0x7f
			if used == 0 {
				b.WriteString(s[i-1 : i+1])
				continue
			}
			b.WriteRune(rune(n))
			i += used - 1
		default:
			if by == ansiC {
				exact = false // zsh drops the backslash, and knows \C-x and \M-x
			} else {
				b.WriteByte('\\')
			}
			b.WriteByte(c)
			exact = exact && c < 0x80
		}
	}
	return b.String(), false, exact
}

// escapeNumber reads \xHH, \uHHHH, \UHHHHHHHH and \NNN without the backslash. It returns
// the value, and the number of bytes read.
func escapeNumber(s string) (n, used int) {
	base, most, at := 16, 2, 1
	switch s[0] {
	case 'u':
		most = 4
	case 'U':
		most = 8
	case 'x':
		if strings.HasPrefix(s, "x{") {
			return 0, 0
		}
	default:
		base, most, at = 8, 3, 0
	}
	end := at
	for end < len(s) && end-at < most {
		d, err := strconv.ParseInt(s[end:end+1], base, 32)
		if err != nil {
			break
		}
		n = n*base + int(d)
		end++
	}
	if end == at {
		return 0, 0
	}
	return n, end
}

var unquote, unbrace, unhere = unescaper("$`\"\\"), unescaper("$`\"\\}"), unescaper("$`\\")

// unescaper returns a replacer that removes backslashes before the special characters,
// and those that join lines.
func unescaper(special string) *strings.Replacer {
	pairs := []string{"\\\n", ""}
	for _, c := range special {
		pairs = append(pairs, "\\"+string(c), string(c))
	}
	return strings.NewReplacer(pairs...)
}

// UnescapeQuoted removes the backslashes of text in double quotes.
func UnescapeQuoted(s string) string { return unquote.Replace(s) }

// UnescapeBraced removes the backslashes of text inside "${…}".
func UnescapeBraced(s string) string { return unbrace.Replace(s) }

// UnescapeHeredoc removes the backslashes of a here-document, where quotes are literal.
func UnescapeHeredoc(s string) string { return unhere.Replace(s) }
