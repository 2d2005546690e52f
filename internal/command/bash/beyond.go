package bash

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/knowledge"
)

// Limits of the analysis of a text that exceeds another limit.
const (
	maxPieces      = 400
	maxPieceWords  = 64   // of one piece
	maxPiecesWords = 2000 // of all
)

// lookBeyond adds what a text shows without its structure. Neither a limit ("rm -rf /"
// in 300 parentheses) nor a parser that reads less than bash then hides a denied
// command. Such lines are rare, and a piece need not be a command.
func (a *Analysis) lookBeyond(text string, env Env) {
	for _, piece := range candidates(text[:min(len(text), grammar.MaxText)]) {
		for word, rest, more := strings.Cut(piece, " "); a.misread && more && (strings.Contains(word, "=") || grammar.Reserved(word)); word, rest, more = strings.Cut(piece, " ") {
			piece = rest // x[0]=1 git push
		}
		found, _ := analyse(piece, env, creations{})
		for _, p := range found.Parts {
			same := func(q cardea.Part) bool { return q.Text == p.Text }
			if a.misread && (!knowledge.Known(p.Program()) || slices.ContainsFunc(a.Parts, same)) {
				continue // likely text
			}
			p.Start, p.Via = -1, append(p.Via, "a piece of the text")
			a.Parts = append(a.Parts, p)
		}
	}
}

// candidates returns the possible commands in a text. It cuts the text at every
// separator, once with quotes around text and once with quotes around scripts. Of
// repeated words, as in "eval eval eval", only the last is kept.
func candidates(text string) []string {
	var out []string
	seen, left := map[string]bool{}, maxPiecesWords
	for _, separators := range []string{";&|\n(){}`", ";&|\n(){}`'\""} {
		for piece := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
			if len(out) == maxPieces {
				return out
			}
			if seen[piece] {
				continue
			}
			seen[piece] = true
			words := lastOfEach(piece)
			if len(words) == 0 || len(words) > min(left, maxPieceWords) {
				continue
			}
			left -= len(words)
			out = append(out, strings.Join(words, " "))
		}
	}
	return out
}

// lastOfEach returns the words of a piece without quotes. Of equal words it keeps the last.
func lastOfEach(piece string) []string {
	var out []string
	seen := map[string]bool{}
	for _, word := range slices.Backward(strings.Fields(withoutQuotes.Replace(piece))) {
		if !seen[word] {
			seen[word] = true
			out = append(out, word)
		}
	}
	slices.Reverse(out)
	return out
}

// withoutQuotes removes the characters that quote, and the sign that negates.
var withoutQuotes = strings.NewReplacer(`'`, "", `"`, "", `\`, "", "!", "")
