package bash

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/bash/grammar"
	"cardea.dev/internal/bash/texts"
)

// This file computes the expansions that change the value of a variable, as bash does:
// ${x%y}, ${x#y}, ${x/y/z}, ${x^^}, ${x,,}, ${x:1:2}.

// pieces expands the word of a pattern.
func (w *walker) pieces(word *syntax.Word) *texts.Pattern {
	if word == nil {
		return &texts.Pattern{Known: true, Plain: true}
	}
	lit := word.Lit()
	plain := len(word.Parts) == 1 && lit != "" && !strings.ContainsAny(lit, "\\~&[]!@+()'\"$`{}#%") && texts.ASCII(lit)
	v := concatenated(w.fragments(word.Parts, leading))
	return &texts.Pattern{Text: v.Text, Known: v.Known(), Plain: plain}
}

// changed expands a parameter whose value is changed on the way. What bash certainly
// makes of a value that is known is certain.
func (w *walker) changed(p *syntax.ParamExp, raw fragment, pattern, with *texts.Pattern) []fragment {
	if pattern != nil && !pattern.Known || with != nil && !with.Known {
		raw.May = nil
		return []fragment{raw}
	}
	v := w.lookup(p.Param.Value)
	if v.Known() && !w.cur.IgnoresCase && p.Index == nil && texts.PlainName(p.Param.Value) && len(v.Text) <= texts.LongestChanged && texts.ASCII(v.Text) && (pattern == nil || pattern.Plain) && (with == nil || with.Plain) {
		if text, ok := texts.Change(p, v.Text, pattern, with); ok {
			return []fragment{expanded(text)}
		}
	}
	var may []string
	for _, text := range raw.May {
		if len(text) > texts.LongestChanged {
			continue
		}
		w.used.words += len(text) * len(text) / 1024
		if text, ok := texts.Change(p, text, pattern, with); ok {
			may = append(may, text)
		}
	}
	raw.May = w.bounded(may)
	return []fragment{raw}
}

// standsFor is the variable that ${!x} reads, where x is known to hold a name. What x may
// hold is added to what the expansion may be.
func (w *walker) standsFor(p *syntax.ParamExp, raw *fragment) (string, bool) {
	name := p.Param.Value
	if !texts.PlainName(name) || p.Index != nil || p.Exp != nil || p.Repl != nil || p.Slice != nil || p.Names != 0 {
		return "", false
	}
	var may []string
	for _, other := range w.mayBe(name) {
		if texts.PlainName(other) {
			may = append(may, w.mayBe(other)...)
		}
	}
	raw.May = w.bounded(may)
	v := w.lookup(name)
	if !v.Known() || !texts.PlainName(v.Text) || w.cur.Traits[v.Text]&grammar.Odd != 0 {
		return "", false
	}
	w.noteOutside(v.Text)
	return v.Text, true
}
