package grammar

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// needQuotes are the characters that a word may only have in quotes.
const needQuotes = " \t\n*?[|&;<>$`\"'\\(){}"

// PlainWords splits a command into words as a shell does: at blanks outside of quotes.
// Text that a shell would replace, such as $HOME or *.go, is an error. A last unquoted *
// stands for more words.
func PlainWords(text string) (words []string, err error) {
	for w, err := range syntax.NewParser().WordsSeq(strings.NewReader(text)) {
		if err != nil {
			return nil, fmt.Errorf("it is no command: %w", err)
		}
		word, ok := Literal(w)
		ok = ok && fixed(text, w)
		switch {
		case !ok && w.Lit() != "*":
			return nil, fmt.Errorf("the word %q is no plain word of a command; put it into quotes, or write a last * for more words", text[w.Pos().Offset():w.End().Offset()])
		case ok && word == "*":
			return nil, errors.New("a * in quotes cannot be told from one that stands for more words")
		case strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) }):
			return nil, fmt.Errorf("the word %q has a character that is not shown", word)
		}
		words = append(words, word)
	}
	return words, nil
}

// fixed reports whether a shell would replace nothing in a word.
func fixed(text string, word *syntax.Word) bool {
	return !slices.ContainsFunc(word.Parts, func(part syntax.WordPart) bool {
		switch part := part.(type) {
		case *syntax.Lit:
			return strings.ContainsAny(part.Value, needQuotes)
		case *syntax.DblQuoted:
			return strings.Contains(Source(text, part), "\\")
		}
		return false
	})
}

// Quoted returns words as text that PlainWords reads back.
func Quoted(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; w == "" || w != "*" && strings.ContainsAny(w, needQuotes) || strings.HasPrefix(w, "#") {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'"'"'`) + "'"
		}
	}
	return strings.Join(out, " ")
}
