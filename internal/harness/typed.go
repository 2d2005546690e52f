package harness

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// TypedCommand returns the words of a prompt that is a command for Cardea, such as "/cardea approve
// 1" or, from the plugin, "/cardea:approve 1". It returns nil for a prompt that is meant for the
// model.
//
// The hook uses it for prompts, and the analysis for texts that a tool may submit as a prompt.
func TypedCommand(prompt string) []string {
	rest, is := strings.CutPrefix(strings.TrimSpace(prompt), "/cardea")
	first, _ := utf8.DecodeRuneInString(rest)
	if !is || rest != "" && first != ':' && !unicode.IsSpace(first) {
		return nil
	}
	return append([]string{}, strings.Fields(strings.TrimPrefix(rest, ":"))...)
}
