package bash

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/bash/shell"
	"cardea.dev/internal/command/bash/texts"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
)

// param expands a parameter. Commands in it become parts. Text that bash would evaluate
// becomes a spot.
func (w *words) param(p *syntax.ParamExp, quoted bool) []fragment {
	src := w.source(p)
	raw := unsure(0)
	raw.split, raw.several = true, grammar.ManyFields(p)
	if p.Param != nil {
		raw.May = w.mayBe(p.Param.Value)
		if ifs, ok := w.ifs(); ok && p.Param.Value == "IFS" && ifs != "" {
			raw.May = []string{ifs[:1]} // the separator of the words
		}
	}
	if p.Param == nil || p.NestedParam != nil || p.Flags != nil || len(p.Modifiers) > 0 {
		w.unknown(unknown.ZshExpansion, src)
		return []fragment{raw}
	}
	name := p.Param.Value
	if p.Index != nil {
		w.subscript(p.Index)
	}
	if !p.Length && p.Names == 0 {
		w.noteOutside(name)
		w.readsVariable(name)
	}
	switch {
	case p.Excl:
		w.mayAbort()
		name, certain := w.standsFor(p, &raw)
		if certain {
			return w.plain(p, name, raw, quoted)
		}
		if p.Names == 0 && !grammar.ListsKeys(p) {
			w.unknown(unknown.Indirect, src)
		}
		return []fragment{raw}
	case p.Length:
		return []fragment{unsureQuoted(shell.Numeric | shell.NonEmpty)}
	case p.Width, p.IsSet:
		return []fragment{unsureQuoted(0)}
	case p.Slice != nil:
		if !grammar.PlainIndex(p.Slice.Offset) || !grammar.PlainIndex(p.Slice.Length) {
			w.mayAbort()
		}
		w.maybe(func() {
			w.arith(p.Slice.Offset)
			w.arith(p.Slice.Length)
		})
		return w.changed(p, raw, nil, nil)
	case p.Repl != nil:
		return w.changed(p, raw, w.pieces(p.Repl.Orig), w.pieces(p.Repl.With))
	case p.Exp != nil:
		return w.expansion(p, name, quoted, raw)
	}
	return w.plain(p, name, raw, quoted)
}

// plain expands $x, ${x}, ${a[i]} and the positional and special parameters.
func (w *words) plain(p *syntax.ParamExp, name string, raw fragment, quoted bool) []fragment {
	if p.Index != nil {
		return w.element(p, name, raw, quoted)
	}
	switch name {
	case "@", "*":
		if !w.cur.ParamsKnown {
			return []fragment{raw}
		}
		return w.listFrags(w.cur.Params, name == "*" && quoted, raw)
	case "#", "?", "$":
		return []fragment{unsureQuoted(shell.Numeric | shell.NonEmpty | shell.NoDash)}
	case "-":
		return []fragment{unsureQuoted(0)}
	case "!": // empty before anything ran in the background
		f := unsure(shell.Numeric | shell.NoDash)
		if f.quoted = quoted; w.begins {
			f.Shape |= shell.Process
		}
		return []fragment{f}
	case "0":
		if w.cur.Name != "" {
			return []fragment{expanded(w.cur.Name)}
		}
		return []fragment{raw}
	}
	if n, err := strconv.Atoi(name); err == nil {
		if !w.cur.ParamsKnown {
			return []fragment{raw}
		}
		if n >= 1 && n <= len(w.cur.Params) {
			return []fragment{expanded(w.cur.Params[n-1])}
		}
		return nil
	}
	switch v := w.lookup(name); {
	case v.Known():
		return []fragment{expanded(v.Text)}
	case v.IsUnset():
		return nil
	case v.IsArray():
		return anyOf(v.May, raw, quoted)
	case !v.IsUntouched():
		if v.Has(shell.Process) && (knowledge.IsVariableOf("integer", name) || knowledge.IsVariableOf("special", name)) { // ERRNO changes by itself
			v.Shape &^= shell.Process
		}
		return []fragment{w.ofKnownForm(v, raw, quoted)}
	}
	return []fragment{raw}
}

// ofKnownForm expands a variable that may be known to be one word, or digits.
func (w *words) ofKnownForm(v shell.Value, raw fragment, quoted bool) fragment {
	switch {
	case !w.splitsAtBlanks():
	case v.Has(shell.Numeric | shell.NoDash):
		f := unsure(v.Shape & (shell.Numeric | shell.NoDash | shell.Process))
		f.quoted = quoted
		return f
	case v.Has(shell.PlainWord):
		return unsure(v.Shape, v.May...)
	case v.Has(shell.Evaluable):
		raw.Shape |= shell.Evaluable
	case v.Has(shell.Numeric): // or nothing
		raw.split, raw.Shape = false, raw.Shape|shell.OneWordOrNone|shell.Numeric
	}
	return raw
}

// listFrags expands a list. Each element is a field of its own. If joined is set, all
// are one field, separated by the first character of IFS.
func (w *words) listFrags(list []string, joined bool, raw fragment) []fragment {
	if joined {
		ifs, ok := w.ifs()
		if !ok {
			return []fragment{raw}
		}
		_, size := utf8.DecodeRuneInString(ifs)
		return []fragment{unquoted(strings.Join(list, ifs[:size]))}
	}
	if len(list) == 0 {
		return []fragment{{kind: noField}}
	}
	if w.used.words += len(list); w.used.words > maxWords {
		w.unknown(unknown.TooManyWords, w.src)
		return []fragment{raw}
	}
	var out []fragment
	for i, s := range list {
		if i > 0 {
			out = append(out, fragment{kind: fieldEnd})
		}
		out = append(out, expanded(s))
	}
	return out
}

// element expands ${a[i]} of an array that the line has set.
func (w *words) element(p *syntax.ParamExp, name string, raw fragment, quoted bool) []fragment {
	v := w.lookup(name)
	word, ok := p.Index.(*syntax.Word)
	if !v.IsArray() || !ok {
		if name == "PIPESTATUS" && w.cur.Vars.Get(name).IsUntouched() && w.cur.Forgotten.None() {
			raw.Shape |= shell.Numeric
		}
		return []fragment{raw}
	}
	switch index := word.Lit(); index {
	case "@":
		return w.listFrags(v.May, false, raw)
	case "*":
		return w.listFrags(v.May, quoted, raw)
	default:
		if n, err := strconv.Atoi(index); err == nil && n >= 0 && texts.Decimal(index) { // 010 is 8
			return anyOf(append(v.May[:len(v.May):len(v.May)], ""), raw, quoted)
		}
	}
	return []fragment{raw}
}

// expansion expands ${x:-word} and the other forms with a word.
func (w *words) expansion(p *syntax.ParamExp, name string, quoted bool, raw fragment) []fragment {
	op := p.Exp.Op
	assigns, fails := op == syntax.AssignUnset || op == syntax.AssignUnsetOrNull, op == syntax.ErrorUnset || op == syntax.ErrorUnsetOrNull
	alternate := op == syntax.AlternateUnset || op == syntax.AlternateUnsetOrNull
	if op == syntax.OtherParamOps || fails || assigns && !texts.PlainName(name) {
		w.mayAbort()
	}
	if op == syntax.OtherParamOps {
		if l := p.Exp.Word.Lit(); l == "P" || l == "A" || l == "a" {
			w.unknown(unknown.PromptExpansion, w.source(p))
		}
		w.walkWord(p.Exp.Word)
		return []fragment{raw}
	}
	if !assigns && !fails && !alternate && op != syntax.DefaultUnset && op != syntax.DefaultUnsetOrNull {
		return w.changed(p, raw, w.pieces(p.Exp.Word), nil)
	}
	missing, sure := w.missing(p, name)
	var other []fragment
	w.maybe(func() { other = w.otherWord(p, quoted) })
	switch {
	case !sure && fails:
		return []fragment{raw}
	case !sure:
		raw.May = w.bounded(append(raw.May[:len(raw.May):len(raw.May)], w.mayJoin(optional(other))...))
		if assigns {
			w.assignDefault(p, name, w.someOf(raw.May))
		} else {
			raw.several = raw.several || severalFields(other)
		}
		return []fragment{raw}
	case missing && (fails || alternate): // if it fails, the shell stops with an error
		return nil
	case missing && assigns:
		w.assignDefault(p, name, concatenated(other))
	case missing, alternate:
		return other
	}
	return w.plain(p, name, raw, quoted)
}

// assignDefault makes the assignment of ${x:=word}. It is only certain in a word of ":".
func (w *words) assignDefault(p *syntax.ParamExp, name string, v shell.Value) {
	old := w.cur.Vars.Get(name)
	w.set(name, v)
	if w.failing || !w.cmd.colon || p.Index != nil {
		w.cur.Vars.Set(name, shell.Join(old, w.cur.Vars.Get(name)))
	}
}

// missing reports whether a parameter is unset, or empty if its expansion treats that as
// unset, and whether this is certain.
func (w *words) missing(p *syntax.ParamExp, name string) (missing, sure bool) {
	v := w.lookup(name)
	missing = !v.Known() && !v.IsArray()
	switch p.Exp.Op {
	case syntax.DefaultUnsetOrNull, syntax.AlternateUnsetOrNull, syntax.AssignUnsetOrNull, syntax.ErrorUnsetOrNull:
		missing = missing || v.Known() && v.Text == ""
	}
	return missing, (v.Known() || v.IsUnset()) && p.Index == nil && texts.PlainName(name)
}

// otherWord expands the word of ${x:-word}.
func (w *words) otherWord(p *syntax.ParamExp, quoted bool) []fragment {
	if p.Exp.Word == nil {
		return nil
	}
	if quoted {
		out := w.quotedText(p.Exp.Word.Parts, texts.UnescapeBraced)
		if slices.ContainsFunc(out, func(f fragment) bool { return f.kind == noField }) { // a word may remain, or none
			return []fragment{severalUnknown()}
		}
		return out
	}
	out := w.fragments(p.Exp.Word.Parts, leading)
	for i := range out {
		out[i].split = out[i].split || !out[i].quoted
	}
	return out
}

// walkWord walks the commands in a word whose value is not needed.
func (w *words) walkWord(word *syntax.Word) {
	if word != nil {
		w.fragments(word.Parts, nowhere)
	}
}

// pieces expands the word of a pattern.
func (w *words) pieces(word *syntax.Word) *texts.Pattern {
	if word == nil {
		return &texts.Pattern{Known: true, Plain: true}
	}
	lit := word.Lit()
	plain := len(word.Parts) == 1 && lit != "" && !strings.ContainsAny(lit, "\\~&[]!@+()'\"$`{}#%") && texts.ASCII(lit)
	var v shell.Value
	w.maybe(func() { v = concatenated(w.fragments(word.Parts, leading)) })
	return &texts.Pattern{Text: v.Text, Known: v.Known(), Plain: plain}
}

// changed expands a parameter with a change to its value. A known value that bash
// certainly changes in one way stays known.
func (w *words) changed(p *syntax.ParamExp, raw fragment, pattern, with *texts.Pattern) []fragment {
	if pattern != nil && !pattern.Known || with != nil && !with.Known {
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

// standsFor returns the variable that ${!x} reads, if x is known to hold a name. It adds
// the values that x may name to the possible texts of raw.
func (w *words) standsFor(p *syntax.ParamExp, raw *fragment) (string, bool) {
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
	if !v.Known() || !texts.PlainName(v.Text) || w.cur.Attributes[v.Text]&grammar.Unusual != 0 {
		return "", false
	}
	w.noteOutside(v.Text)
	return v.Text, true
}
