package grammar

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/command/bash/texts"
)

// Literal returns the text of a word in which nothing is expanded, or false for any other word.
func Literal(word *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, p := range word.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			for _, piece := range texts.Unescape(p.Value) {
				b.WriteString(piece.Text)
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar {
				return "", false
			}
			for _, q := range p.Parts {
				lit, ok := q.(*syntax.Lit)
				if !ok {
					return "", false
				}
				b.WriteString(texts.UnescapeQuoted(lit.Value))
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// quotedAlone reports whether a word certainly stays one word.
func quotedAlone(word *syntax.Word) bool {
	if _, ok := Literal(word); ok {
		return !strings.Contains(word.Lit(), "{")
	}
	_, quoted := Only[*syntax.SglQuoted](word)
	return quoted
}

// IsNumber reports whether a word certainly becomes a number.
func IsNumber(word *syntax.Word) bool {
	_, ok := Only[*syntax.ArithmExp](word)
	return ok || texts.PlainNumber(word.Lit())
}

// Only returns the one part of a word if it is of type T, else false.
func Only[T syntax.WordPart](word *syntax.Word) (part T, ok bool) {
	if word != nil && len(word.Parts) == 1 {
		part, ok = word.Parts[0].(T)
	}
	return part, ok
}

// Unexpanded returns the text of an unquoted word in which bash expands nothing, or
// false for any other word.
func Unexpanded(word *syntax.Word) (string, bool) {
	lit, ok := Only[*syntax.Lit](word)
	if !ok || strings.ContainsAny(lit.Value, "\\{}~*?[$") {
		return "", false
	}
	return lit.Value, true
}

// AssignmentLike splits NAME=value, as bash does for words that look like assignments in
// any place.
func AssignmentLike(text string) (name, val string, ok bool) {
	i := strings.IndexByte(text, '=') + 1
	if i == 0 || !texts.PlainName(strings.TrimSuffix(text[:i-1], "+")) {
		return "", "", false
	}
	return text[:i], text[i:], true
}

// PlainIndex reports whether an index, offset or length is a literal, or absent.
func PlainIndex(x syntax.ArithmExpr) bool {
	word, ok := x.(*syntax.Word)
	return x == nil || ok && (texts.Decimal(word.Lit()) && word.Lit()[0] != '-' || word.Lit() == "@" || word.Lit() == "*")
}
