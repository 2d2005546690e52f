package texts

import (
	"regexp"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Pattern is a pattern of an expansion, or the text that replaces it.
type Pattern struct {
	Text string
	// Known is set if the text is known. Plain is then set if every character except
	// wildcards is literal for bash.
	Known, Plain bool
}

// ASCII reports whether a text has printable ASCII characters only.
func ASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 || r < ' ' })
}

// Change returns the result of an expansion of value, or false if it cannot be computed.
func Change(p *syntax.ParamExp, value string, pattern, with *Pattern) (string, bool) {
	switch {
	case p.Slice != nil:
		return sliced(value, p.Slice)
	case p.Repl != nil:
		return replaced(value, p.Repl, pattern.Text, with.Text)
	}
	switch p.Exp.Op {
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		fits := wildcards("^", pattern.Text, "$")
		for n := range len(value) + 1 {
			if p.Exp.Op == syntax.RemLargePrefix || p.Exp.Op == syntax.RemSmallSuffix {
				n = len(value) - n
			}
			off, left := value[:n], value[n:]
			if p.Exp.Op == syntax.RemSmallSuffix || p.Exp.Op == syntax.RemLargeSuffix {
				off, left = left, off
			}
			if fits.MatchString(off) {
				return left, true
			}
		}
		return value, true
	case syntax.UpperAll, syntax.LowerAll, syntax.UpperFirst, syntax.LowerFirst:
		if pattern.Text != "" && pattern.Text != "?" {
			return "", false
		}
		n := len(value)
		if p.Exp.Op == syntax.UpperFirst || p.Exp.Op == syntax.LowerFirst {
			n = min(n, 1)
		}
		if p.Exp.Op == syntax.UpperAll || p.Exp.Op == syntax.UpperFirst {
			return strings.ToUpper(value[:n]) + value[n:], true
		}
		return strings.ToLower(value[:n]) + value[n:], true
	}
	return "", false
}

// LongestChanged is the length in bytes of the longest value that is matched with patterns.
const LongestChanged = 512

// replaced returns the result of ${x/y/z} and ${x//y/z}.
func replaced(value string, r *syntax.Replace, pattern, with string) (string, bool) {
	begin, end := "", ""
	if !r.All {
		if rest, anchored := strings.CutPrefix(pattern, "#"); anchored {
			begin, pattern = "^", rest
		} else if rest, anchored := strings.CutPrefix(pattern, "%"); anchored {
			end, pattern = "$", rest
		}
	}
	if pattern == "" || value == "" { // a star also matches nothing
		return "", false
	}
	fits := wildcards(begin, pattern, end)
	if r.All {
		return fits.ReplaceAllLiteralString(value, with), true
	}
	if at := fits.FindStringIndex(value); at != nil {
		value = value[:at[0]] + with + value[at[1]:]
	}
	return value, true
}

// sliced returns the result of ${x:1:2} with literal numbers.
func sliced(value string, s *syntax.Slice) (string, bool) {
	number := func(x syntax.ArithmExpr) (int, bool) {
		sign := 1
		if u, ok := x.(*syntax.UnaryArithm); ok && u.Op == syntax.Minus && !u.Post {
			sign, x = -1, u.X
		}
		word, ok := x.(*syntax.Word)
		if !ok || !Decimal(word.Lit()) {
			return 0, false
		}
		n, err := strconv.Atoi(word.Lit())
		return sign * n, err == nil
	}
	from, ok := number(s.Offset)
	if !ok {
		return "", false
	}
	if from < 0 {
		from += len(value)
	}
	if from < 0 || from > len(value) {
		return "", true
	}
	end := len(value)
	if s.Length != nil {
		n, ok := number(s.Length)
		switch {
		case !ok:
			return "", false
		case n < 0:
			end += n
		default:
			end = min(end, from+n)
		}
		if end < from {
			return "", false // an error
		}
	}
	return value[from:end], true
}

// Wildcard reports whether a pattern of * and ? matches all of a text.
func Wildcard(pattern, text string) bool { return wildcards("^", pattern, "$").MatchString(text) }

// wildcards returns an expression for the longest text that a pattern of * and ? matches.
func wildcards(begin, pattern, end string) *regexp.Regexp {
	expr := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(strings.ToValidUTF8(pattern, "?")))
	re := regexp.MustCompile("(?s)" + begin + expr + end)
	re.Longest()
	return re
}
