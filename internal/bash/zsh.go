package bash

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/knowledge"
	"cardea.dev/internal/knowledge/form"
)

// This file finds what zsh reads in another way than bash does: zsh may run the lines, too
// (zshexpn(1), zshmisc(1), zshbuiltins(1)).

// zshCheck looks for expansions that zsh takes for other ones, wherever they stand in a script.
func (w *walker) zshCheck(file []*syntax.Stmt) {
	var visit func(n syntax.Node) bool
	visit = func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SglQuoted:
			return false
		case *syntax.Redirect:
			if n.Hdoc != nil && quotedDelimiter(n.Word) {
				return false
			}
		case *syntax.Lit:
			slashes := len(n.Value) - 1 - len(strings.TrimRight(strings.TrimSuffix(n.Value, "$"), `\`))
			if after := w.following(n); strings.HasSuffix(n.Value, "$") && slashes%2 == 0 && zshForm(after) {
				w.opaqueLine("$"+shorten(after), cardea.OpaqueZsh, "$"+after[:1]+" begins an expansion in zsh")
			}
		case *syntax.ParamExp:
			w.zshParam(n)
		}
		return true
	}
	for _, st := range file {
		syntax.Walk(st, visit)
	}
}

// following is the text of the script behind a node, as the shell joins lines.
func (w *walker) following(n syntax.Node) string {
	after := w.src[min(int(n.End().Offset()), len(w.src)):]
	for strings.HasPrefix(after, "\\\n") {
		after = after[2:]
	}
	return after
}

// zshForm reports what makes an expansion of a dollar in front of it: $=x, $^x, $~x, $+x.
func zshForm(after string) bool {
	name := strings.TrimLeft(after, "=^~+")
	begins := after[:len(after)-len(name)]
	return strings.Trim(begins, "+") != "" || begins != "" && name != "" && (isNameByte(name[0]) || strings.IndexByte("{(@*#?!$-", name[0]) >= 0)
}

// zshModifiers are the letters that change a value behind a colon, and those that may stand in
// front of them.
const zshModifiers = "aAcehlpPqQrstux&" + "gfFwW"

// zshParam looks at an expansion whose end zsh finds elsewhere, or whose name it knows.
func (w *walker) zshParam(p *syntax.ParamExp) {
	src := w.source(p)
	if p.Param == nil || !strings.HasPrefix(src, "$") {
		return // a name in arithmetic
	}
	name, after := p.Param.Value, w.following(p)
	next := func(at int, of string) bool { return at < len(after) && strings.IndexByte(of, after[at]) >= 0 }
	if !p.Short {
		_, after, _ = strings.Cut(src, name)
		if p.Index != nil {
			after = src[min(int(p.Index.End().Offset()-p.Pos().Offset())+1, len(src)):]
		}
	}
	reason := ""
	switch {
	case knowledge.IsVariableOf("special", name):
		reason = "$" + name + " is a variable that zsh sets itself"
	case p.Slice != nil && next(0, ":") && next(1, zshModifiers), p.Short && next(0, ":") && next(1, zshModifiers):
		reason = "a letter behind the colon changes the value in zsh"
	case !p.Short:
	case next(0, "["), p.Index != nil:
		reason = "$x[…] is a subscript in zsh"
	case name == "#" && after != "" && (isNameByte(after[0]) || next(0, "*-?@$")):
		reason = "$#x is a length in zsh"
	case plainDigit(name) && next(0, "0123456789"):
		reason = "a parameter of several digits in zsh"
	}
	if reason != "" {
		w.opaqueLine(shorten(src+after), cardea.OpaqueZsh, reason)
	}
}

// anyOf is a value of an array without an index, or with a number as one: zsh gives all of the
// items, or counts from 1. Where there is one item, it is the value in both.
func anyOf(list []string, unknown []frag, quoted bool) []frag {
	if len(list) == 0 {
		return nil
	}
	if len(list) == 1 {
		return []frag{{text: list[0], split: true}}
	}
	unknown[0].may, unknown[0].many = list, !quoted
	return unknown
}

// zshNames reports a name behind a tilde that is a variable to zsh, if the shell has it: one of
// the line or, in capital letters, of the environment. Numbers are places on the stack of folders.
func (w *walker) zshNames(name string) bool {
	numbered := name != "" && strings.Trim(name, "+-0123456789") == ""
	return numbered || plainName(name) && (w.lookup(name).kind != outside || strings.ContainsAny(name, "_ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
}

const zshFolder = "~name is the value of a variable in zsh, and ~- another folder"

func plainDigit(s string) bool { return len(s) == 1 && s[0] >= '0' && s[0] <= '9' }

const evaluatesInZsh = "zsh evaluates the word as arithmetic, which can execute a command in a subscript"

// number looks at a word that zsh evaluates as arithmetic: only one that is a number for certain
// is harmless.
func (w *walker) number(f field) {
	if !certainNumber(f) {
		w.spot(f.Text, cardea.OpaqueEvaluated, evaluatesInZsh)
	}
}

// certainNumber reports a word that is a number, or empty, for certain: for printf, a fraction or
// the code of a character, too.
func certainNumber(f field) bool {
	if !f.Static {
		return f.Number
	}
	text := strings.TrimLeft(f.Text, "+-")
	if len(text) > 1 && (text[0] == '\'' || text[0] == '"') {
		return !strings.Contains(text, "[")
	}
	return strings.Trim(text, "0123456789.") == "" || plainNumber(text)
}

// numberWords looks at the words of a builtin that zsh evaluates, and bash does not.
func (w *walker) numberWords(inv invocation) {
	places, _ := knowledge.WordsOf(form.CountsIn, inv.argv[0].Text)
	words := inv.argv[1:]
	for _, place := range places {
		switch {
		case place == "*":
			for _, f := range words {
				w.number(f)
			}
		case place == "%":
			w.formatNumbers(words)
		default:
			w.numberBehind(place, words)
		}
	}
}

// numberBehind looks at the words behind an option that takes a number, and behind a word that
// may be one. That of read -p is one where it means a coprocess.
func (w *walker) numberBehind(option string, words []field) {
	for i, f := range words[:max(len(words)-1, 0)] {
		next := words[i+1]
		named := strings.FieldsFunc(next.Text, func(r rune) bool { return r >= 0x80 || !isNameByte(byte(r)) })
		unsafe := slices.ContainsFunc(named, func(name string) bool { return plainName(name) && !evaluatesSafely(w.cur.vars.get(name)) })
		switch {
		case f.Static && f.Text == option && next.Text == "]":
		case f.Static && strings.HasPrefix(f.Text, "-") && strings.HasSuffix(f.Text, option[1:]) && (option != "-p" || strings.Contains(w.src, "coproc")),
			!f.Static && f.MayBeOption && next.Static && unsafe:
			w.number(next)
		}
	}
}

// formatNumbers looks at the arguments of printf that its format takes for numbers. Behind one
// that may be several words, or none, all are.
func (w *walker) formatNumbers(words []field) {
	words = withoutDashes(words)
	if len(words) > 1 && words[0].Text == "-v" {
		words = withoutDashes(words[2:])
	}
	if len(words) < 2 || !words[0].Static {
		return // a format that is not known is a spot of its own
	}
	takes := numbersOf(words[0].Text)
	if !slices.Contains(takes, true) {
		return
	}
	unsure := false
	for i, f := range words[1:] {
		unsure = unsure || f.MaySplit || f.MayVanish
		if unsure || takes[i%len(takes)] {
			w.number(f)
		}
	}
}

// numbersOf are the arguments that a format of printf takes, and whether each is a number. The
// order of those that are numbered (%2$d) is not followed.
func numbersOf(format string) (takes []bool) {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		for i++; i < len(format) && strings.IndexByte("-+ #0123456789.*'hlLjzt$", format[i]) >= 0; i++ {
			switch format[i] {
			case '*':
				takes = append(takes, true)
			case '$':
				return []bool{true}
			}
		}
		if i < len(format) && format[i] != '%' {
			takes = append(takes, strings.IndexByte("csbq(", format[i]) < 0)
		}
	}
	return takes
}
