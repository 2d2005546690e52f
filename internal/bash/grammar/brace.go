package grammar

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/bash/texts"
)

// Rejoined reports whether a piece that braces leave begins another expansion
// than the parser saw: a dollar before a name, a name that goes on.
func Rejoined(parts []syntax.WordPart) bool {
	for i, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.Contains(p.Value, "$") {
				return true
			}
		case *syntax.ParamExp:
			if i+1 == len(parts) || !p.Short {
				continue
			}
			if next, ok := parts[i+1].(*syntax.Lit); ok && next.Value != "" && (texts.PlainName("_"+next.Value[:1]) || next.Value[0] == '[') {
				return true
			}
		}
	}
	return false
}

// joinLiterals makes one literal of those that follow each other, so that a tilde
// is seen with what comes behind it.
func joinLiterals(parts []syntax.WordPart) []syntax.WordPart {
	var out []syntax.WordPart
	for _, p := range parts {
		lit, ok := p.(*syntax.Lit)
		if ok && lit.Value == "" {
			continue
		}
		if ok && len(out) > 0 {
			if last, ok := out[len(out)-1].(*syntax.Lit); ok {
				out[len(out)-1] = &syntax.Lit{ValuePos: last.ValuePos, ValueEnd: lit.ValueEnd, Value: last.Value + lit.Value}
				continue
			}
		}
		out = append(out, p)
	}
	return out
}

// OddBraces reports braces that do not pair, an empty pair beside a list, and
// a sequence around or within others: there bash and the parser differ.
func OddBraces(word *syntax.Word) bool {
	open, shut, list, empty, within, sequence := 0, 0, false, false, false, false
	for i, p := range word.Parts {
		if pe, ok := p.(*syntax.ParamExp); ok && pe.Short && pe.Param != nil && pe.Param.Value == "$" && i+1 < len(word.Parts) {
			if lit, ok := word.Parts[i+1].(*syntax.Lit); ok && strings.HasPrefix(lit.Value, "{") {
				return true // $${ begins no list
			}
		}
		if lit, ok := p.(*syntax.Lit); ok {
			for _, c := range lit.Value {
				switch c {
				case '{':
					open++
				case '}':
					shut++
				}
				within = within || open-shut > 1
			}
			sequence = sequence || strings.Contains(lit.Value, "..")
			list = list || strings.Contains(lit.Value, ",") || strings.Contains(lit.Value, "..")
			empty = empty || strings.Contains(lit.Value, "{}") || strings.Contains(lit.Value, "\\")
		}
	}
	return open > 0 && shut > 0 && list && (open != shut || empty || within && sequence)
}

// BracesWithin reports whether an expansion or a quoted part of a word holds
// braces: bash and the parser then disagree on where a brace expansion ends.
func BracesWithin(text string, word *syntax.Word) bool {
	for _, p := range word.Parts {
		if _, ok := p.(*syntax.Lit); ok {
			continue
		}
		src := Source(text, p)
		if pe, ok := p.(*syntax.ParamExp); ok && !pe.Short {
			src = strings.TrimSuffix(strings.TrimPrefix(src, "${"), "}")
		}
		if strings.ContainsAny(src, "{}") {
			return true
		}
	}
	return false
}

// BraceAlternatives lists what a word with brace expansions becomes; false when that is too
// much, or not followed: numbers that are padded, and letters with other characters between.
func BraceAlternatives(word *syntax.Word) (out [][]syntax.WordPart, ok bool) {
	if !followed(word) {
		return nil, false
	}
	for w, err := range expand.BracesSeq(nil, word) {
		if err != nil || len(out) == maxBraces {
			return nil, false
		}
		out = append(out, joinLiterals(w.Parts))
	}
	return out, true
}

// followed reports a word whose sequences are numbers without padding, or letters of one case.
func followed(word *syntax.Word) bool {
	return !slices.ContainsFunc(word.Parts, func(p syntax.WordPart) bool {
		b, is := p.(*syntax.BraceExp)
		if !is || !b.Sequence {
			return is && slices.ContainsFunc(b.Elems, func(e *syntax.Word) bool { return !followed(e) })
		}
		from, to := b.Elems[0].Lit(), b.Elems[1].Lit()
		return !(texts.Decimal(from) && texts.Decimal(to) || texts.IsNameStart(from[0]) && from[0]&0x20 == to[0]&0x20)
	})
}
