package paths

import "strings"

// maxAlternatives is the maximum number of texts that braces may stand for.
const maxAlternatives = 64

// Alternatives returns the texts that a glob with braces stands for. Beyond
// maxAlternatives, "*" replaces the braces.
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

// Joined returns all concatenations of one text from each list.
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

// inBraces reads the text after an opening brace. It returns the alternatives and the text
// after the closing brace. Without a closing brace, it returns "*".
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
