package bash

import (
	"slices"
	"strings"

	"cardea.dev/internal/command/bash/texts"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// number checks a word that zsh evaluates as arithmetic: only a certain number, or an
// empty word, is harmless.
func (w *words) number(f field) {
	text := strings.TrimLeft(f.Text, "+-")
	code := text != "" && (text[0] == '\'' || text[0] == '"') && !strings.Contains(text, "[") // printf %d "'A"
	if !f.Number && !(f.Static && (code || strings.Trim(text, "0123456789.") == "" || texts.PlainNumber(text))) {
		w.unknown(unknown.ZshEvaluated, f.Text)
	}
}

// numberWords checks the words of a builtin that zsh evaluates and bash does not: all words,
// those of a format, or those after an option. The option -p of read is one for a coprocess.
func (w *words) numberWords(name string, words []field) {
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
		named := strings.FieldsFunc(next.Text, func(r rune) bool { return r >= 0x80 || !texts.IsNameByte(byte(r)) })
		is := slices.ContainsFunc(options, func(o string) bool {
			return f.Static && next.Text != "]" && strings.HasPrefix(f.Text, "-") && strings.HasSuffix(f.Text, o[1:]) && (o != "-p" || strings.Contains(w.src, "coproc"))
		})
		if is || len(options) > 0 && !f.Static && f.MayBeOption && next.Static && slices.ContainsFunc(named, func(name string) bool { return !w.cur.Vars.Get(name).Evaluable() }) {
			w.number(next)
		}
	}
}

// formatNumbers checks the arguments of printf that its format reads as numbers, or all
// arguments after one that may be several words or none. An unknown format has a spot of
// its own.
func (w *words) formatNumbers(words []field) {
	if len(words) > 1 && words[0].Text == "-v" {
		words = withoutDashes(words[2:])
	}
	if len(words) < 2 || !words[0].Static {
		return
	}
	if texts.SpellsPercent(words[0].Text) {
		w.unknown(unknown.ZshEvaluated, words[0].Text)
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

// codeWords walks the words that a builtin runs: mapfile -C, history -s, compgen -W.
func (w *words) codeWords(inv invocation) {
	name := inv.argv[0].Text
	w.numberWords(name, inv.argv[1:])
	places, _ := knowledge.WordsOf(form.RunsWordsOf, name)
	for i, f := range inv.argv[1:] {
		if len(places) == 0 || !strings.HasPrefix(f.Text, "-") {
			continue
		}
		for at := range f.Text[1:] {
			option, rest := "-"+f.Text[1+at:2+at], append(attached(f, 2+at), inv.argv[i+2:]...)
			if len(rest) == 0 {
				break
			}
			texts := w.mayHold(rest[0])
			if slices.Contains(places, option+"*") {
				all, _ := spelled(rest)
				texts = append(texts, all)
			} else if slices.Contains(places, option+"$") {
				texts = substitutedIn(strings.Join(texts, "\n"))
			} else if !slices.Contains(places, option) {
				continue
			}
			for _, text := range texts {
				w.runsCode(name, text)
			}
		}
	}
}
