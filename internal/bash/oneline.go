package bash

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// OneLine is a command as bash reads it, in one line where that can be: without
// comments, with one space between words and "; " between commands. Texts in quotes
// and here-documents stay as they are. It reports false for what cannot be parsed.
func OneLine(command string) (string, bool) {
	if len(command) > maxText || nesting(command) >= maxNesting {
		return "", false
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return "", false
	}
	var b strings.Builder
	if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, f); err != nil {
		return "", false
	}
	return strings.TrimSpace(b.String()), true
}
