package routes

import (
	"errors"
	"regexp/syntax"
	"strings"

	"cardea.dev/internal/command/lookaround"
)

var errBackreference = errors.New("a backreference, (?P=…)")

// translate converts a pattern of Python's re to RE2. It rewrites different spellings: \Z,
// \uXXXX, {,n}, comments, the flags a and u, and $, which in Python also matches before a
// last newline. It keeps lookarounds that [lookaround.Remove] can replace, and reports them
// as rewritten. Other constructs that RE2 lacks are an error; see hint.
func translate(pattern string) (text string, rewritten bool, err error) {
	var b strings.Builder
	multiline := strings.Contains(pattern, "(?m") || strings.Contains(pattern, "(?im") || strings.Contains(pattern, "(?sm")
	class := false
	for i := 0; i < len(pattern); i++ {
		rest := pattern[i:]
		switch {
		case rest[0] == '\\' && len(rest) > 1:
			n, out := escape(rest)
			b.WriteString(out)
			i += n - 1
		case class:
			class = rest[0] != ']'
			b.WriteByte(rest[0])
		case rest[0] == '[':
			// "]" first in a class is a member of it.
			n := 1
			if strings.HasPrefix(rest[n:], "^") {
				n++
			}
			if strings.HasPrefix(rest[n:], "]") {
				n++
			}
			b.WriteString(rest[:n])
			class = true
			i += n - 1
		case strings.HasPrefix(rest, "(?#"):
			end := strings.IndexByte(rest, ')')
			if end < 0 {
				return "", false, errors.New("a comment group without end")
			}
			i += end
		case strings.HasPrefix(rest, "(?P="):
			return "", false, errBackreference
		case strings.HasPrefix(rest, "(?a)"), strings.HasPrefix(rest, "(?u)"):
			i += len("(?a)") - 1
		case strings.HasPrefix(rest, "{,") && len(rest) > 2 && rest[2] >= '0' && rest[2] <= '9':
			b.WriteString("{0,")
			i++
		case rest[0] == '$' && !multiline:
			b.WriteString(`(?:\n?\z)`)
		default:
			b.WriteByte(rest[0])
		}
	}
	return runnable(b.String())
}

// runnable reports whether RE2 can run an expression. rewritten is set if its lookarounds
// must be removed first.
func runnable(out string) (text string, rewritten bool, err error) {
	_, err = syntax.Parse(out, syntax.Perl)
	if err != nil && lookaround.Has(out) {
		if failed := lookaround.Check(out); failed == nil {
			return out, true, nil
		}
	}
	return out, false, err
}

// escape translates the escape at the start of s, and returns the length of the escape.
func escape(s string) (int, string) {
	switch s[1] {
	case 'Z':
		return 2, `\z`
	case 'u':
		if len(s) >= 6 && hexadecimal(s[2:6]) {
			return 6, `\x{` + s[2:6] + `}`
		}
	case 'U':
		if len(s) >= 10 && hexadecimal(s[2:10]) {
			return 10, `\x{` + s[2:10] + `}`
		}
	}
	return 2, s[:2]
}

func hexadecimal(s string) bool {
	return strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// hint returns what to do about a pattern that RE2 cannot run.
func hint(err error) string {
	if errors.Is(err, errBackreference) {
		return "RE2 has no backreferences; write the text out"
	}
	var e *syntax.Error
	if !errors.As(err, &e) {
		return "see https://pkg.go.dev/regexp/syntax"
	}
	for _, look := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.HasPrefix(e.Expr, look) {
			return "RE2 has no lookahead and no lookbehind; match what must be there, or write a rule with flags and args"
		}
	}
	switch e.Code {
	case syntax.ErrInvalidEscape:
		return "RE2 has no backreferences; write the text out"
	case syntax.ErrInvalidPerlOp:
		return "RE2 does not know this group or flag; use (…), (?:…) or (?i)"
	case syntax.ErrInvalidRepeatSize:
		return "RE2 repeats at most 1000 times"
	}
	return "check brackets and escapes; in YAML, put patterns in single quotes"
}
