package texts

import (
	"slices"
	"strings"
)

// Escaped takes the escapes off that printf and echo -e know: octal numbers behind a
// zero where zero is set. It reports \c, which ends the output, and whether that is what
// bash prints for certain.
func Escaped(s string, zero bool) (text string, stops, exact bool) {
	if !strings.Contains(s, `\`) {
		return s, false, true
	}
	var b strings.Builder
	exact = true
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; {
		case strings.IndexByte(escapeLetters, c) >= 0:
			b.WriteByte(escapedLetters[strings.IndexByte(escapeLetters, c)])
		case c == 'c':
			return b.String(), true, exact
		case c == '"' && !zero, c == '\'' && !zero, c == '?' && !zero:
			b.WriteByte(c)
			exact = exact && c == '"'
		case c == 'x', c == 'u', c == 'U', c >= '0' && c <= '7':
			rest := s[i:]
			if zero && c == '0' && len(rest) > 1 && rest[1] >= '0' && rest[1] <= '7' {
				i++
				rest = rest[1:]
			} else if zero && c >= '1' && c <= '7' {
				exact = false // bash's own echo leaves it as it is
			}
			n, used := escapeNumber(rest)
			if used == 0 || n == 0 || n > 0x7f {
				exact = false
			}
			if used == 0 {
				b.WriteString(s[i-1 : i+1])
				continue
			}
			b.WriteRune(rune(n))
			i += used - 1
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
			exact = exact && c < 0x80
		}
	}
	return b.String(), false, exact
}

// Printf is what printf prints with a format and its arguments, and whether that is
// certain. The format is used again as long as arguments are left.
func Printf(words []string) (string, bool) {
	for len(words) > 1 && words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return "", false
	}
	format, args, exact := words[0], words[1:], true
	var b strings.Builder
	for {
		before := len(args)
		for rest := format; rest != ""; {
			i := strings.IndexByte(rest, '%')
			if i < 0 {
				i = len(rest)
			}
			text, stops, ok := Escaped(rest[:i], false)
			b.WriteString(text)
			exact = exact && ok
			if stops {
				return b.String(), false
			}
			if rest = rest[i:]; rest == "" {
				break
			}
			n, sure := directive(&b, rest, &args)
			if exact = exact && sure; n == 0 {
				return b.String(), exact
			}
			rest = rest[n:]
		}
		if len(args) == 0 || len(args) == before || b.Len() > MaxText {
			return b.String(), exact && b.Len() <= MaxText
		}
	}
}

// directive prints what a text begins with that stands for an argument of printf, and
// says how long it is; 0 where nothing is printed behind it.
func directive(b *strings.Builder, text string, args *[]string) (size int, exact bool) {
	n := 1
	for n < len(text) && strings.IndexByte("-+ #0123456789.*'hljzt", text[n]) >= 0 {
		n++
	}
	if n == len(text) {
		return 0, false
	}
	verb := text[n]
	if verb == '%' {
		b.WriteByte('%')
		return n + 1, n == 1
	}
	arg := ""
	if len(*args) > 0 {
		arg, *args = (*args)[0], (*args)[1:]
	}
	switch verb {
	case 'b':
		plain, stops, ok := Escaped(arg, true)
		b.WriteString(plain)
		if ok = ok && n == 1 && !strings.ContainsAny(arg, `"'?`); stops {
			return 0, ok
		}
		return n + 1, ok
	case 'd':
		exact = Decimal(arg)
	case 's':
		exact = true
	}
	b.WriteString(arg)
	return n + 1, exact && n == 1
}

// Unquoted is a word without the quotes around it.
func Unquoted(s string) string {
	s = strings.TrimPrefix(s, "$'")
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		if s[0] == '"' {
			return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\$`, `$`).Replace(s[1 : len(s)-1])
		}
		return s[1 : len(s)-1]
	}
	return strings.TrimSuffix(s, "'")
}

// CountsOutput reports a format of printf with %n, which sets the variable that
// its argument names.
func CountsOutput(format string) bool {
	return slices.ContainsFunc(strings.Split(format, "%")[1:], func(directive string) bool {
		return strings.HasPrefix(strings.TrimLeft(directive, "-+ #0123456789.*'hlLqjzt"), "n")
	})
}
