package grammar

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/command/bash/texts"
)

// Rejoined reports whether a piece that remains after brace expansion begins another
// expansion than the parser saw: a dollar before a name, or a longer name.
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

// joinLiterals joins adjacent literals into one, so that a tilde is read with the text
// after it.
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

// UnusualBraces reports whether word has braces that do not pair, an empty pair next to a
// list, or a sequence nested with others: bash and the parser differ there.
func UnusualBraces(word *syntax.Word) bool {
	var lits []string
	for i, p := range word.Parts {
		if pe, ok := p.(*syntax.ParamExp); ok && pe.Short && pe.Param != nil && pe.Param.Value == "$" && i+1 < len(word.Parts) {
			if lit, ok := word.Parts[i+1].(*syntax.Lit); ok && strings.HasPrefix(lit.Value, "{") {
				return true // $${ begins no list
			}
		}
		if lit, ok := p.(*syntax.Lit); ok {
			lits = append(lits, lit.Value)
		}
	}
	text, depth, within := strings.Join(lits, "\x00"), 0, false
	for _, c := range text {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		}
		within = within || depth > 1
	}
	sequence, empty := strings.Contains(text, ".."), strings.Contains(text, "{}") || strings.Contains(text, "\\")
	return strings.Contains(text, "{") && strings.Contains(text, "}") && (sequence || strings.Contains(text, ",")) && (depth != 0 || empty || within && sequence)
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

// BraceAlternatives returns the words that a word with brace expansions becomes. It
// returns false if there are too many, or if a sequence cannot be expanded.
func BraceAlternatives(word *syntax.Word) (out [][]syntax.WordPart, ok bool) {
	ok = alternatives(nil, word.Parts, &out)
	return out, ok
}

// alternatives appends to out each expansion of parts after left. It returns false if
// there are too many, or if a sequence cannot be expanded.
func alternatives(left, parts []syntax.WordPart, out *[][]syntax.WordPart) bool {
	at := slices.IndexFunc(parts, func(p syntax.WordPart) bool { _, is := p.(*syntax.BraceExp); return is })
	if at < 0 {
		*out = append(*out, joinLiterals(slices.Concat(left, parts)))
		return len(*out) <= maxBraces
	}
	brace, ok := parts[at].(*syntax.BraceExp)
	options := brace.Elems
	if brace.Sequence {
		options, ok = sequence(brace)
	}
	left = slices.Concat(left, parts[:at])
	return ok && !slices.ContainsFunc(options, func(o *syntax.Word) bool {
		return !alternatives(left, slices.Concat(o.Parts, parts[at+1:]), out)
	})
}

// sequence returns the words of a sequence of numbers without padding, or of letters of
// one case. It returns false for any other sequence.
func sequence(b *syntax.BraceExp) (out []*syntax.Word, ok bool) {
	begin, end, step := b.Elems[0].Lit(), b.Elems[1].Lit(), 1
	letters := texts.IsNameStart(begin[0]) && begin[0]&0x20 == end[0]&0x20
	from, to := int(begin[0]), int(end[0])
	if texts.Decimal(begin) && texts.Decimal(end) {
		from, _ = strconv.Atoi(begin)
		to, _ = strconv.Atoi(end)
	} else if !letters {
		return nil, false
	}
	if len(b.Elems) > 2 {
		n, _ := strconv.Atoi(b.Elems[2].Lit())
		step = max(n, -n, 1)
	}
	count := max(from-to, to-from)/step + 1
	if from > to {
		step = -step
	}
	for i := range min(count, maxBraces) {
		text := strconv.Itoa(from + i*step)
		if letters {
			text = string(rune(from + i*step))
		}
		out = append(out, &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: text}}})
	}
	return out, count <= maxBraces
}
