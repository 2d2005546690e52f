package claudecode

import (
	"regexp"
	"strings"
)

// HookMatches reports whether a hook's matcher takes a value, such as a tool's
// name (hooks, "Matcher patterns"). nil, "" and "*" take everything; names,
// and lists of names with | or a comma, are compared whole; anything else is
// an unanchored regular expression. One that Go's syntax does not have is
// taken not to match, so that nobody relies on a hook which may not fire.
func HookMatches(matcher *string, value string) bool {
	if matcher == nil || *matcher == "" || *matcher == "*" {
		return true
	}
	if !isNameList(*matcher) {
		re, err := regexp.Compile(*matcher)
		return err == nil && re.MatchString(value)
	}
	for _, name := range strings.FieldsFunc(*matcher, func(r rune) bool { return r == '|' || r == ',' }) {
		if strings.TrimSpace(name) == value {
			return true
		}
	}
	return false
}

func isNameList(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_- ,|", r))
	}) < 0
}
