package bash

import (
	"slices"
	"strings"

	"cardea.dev"
)

// This file is about variables from outside of the line. Tokens and passwords
// stand in the environment, and "echo $TOKEN" shows one as well as env does. So
// a line that expands one has no part of which everything is known, whichever
// way the value goes from there.

// errorsMayShow reports a part without effect that may still print a value, in an
// error: ${x:?$TOKEN}, [ "$TOKEN" -gt 0 ].
func errorsMayShow(p *cardea.Part) bool {
	if strings.Contains(p.Text, "?") {
		return true
	}
	if len(p.Argv) > 0 && !slices.Contains([]string{":", "true", "false", "test", "["}, p.Argv[0].Text) {
		// exit "$TOKEN" tells what it was passed.
		return slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return !w.Static })
	}
	if words := strings.Fields(p.Text); len(p.Argv) == 0 && len(words) > 0 {
		// zsh prints the value of a name that is declared, and of an option that it does not know.
		return slices.Contains([]string{"typeset", "declare", "local", "integer", "float"}, words[0]) || words[0] == "[[" && slices.Contains(words, "-o")
	}
	compares := []string{"-eq", "-ne", "-gt", "-ge", "-lt", "-le", "-t"}
	return slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return slices.Contains(compares, w.Text) })
}
