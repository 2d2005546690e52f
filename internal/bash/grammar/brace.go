package grammar

import (
	"strconv"
	"strings"

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

// JoinLiterals makes one literal of those that follow each other, so that a tilde
// is seen with what comes behind it.
func JoinLiterals(parts []syntax.WordPart) []syntax.WordPart {
	var out []syntax.WordPart
	for _, p := range parts {
		lit, ok := p.(*syntax.Lit)
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

// BraceAlternatives lists what a word with brace expansions becomes; false
// when that is too much.
func BraceAlternatives(parts []syntax.WordPart) ([][]syntax.WordPart, bool) {
	out := [][]syntax.WordPart{nil}
	for _, p := range parts {
		brace, ok := p.(*syntax.BraceExp)
		if !ok {
			for i := range out {
				if lit, ok := p.(*syntax.Lit); ok && lit.Value == "" {
					continue
				}
				out[i] = append(out[i][:len(out[i]):len(out[i])], p)
			}
			continue
		}
		options, ok := braceOptions(brace)
		if !ok || len(options)*len(out) > maxBraces {
			return nil, false
		}
		var next [][]syntax.WordPart
		for _, head := range out {
			for _, opt := range options {
				next = append(next, append(head[:len(head):len(head)], opt...))
			}
		}
		out = next
	}
	return out, true
}

func braceOptions(b *syntax.BraceExp) ([][]syntax.WordPart, bool) {
	if b.Sequence {
		return braceSequence(b)
	}
	var out [][]syntax.WordPart
	for _, e := range b.Elems {
		alts, ok := BraceAlternatives(e.Parts)
		if !ok || len(out)+len(alts) > maxBraces {
			return nil, false
		}
		out = append(out, alts...)
	}
	return out, true
}

func braceSequence(b *syntax.BraceExp) ([][]syntax.WordPart, bool) {
	ends := make([]string, len(b.Elems))
	for i, e := range b.Elems {
		ends[i] = e.Lit()
	}
	if len(ends) < 2 {
		return nil, false
	}
	from, to, step, char := 0, 0, 1, false
	var err1, err2 error
	from, err1 = strconv.Atoi(ends[0])
	to, err2 = strconv.Atoi(ends[1])
	if err1 != nil || err2 != nil {
		if len(ends[0]) != 1 || len(ends[1]) != 1 {
			return nil, false
		}
		from, to, char = int(ends[0][0]), int(ends[1][0]), true
	} else if leadingZero(ends[0]) || leadingZero(ends[1]) {
		return nil, false // padded to equal width; too rare to follow
	}
	if len(ends) > 2 {
		n, err := strconv.Atoi(ends[2])
		if err != nil {
			return nil, false
		}
		step = max(n, -n, 1)
	}
	if from > to {
		step = -step
	}
	var out [][]syntax.WordPart
	for i := from; (step > 0 && i <= to) || (step < 0 && i >= to); i += step {
		if len(out) >= maxBraces {
			return nil, false
		}
		text := strconv.Itoa(i)
		if char {
			text = string(rune(i))
			if strings.ContainsAny(text, "\\'\"`$") {
				return nil, false
			}
		}
		out = append(out, []syntax.WordPart{&syntax.Lit{Value: text}})
	}
	return out, true
}

func leadingZero(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return len(s) > 1 && s[0] == '0'
}
