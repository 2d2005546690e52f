package importer

import (
	"encoding/json"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
)

// call is a call of a tool with one field.
func call(tool, field, value, said string) Call {
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
	_ = e.Encode(input) // strings always can
	return Call{Tool: tool, Input: strings.TrimSuffix(text.String(), "\n"), Said: said}
}

// CommandCall is a call of the shell.
func CommandCall(command, said string) Call { return call("Bash", "command", command, said) }

// SampleCall is a call whose field has a text in which an expression is found; ok is
// false where none is seen at once.
func SampleCall(tool, field, pattern, said string) (c Call, ok bool) {
	text := sample(pattern)
	return call(tool, field, text, said), text != ""
}

// sample is a text in which an expression is found, "" where none is seen at once.
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

// write writes the shortest text that an expression may mean.
func write(b *strings.Builder, t *syntax.Regexp) {
	switch t.Op {
	case syntax.OpLiteral:
		b.WriteString(string(t.Rune))
	case syntax.OpCharClass:
		if len(t.Rune) > 0 { // a class may be empty, and matches nothing then
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

// letterOf is a character of a class, a plain one if there is one.
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
