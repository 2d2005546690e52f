package bash

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// This file computes the expansions that change the value of a variable, as bash does:
// ${x%y}, ${x#y}, ${x/y/z}, ${x^^}, ${x,,}, ${x:1:2}.

// piece is a pattern, or a text that is put in.
type piece struct {
	text string
	// known is set where the text is known. Then plain is set where no character of it
	// means anything to bash but itself, wildcards aside.
	known, plain bool
}

// pieces expands the word of a pattern.
func (w *walker) pieces(word *syntax.Word) *piece {
	if word == nil {
		return &piece{known: true, plain: true}
	}
	lit := word.Lit()
	plain := len(word.Parts) == 1 && lit != "" && !strings.ContainsAny(lit, "\\~&[]!@+()'\"$`{}#%") && ascii(lit)
	v := joinFrags(w.frags(word.Parts, leading))
	return &piece{v.text, v.kind == known, plain}
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 || r < ' ' })
}

// changed expands a parameter whose value is changed on the way. What bash certainly
// makes of a value that is known is certain.
func (w *walker) changed(p *syntax.ParamExp, raw []frag, pattern, with *piece) []frag {
	if pattern != nil && !pattern.known || with != nil && !with.known {
		raw[0].may = nil
		return raw
	}
	v := w.lookup(p.Param.Value)
	if v.kind == known && !w.shell.ignoresCase && p.Index == nil && plainName(p.Param.Value) && len(v.text) <= longestChanged && ascii(v.text) && (pattern == nil || pattern.plain) && (with == nil || with.plain) {
		if text, ok := change(p, v.text, pattern, with); ok {
			return []frag{{text: text, split: true}}
		}
	}
	var may []string
	for _, text := range raw[0].may {
		if len(text) > longestChanged {
			continue
		}
		w.used.words += len(text) * len(text) / 1024
		if text, ok := change(p, text, pattern, with); ok {
			may = append(may, text)
		}
	}
	raw[0].may = w.bounded(may)
	return raw
}

// change is what an expansion makes of a value; false where that is not computed.
func change(p *syntax.ParamExp, value string, pattern, with *piece) (string, bool) {
	switch {
	case p.Slice != nil:
		return sliced(value, p.Slice)
	case p.Repl != nil:
		return replaced(value, p.Repl, pattern.text, with.text)
	}
	switch p.Exp.Op {
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		for n := range len(value) + 1 {
			if p.Exp.Op == syntax.RemLargePrefix || p.Exp.Op == syntax.RemSmallSuffix {
				n = len(value) - n
			}
			off, left := value[:n], value[n:]
			if p.Exp.Op == syntax.RemSmallSuffix || p.Exp.Op == syntax.RemLargeSuffix {
				off, left = left, off
			}
			if wildcard(pattern.text, off) {
				return left, true
			}
		}
		return value, true
	case syntax.UpperAll, syntax.LowerAll, syntax.UpperFirst, syntax.LowerFirst:
		if pattern.text != "" && pattern.text != "?" {
			return "", false
		}
		n := len(value)
		if p.Exp.Op == syntax.UpperFirst || p.Exp.Op == syntax.LowerFirst {
			n = min(n, 1)
		}
		if p.Exp.Op == syntax.UpperAll || p.Exp.Op == syntax.UpperFirst {
			return strings.ToUpper(value[:n]) + value[n:], true
		}
		return strings.ToLower(value[:n]) + value[n:], true
	}
	return "", false
}

// longestChanged bounds the values that are matched with patterns.
const longestChanged = 512

// replaced is ${x/y/z} and ${x//y/z}.
func replaced(value string, r *syntax.Replace, pattern, with string) (string, bool) {
	anchor := byte(0)
	if !r.All && pattern != "" && (pattern[0] == '#' || pattern[0] == '%') {
		anchor, pattern = pattern[0], pattern[1:]
	}
	if pattern == "" || value == "" { // a star fits nothing, too
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(value); {
		end := -1
		for n := len(value); n > i; n-- { // the longest counts
			if (anchor != '%' || n == len(value)) && wildcard(pattern, value[i:n]) {
				end = n
				break
			}
		}
		switch {
		case end < 0 && anchor == '#':
			return value, true
		case end < 0:
			b.WriteByte(value[i])
			i++
			continue
		}
		b.WriteString(with)
		if i = end; !r.All {
			b.WriteString(value[i:])
			break
		}
	}
	return b.String(), true
}

// sliced is ${x:1:2}, with numbers that are written out.
func sliced(value string, s *syntax.Slice) (string, bool) {
	number := func(x syntax.ArithmExpr) (int, bool) {
		sign := 1
		if u, ok := x.(*syntax.UnaryArithm); ok && u.Op == syntax.Minus && !u.Post {
			sign, x = -1, u.X
		}
		word, ok := x.(*syntax.Word)
		if !ok || !decimal(word.Lit()) {
			return 0, false
		}
		n, err := strconv.Atoi(word.Lit())
		return sign * n, err == nil
	}
	from, ok := number(s.Offset)
	if !ok {
		return "", false
	}
	if from < 0 {
		from += len(value)
	}
	if from < 0 || from > len(value) {
		return "", true
	}
	end := len(value)
	if s.Length != nil {
		n, ok := number(s.Length)
		switch {
		case !ok:
			return "", false
		case n < 0:
			end += n
		default:
			end = min(end, from+n)
		}
		if end < from {
			return "", false // an error
		}
	}
	return value[from:end], true
}

// wildcard reports whether a pattern of * and ? matches all of a text.
func wildcard(pattern, text string) bool {
	p, t, star, again := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, again = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case star >= 0:
			again++
			p, t = star+1, again
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// standsFor is the variable that ${!x} reads, where x is known to hold a name. What x may
// hold is added to what the expansion may be.
func (w *walker) standsFor(p *syntax.ParamExp, raw []frag) (string, bool) {
	name := p.Param.Value
	if !plainName(name) || p.Index != nil || p.Exp != nil || p.Repl != nil || p.Slice != nil || p.Names != 0 {
		return "", false
	}
	var may []string
	for _, other := range w.mayBe(name) {
		if plainName(other) {
			may = append(may, w.mayBe(other)...)
		}
	}
	raw[0].may = w.bounded(may)
	v := w.lookup(name)
	if v.kind != known || !plainName(v.text) || w.shell.traits[v.text]&odd != 0 {
		return "", false
	}
	w.noteOutside(v.text)
	return v.text, true
}
