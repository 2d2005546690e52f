package bash

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/knowledge"
	"cardea.dev/internal/knowledge/form"
)

// This file finds what zsh reads in another way than bash does: either may run the line
// (zshexpn(1), zshmisc(1), zshbuiltins(1)).

// zshForm reports a dollar at an offset that begins an expansion in zsh alone: $=x, $^x, $~x, $+x.
func zshForm(text string, i int) bool {
	after := text[i+1:]
	name := strings.TrimLeft(after, "=^~+")
	begins := after[:len(after)-len(name)]
	slashes := len(text[:i]) - len(strings.TrimRight(text[:i], `\`))
	return (slashes%2 == 0 || strings.Contains(text[:i], "`")) && (strings.Trim(begins, "+") != "" ||
		begins != "" && name != "" && (isNameByte(name[0]) || strings.IndexByte("{(@*#?!$-", name[0]) >= 0))
}

// zshModifiers are the letters that change a value after a colon, or precede such a letter.
const zshModifiers = "aAcehlpPqQrstux&gfFwW"

// zshParam looks at an expansion whose end zsh finds elsewhere, or whose name it knows.
func (w *walker) zshParam(p *syntax.ParamExp) {
	src, reason := w.source(p), ""
	if p.Param == nil || !strings.HasPrefix(src, "$") { // a name in arithmetic
		return
	}
	name, after := p.Param.Value, w.src[min(int(p.End().Offset()), len(w.src)):]
	if p.Slice != nil {
		_, after, _ = strings.Cut(src, name)
		after = after[max(strings.IndexByte(after, ':'), 0):]
	}
	next := func(of string) bool { return after != "" && strings.IndexByte(of, after[0]) >= 0 }
	switch {
	case knowledge.IsVariableOf("special", name):
		reason = "a variable that zsh sets itself"
	case (p.Short || p.Slice != nil) && len(after) > 1 && after[0] == ':' && (strings.IndexByte(zshModifiers, after[1]) >= 0 || strings.HasPrefix(after[1:], "\\\n")):
		reason = "a letter after the colon changes the value in zsh"
	case !p.Short:
	case next("["), p.Index != nil, strings.HasPrefix(after, "\\\n"), strings.HasSuffix(src, "\\"): // or on the next line
		reason = "$x[…] is a subscript in zsh"
	case name == "#" && after != "" && (isNameByte(after[0]) || next("*-?@$")):
		reason = "$#x is a length in zsh"
	case len(name) == 1 && name[0] <= '9' && name[0] >= '0' && next("0123456789"):
		reason = "a parameter of several digits in zsh"
	}
	if reason != "" {
		w.opaqueLine(src, cardea.OpaqueZsh, reason)
	}
}

// anyOf is an array without an index, or with a number as one, of which zsh gives all of the items,
// or counts from 1.
func anyOf(list []string, unknown []frag, quoted bool) []frag {
	if len(list) == 1 {
		return []frag{{text: list[0], split: true}}
	}
	unknown[0].may, unknown[0].many = list, !quoted
	return unknown[:min(len(list), 1)]
}

// zshNames reports a name after a tilde that is a variable to zsh, if the shell has it: one of
// the line or, in capital letters, of the environment. Numbers are places on the stack of folders.
func (w *walker) zshNames(name string) bool {
	return name != "" && strings.Trim(name, "+-0123456789") == "" ||
		plainName(name) && (w.lookup(name).kind != outside || strings.ContainsAny(name, "_ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
}

const zshFolder = "~name is the value of a variable in zsh, and ~- another folder"

// number looks at a word that zsh evaluates as arithmetic: only one that is a number, or empty,
// for certain is harmless.
func (w *walker) number(f field) {
	text := strings.TrimLeft(f.Text, "+-")
	code := text != "" && (text[0] == '\'' || text[0] == '"') && !strings.Contains(text, "[") // printf %d "'A"
	if !f.Number && !(f.Static && (code || strings.Trim(text, "0123456789.") == "" || plainNumber(text))) {
		w.spot(f.Text, cardea.OpaqueEvaluated, "zsh evaluates the word as arithmetic, which can execute a command in a subscript")
	}
}

// numberWords looks at the words of a builtin that zsh evaluates, and bash does not: all, those
// that a format says, or those after an option. That of read -p is one for a coprocess.
func (w *walker) numberWords(name string, words []field) {
	options, _ := knowledge.WordsOf(form.CountsIn, name)
	if slices.Contains(options, "every") {
		for _, f := range words {
			w.number(f)
		}
		return
	}
	if slices.Contains(options, "%") {
		w.formatNumbers(withoutDashes(words))
		return
	}
	for i, f := range words[:max(len(words)-1, 0)] {
		next := words[i+1]
		named := strings.FieldsFunc(next.Text, func(r rune) bool { return r >= 0x80 || !isNameByte(byte(r)) })
		is := slices.ContainsFunc(options, func(o string) bool {
			return f.Static && next.Text != "]" && strings.HasPrefix(f.Text, "-") && strings.HasSuffix(f.Text, o[1:]) && (o != "-p" || strings.Contains(w.src, "coproc"))
		})
		if is || len(options) > 0 && !f.Static && f.MayBeOption && next.Static && slices.ContainsFunc(named, func(name string) bool { return !evaluatesSafely(w.cur.vars.get(name)) }) {
			w.number(next)
		}
	}
}

// formatNumbers looks at the arguments of printf that its format takes for numbers: behind one
// that may be several words, or none, all of them. A format that is not known is a spot of its own.
func (w *walker) formatNumbers(words []field) {
	if len(words) > 1 && words[0].Text == "-v" {
		words = withoutDashes(words[2:])
	}
	if len(words) < 2 || !words[0].Static {
		return
	}
	var takes []bool // which of the arguments are numbers
	for _, directive := range strings.Split(strings.ReplaceAll(words[0].Text, "%%", ""), "%")[1:] {
		verb := strings.TrimLeft(directive, "-+ #0123456789.*'hlLjzt$")
		flags := directive[:len(directive)-len(verb)]
		takes = append(takes, slices.Repeat([]bool{true}, strings.Count(flags, "*"))...)
		takes = append(takes, verb == "" || strings.IndexByte("csbq(", verb[0]) < 0)
	}
	unsure := strings.Contains(words[0].Text, "$") // %2$d
	for i, f := range words[1:] {
		unsure = unsure || f.MaySplit
		if slices.Contains(takes, true) && (unsure || takes[i%len(takes)]) {
			w.number(f)
		}
	}
}
