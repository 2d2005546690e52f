package texts

import (
	"strings"
	"unicode/utf8"
)

// IsNameStart reports whether a byte may begin the name of a variable.
func IsNameStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// PlainName reports whether s is the name of a variable.
func PlainName(s string) bool {
	return s != "" && IsNameStart(s[0]) && !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf || !IsNameByte(byte(r)) })
}

// IsNameByte reports whether a byte may be in the name of a variable.
func IsNameByte(c byte) bool { return IsNameStart(c) || c >= '0' && c <= '9' }

// PlainNumber reports whether s is an integer constant of bash's arithmetic.
func PlainNumber(s string) bool {
	s = strings.TrimPrefix(strings.TrimSpace(s), "-")
	if strings.ContainsAny(s, "abcdefABCDEF") && !strings.ContainsAny(s, "#x") {
		return false
	}
	return s != "" && s[0] >= '0' && s[0] <= '9' && strings.Trim(s, "0123456789abcdefABCDEF#x") == ""
}

// Decimal reports whether s is a number that arithmetic does not change.
func Decimal(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return s == "0" || digits != "" && len(digits) < 18 && strings.Trim(digits, "0123456789") == "" && digits[0] != '0'
}

// HasGlob reports whether unquoted text is a pattern for file names.
func HasGlob(s string) bool {
	if strings.ContainsAny(s, "*?") {
		return true
	}
	i := strings.IndexByte(s, '[')
	return i >= 0 && strings.IndexByte(s[i:], ']') > 0
}

// WordBytes are the bytes of a plain word, such as the delimiter of a here-document.
const WordBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.!"

// MaxText is the size in bytes to which a word, or the output of a printf, may grow.
const MaxText = 1 << 16
