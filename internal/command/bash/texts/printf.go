package texts

import (
	"regexp"
	"strings"
	"sync"
)

// Printf returns the output of printf with a format and its arguments, and whether that
// is certain. The format is reused until no argument is left.
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

// directive prints the directive at the start of text with its arguments. It returns the
// length of the directive, or 0 if nothing is printed after it.
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

// Unquoted returns a word without the quotes around it.
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

// CountsOutput reports whether a format of printf has %n, which sets the variable that
// its argument names.
func CountsOutput(format string) bool { return countsOutput.MatchString(format) }

var countsOutput = regexp.MustCompile(`%[-+ #0-9.*'hlLqjzt]*n`)

// spellsPercent matches a percent sign written as \u0025 or \U00000025: zsh reads it as
// a percent sign, bash prints it.
var spellsPercent = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\\(?:u(?:0025|0?25(?:[^[:xdigit:]]|$))|U(?:00000025|0{0,5}25(?:[^[:xdigit:]]|$)))`)
})

// SpellsPercent reports whether a format has a percent sign that only zsh reads.
func SpellsPercent(format string) bool { return spellsPercent().MatchString(format) }
