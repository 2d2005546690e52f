package bash

import (
	"slices"
	"strings"

	"cardea.dev/internal/bash/texts"
	"cardea.dev/internal/bash/unknown"
	"cardea.dev/internal/knowledge"
	"cardea.dev/internal/knowledge/form"
)

// This file finds what zsh reads in another way than bash does: either may run the line
// (zshexpn(1), zshmisc(1), zshbuiltins(1)).

// anyOf is an array without an index, or with a number as one, of which zsh gives all of the items,
// or counts from 1.
func anyOf(list []string, raw fragment, quoted bool) []fragment {
	if len(list) == 1 {
		return []fragment{expanded(list[0])}
	}
	if len(list) == 0 {
		return nil
	}
	raw.May, raw.several = list, !quoted
	return []fragment{raw}
}

// zshNames reports a name after a tilde that is a variable to zsh, if the shell has it: one of
// the line or, in capital letters, of the environment. Numbers are places on the stack of folders.
func (w *walker) zshNames(name string) bool {
	return name != "" && strings.Trim(name, "+-0123456789") == "" ||
		texts.PlainName(name) && (!w.lookup(name).IsUntouched() || strings.ContainsAny(name, "_ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
}

// number looks at a word that zsh evaluates as arithmetic: only one that is a number, or empty,
// for certain is harmless.
func (w *walker) number(f field) {
	text := strings.TrimLeft(f.Text, "+-")
	code := text != "" && (text[0] == '\'' || text[0] == '"') && !strings.Contains(text, "[") // printf %d "'A"
	if !f.Number && !(f.Static && (code || strings.Trim(text, "0123456789.") == "" || texts.PlainNumber(text))) {
		w.unknown(unknown.ZshEvaluated, f.Text)
	}
}

// numberWords looks at the words of a builtin that zsh evaluates, and bash does not: all, those
// that a format says, or those after an option. That of read -p is one for a coprocess.
func (w *walker) numberWords(name string, words []field) {
	if all, _ := knowledge.WordsOf(form.CountsIn, "every"); slices.Contains(all, name) {
		for _, f := range words {
			w.number(f)
		}
	}
	options, _ := knowledge.WordsOf(form.CountsIn, name)
	if slices.Contains(options, "%") {
		w.formatNumbers(withoutDashes(words))
		return
	}
	for i, f := range words[:max(len(words)-1, 0)] {
		next := words[i+1]
		named := strings.FieldsFunc(next.Text, func(r rune) bool { return r >= 0x80 || !texts.IsNameByte(byte(r)) })
		is := slices.ContainsFunc(options, func(o string) bool {
			return f.Static && next.Text != "]" && strings.HasPrefix(f.Text, "-") && strings.HasSuffix(f.Text, o[1:]) && (o != "-p" || strings.Contains(w.src, "coproc"))
		})
		if is || len(options) > 0 && !f.Static && f.MayBeOption && next.Static && slices.ContainsFunc(named, func(name string) bool { return !w.cur.Vars.Get(name).Evaluable() }) {
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
