package importer

import (
	"encoding/json"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
)

// call returns a call of a tool with one field.
func call(tool, field, value, said string) TrialCall {
	input := map[string]string{field: value}
	switch tool {
	case "Write":
		input["content"] = "x"
	case "Edit":
		input["old_string"], input["new_string"] = "x", "y"
	case "NotebookEdit":
		input["new_source"] = "x"
	}
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	_ = e.Encode(input) // strings never fail
	return TrialCall{Tool: tool, Input: strings.TrimSuffix(text.String(), "\n"), Said: said}
}

// CommandCall returns a call of the shell.
func CommandCall(command, said string) TrialCall { return call("Bash", "command", command, said) }

// SampleCall returns a call whose field matches a pattern. ok is false if no simple match
// is found.
func SampleCall(tool, field, pattern, said string) (c TrialCall, ok bool) {
	text := sample(pattern)
	return call(tool, field, text, said), text != ""
}

// sample returns a text that matches a pattern, "" if no simple one is found.
func sample(pattern string) string {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return ""
	}
	re, err := regexp.Compile("(?i)" + pattern)
	if err != nil {
		return ""
	}
	var b strings.Builder
	write(&b, tree)
	text := b.String()
	if !re.MatchString(text) || strings.ContainsFunc(text, unicode.IsControl) || strings.TrimSpace(text) == "" {
		return ""
	}
	return text
}

// write writes the shortest text that t may match.
func write(b *strings.Builder, t *syntax.Regexp) {
	switch t.Op {
	case syntax.OpLiteral:
		b.WriteString(string(t.Rune))
	case syntax.OpCharClass:
		if len(t.Rune) > 0 { // an empty class matches nothing
			b.WriteRune(letterOf(t.Rune))
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('x')
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
		for _, sub := range t.Sub {
			write(b, sub)
		}
	case syntax.OpAlternate:
		write(b, t.Sub[0])
	case syntax.OpRepeat:
		for range min(t.Min, 20) {
			write(b, t.Sub[0])
		}
	}
}

// letterOf returns a character of a class, an ordinary one if possible.
func letterOf(ranges []rune) rune {
	for _, c := range "x0 /a-." {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= c && c <= ranges[i+1] {
				return c
			}
		}
	}
	return ranges[0]
}
