package grammar

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// OneLine returns a command in one line where possible, as text for people: without
// comments, with one space between words and "; " between commands. Texts in quotes and
// here-documents stay unchanged. It returns false if the command cannot be parsed.
func OneLine(command string) (string, bool) {
	if !Limit(command).None() || strings.Contains(command, "\\\r\n") { // bash reads it in another way
		return "", false
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return "", false
	}
	var b strings.Builder
	for _, s := range f.Stmts {
		switch {
		case b.Len() == 0:
		case strings.HasSuffix(b.String(), "&"):
			b.WriteByte(' ')
		default:
			b.WriteString("; ")
		}
		// In one line, the printer moves a here-document out of the surrounding quotes.
		if err := syntax.NewPrinter(syntax.SingleLine(!has(s, isHereDocument))).Print(&b, s); err != nil {
			return "", false
		}
	}
	return opensBelow.ReplaceAllLiteralString(b.String(), "$("), true
}

// opensBelow matches the line break that the printer puts after the "$(" of a
// substitution with a here-document.
var opensBelow = regexp.MustCompile(`\$\(\n\t*`)

func isHereDocument(n syntax.Node) bool {
	r, ok := n.(*syntax.Redirect)
	return ok && r.Hdoc != nil
}
