package bash

import (
	"slices"
	"strings"

	"cardea.dev"
)

// This file handles variables from outside the line. Tokens and passwords are in the
// environment, and "echo $TOKEN" shows one as well as env does. A line that expands such
// a variable therefore has no completely known part, whichever way the value takes.

// errorsMayShow reports whether a part without effect may still print a value in an
// error: ${x:?$TOKEN}, [ "$TOKEN" -gt 0 ].
func errorsMayShow(p *cardea.Part) bool {
	if strings.Contains(p.Text, "?") {
		return true
	}
	if len(p.Argv) > 0 && !slices.Contains([]string{":", "true", "false", "test", "["}, p.Argv[0].Text) {
		// The error of exit "$TOKEN" shows the value.
		return slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return !w.Static })
	}
	if words := strings.Fields(p.Text); len(p.Argv) == 0 && len(words) > 0 {
		// zsh prints the value of a declared name, and of an unknown option.
		return slices.Contains([]string{"typeset", "declare", "local", "integer", "float"}, words[0]) || words[0] == "[[" && slices.Contains(words, "-o")
	}
	compares := []string{"-eq", "-ne", "-gt", "-ge", "-lt", "-le", "-t"}
	return slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return slices.Contains(compares, w.Text) })
}
