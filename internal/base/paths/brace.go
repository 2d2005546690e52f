package paths

import "strings"

// maxAlternatives is how many texts braces may stand for.
const maxAlternatives = 64

// Alternatives are the texts that braces with alternatives stand for. Where there are too
// many, the braces may stand for anything.
func Alternatives(glob string) []string {
	out := []string{""}
	for glob != "" {
		front, rest, found := strings.Cut(glob, "{")
		choices := []string{""}
		glob = ""
		if found {
			choices, glob = inBraces(rest)
		}
		if len(out)*len(choices) > maxAlternatives {
			choices = []string{"*"}
		}
		out = Joined(out, []string{front}, choices)
	}
	return out
}

// Joined are the texts that one of each of some lists make together.
func Joined(lists ...[]string) []string {
	out := []string{""}
	for _, list := range lists {
		var longer []string
		for _, begin := range out {
			for _, end := range list {
				longer = append(longer, begin+end)
			}
		}
		out = longer
	}
	return out
}

// inBraces reads what follows an opening brace: the alternatives, and what
// follows the closing one. Without one, anything may follow.
func inBraces(text string) (choices []string, rest string) {
	depth, from := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '{':
			depth++
		case c == '}' && depth > 0:
			depth--
		case c == '}', c == ',' && depth == 0:
			choices = append(choices, Alternatives(text[from:i])...)
			if from = i + 1; c == '}' {
				return choices, text[from:]
			}
		}
	}
	return []string{"*"}, ""
}
