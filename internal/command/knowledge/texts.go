package knowledge

import (
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge/form"
	"cardea.dev/internal/command/mention"
)

// This file finds the words that are neither a command nor an unknown file: text for
// people, files whose access is known, and bundled options.

// wordUse is the known use of a word. Zero is unknown.
type wordUse uint8

const (
	_     wordUse = iota
	aText         // a subcommand, or text for people
	aFile         // a file whose access is known; code is not such a file
)

// described returns the use of each word whose meaning is known. unsure is set if an
// option is unknown, which may take any word as its value.
func (r *reader) described(unsure bool) []wordUse {
	out := make([]wordUse, len(r.argv))
	texts := r.texts(out)
	if !r.known {
		return out
	}
	for _, i := range r.levels {
		out[i] = aText
	}
	for i := 1; i < len(r.argv) && i < len(r.out.Command); i++ {
		if r.argv[i].Text == r.out.Command[i] && !strings.ContainsAny(r.argv[i].Text, "/.~") {
			out[i] = aText
		}
	}
	c := r.spec.Complete
	script := c != nil && c.ScriptLanguage != "" && r.sureScripts() // it names no file
	if script {
		texts = append(slices.Clip(texts), c.ScriptOptions...)
	}
	for _, o := range r.out.Options {
		what := aFile
		switch {
		case slices.Contains(texts, o.Name) && (strings.HasPrefix(r.argv[o.Word].Text, o.Name) || !strings.HasPrefix(r.argv[o.Word].Text, "--")):
			what = aText
		case unsure || !slices.ContainsFunc(r.spec.OptionAccesses, func(a form.NamedAccess) bool { return a.Name == o.Name }):
			continue
		}
		if out[o.Word] = what; o.Word+1 < len(r.argv) && !slices.Contains(r.operands, o.Word+1) && strings.HasSuffix(r.argv[o.Word+1].Text, o.Value) {
			out[o.Word+1] = what
		}
	}
	for _, i := range r.operands {
		switch k := r.spec.Operands; {
		case out[i] == aText:
		case script && i == r.operands[0] && r.spec.FirstOperand == form.None && !r.has(c.ScriptOptions):
			out[i] = aText
		case k == form.None && r.argv[i].Static && !strings.ContainsAny(r.argv[i].Text, "/.~ ="), r.elsewhere():
			out[i] = aText // a branch, a package, a target, or a file on another machine
		case slices.Contains(texts, r.out.Command[min(1, len(r.out.Command)-1)]):
			out[i] = aText
		case k == cardea.Network:
			if strings.Contains(r.argv[i].Text, "://") {
				out[i] = aText
			}
		case !unsure && k != form.None:
			out[i] = aFile
		}
	}
	return out
}

// texts marks in out the texts that a program certainly takes: the value of each option that
// always has one ("-m="), also only after the first words of the program ("run test* -t="), and
// with "*" all operands of several words. It returns the options and subcommands that may hold
// text. An option such as "!--config" makes the program run something else.
func (r *reader) texts(out []wordUse) (texts []string) {
	if len(r.out.Command) == 0 || !r.known && strings.Contains(r.argv[0].Text, "/") { // ./jest is another program
		return nil
	}
	texts, _ = WordsOf(form.TakesText, Unversioned(r.out.Command[0]))
	if slices.ContainsFunc(texts, r.changedBy) {
		return nil
	}
	extension := len(r.levels) == 0 && len(r.spec.Subcommands) > 0 // or an alias, which may do anything
	takes := func(i int, option string) bool {
		return slices.ContainsFunc(texts, func(t string) bool {
			last := strings.LastIndexByte(t, ' ')
			if last < 0 {
				return !extension && t == option && (r.ended == 0 || i < r.ended)
			}
			return slices.Contains(strings.Split(t[last+1:], "|"), option) && r.starts(strings.Split(t[:last], " "), i, texts)
		})
	}
	dashed := func(i int) bool { return strings.HasPrefix(r.argv[i].Text, "-") }
	file := func(value string) bool {
		return strings.HasPrefix(value, "@") && (!strings.Contains(value, " ") || Has(form.SendsOptionFiles, r.out.Command[0])) ||
			strings.HasPrefix(value, "file://") || strings.HasPrefix(value, "fileb://")
	}
	for i := 1; i < len(r.argv) && len(texts) > 0; i++ {
		switch option, value, joined := strings.Cut(r.argv[i].Text, "="); {
		case !r.argv[i].Static:
		case joined && takes(i, option+"=") && !file(value):
			out[i] = aText
		case !joined && i+1 < len(r.argv) && !r.argv[i+1].MaySplit && takes(i, option+"=") && !file(r.argv[i+1].Text):
			out[i], out[i+1] = aText, aText
			i++
		case takes(i, "*") && !dashed(i) && !dashed(i-1) && strings.Contains(option, " "):
			out[i] = aText
		}
	}
	if extension {
		texts = slices.DeleteFunc(slices.Clone(texts), func(t string) bool { return t[0] == '-' })
	}
	return texts
}

// changedBy reports whether an option of [form.TakesText] with a "!" may be among the words.
func (r *reader) changedBy(text string) bool {
	option, ok := strings.CutPrefix(text, "!")
	for i := 1; i < len(r.argv) && ok; i++ {
		f := r.argv[i]
		name, _, _ := strings.Cut(f.Text, "=")
		switch {
		case f.Static && (strings.HasPrefix(name, option) || abbreviates(name, option)),
			!f.Static && (f.MaySplit || strings.HasPrefix(f.Head, "-") || f.Head == "" && !strings.HasPrefix(r.argv[i-1].Text, "-")):
			return true
		}
	}
	return false
}

// starts reports whether the program's first words match words, "run test*", with only
// its "?" options before them. The word at i may follow "--" only if words end so. It
// may follow an option ("--test") only before the operands.
func (r *reader) starts(words []string, i int, texts []string) bool {
	one := func(list, word string) bool {
		return slices.ContainsFunc(strings.Split(list, "|"), func(w string) bool {
			return w == word || strings.HasSuffix(w, "*") && fits(word, w) && !strings.Contains(word, "/") && word[0] != '-'
		})
	}
	skipped := func(option string) bool {
		return slices.ContainsFunc(texts, func(t string) bool { return t[0] == '?' && one(t[1:], option) })
	}
	k := 1
	for _, w := range words {
		if w == "--" {
			return true
		}
		for k < i && r.argv[k].Static {
			name, _, joined := strings.Cut(r.argv[k].Text, "=")
			if value := skipped(name + "="); value && !joined {
				k++
			} else if !value && (joined || !skipped(name)) {
				break
			}
			k++
		}
		if k >= i || !r.argv[k].Static || r.argv[k].Text == "" || !one(w, r.argv[k].Text) {
			return false
		}
		k++
	}
	last := words[len(words)-1]
	return (r.ended == 0 || i < r.ended) && (last[0] != '-' || len(r.operands) == 0 || i < r.operands[0])
}

// withoutTexts returns the text of word i, or of the input if i is 0, without texts for
// people in it if the program runs it as code.
func (r *reader) withoutTexts(i int, text string) string {
	takes, ok := WordsOf(form.TakesCode, Unversioned(path.Base(r.argv[0].Text)))
	if !ok || !r.known || i > 0 && !r.argv[i].Static {
		return text
	}
	calls, _ := WordsOf(form.LanguageCalls, takes[0])
	option, value, joined := strings.Cut(text, "=")
	switch script := func(k int) bool { return r.argv[k].Text != "-" }; {
	case i > 0 && joined && slices.Contains(takes, option):
		return option + "=" + mention.WithoutTexts(value, takes[0], calls)
	case slices.Contains(takes, r.argv[max(i-1, 0)].Text), slices.Contains(takes, "*"), i == 0 && (takes[0] == "SQL" || !slices.ContainsFunc(r.operands, script)):
		return mention.WithoutTexts(text, takes[0], calls)
	}
	return text
}

// bundled reports whether the word at i consists of one-letter options, without a value. An
// unlisted option may take the rest as its value, but no bundle is as long as most names.
func (r *reader) bundled(i int) bool {
	letters := strings.TrimPrefix(r.argv[i].Text, "-")
	if !r.known || !r.argv[i].Static || len(letters) > longestBundle || strings.ContainsFunc(letters, func(c rune) bool { return c > 0x7f || !isLetter(byte(c)) }) {
		return false
	}
	for _, o := range r.out.Options {
		if o.Word == i && (o.Value == "" || !strings.HasSuffix(r.argv[i].Text, o.Value)) {
			letters = strings.ReplaceAll(letters, strings.TrimPrefix(o.Name, "-"), "")
		}
	}
	return letters == ""
}

// longestBundle is the maximum number of one-letter options in one word.
const longestBundle = 6
