package bash

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
	"cardea.dev/internal/command/bash/shell"
	"cardea.dev/internal/command/bash/texts"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
)

// lateCode is a text that runs at an unknown time, in any folder in which the line was
// or will be.
type lateCode struct {
	via, text string
	visited   int // the number of folders known when it was walked
}

// maxLate is the number of such texts that are walked.
const maxLate = 64

// runsCode walks a text that may run at any time: without constants, in every folder of
// the line.
func (w *words) runsCode(via, text string) {
	if text == "" || text == "-" || slices.ContainsFunc(w.lateCode, func(l lateCode) bool { return l.via == via && l.text == text }) {
		return
	}
	if len(w.lateCode) >= maxLate {
		w.unknown(unknown.TooManyCommands, w.src)
		return
	}
	w.lateCode = append(w.lateCode, lateCode{via, text, len(w.files.visited)})
	w.up.walkLate(via, text)
}

// substitutedIn returns the commands that bash runs when it expands a text: $(…) and `…`.
func substitutedIn(text string) []string {
	if !strings.Contains(text, "$(") && !strings.Contains(text, "`") {
		return nil
	}
	word, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Document(strings.NewReader(text))
	if err != nil {
		return nil
	}
	var out []string
	syntax.Walk(word, func(n syntax.Node) bool {
		if c, is := n.(*syntax.CmdSubst); is && len(c.Stmts) > 0 {
			out = append(out, text[c.Stmts[0].Pos().Offset():c.Stmts[len(c.Stmts)-1].End().Offset()])
			return false
		}
		return true
	})
	return out
}

// maxNamed is the number of variables that are followed from a text that bash evaluates.
const maxNamed = 32

// evaluates walks the commands in a text that bash evaluates as arithmetic, as a prompt
// or as the name of a variable. It also walks those in the values of the variables that
// the text names.
func (w *words) evaluates(text string) {
	list := []string{text}
	if strings.ContainsAny(text, "@*0123456789") { // it may name a parameter
		list = append(list, w.cur.Params...)
	}
	seen := map[string]bool{}
	for i := 0; i < len(list) && len(seen) < maxNamed; i++ {
		if w.used.words += 1 + len(list[i])/64; w.used.words > maxWords {
			w.unknown(unknown.TooManyWords, w.src)
			return
		}
		for _, line := range substitutedIn(list[i]) {
			w.runsCode("evaluated", line)
		}
		for name := range strings.FieldsFuncSeq(list[i], func(r rune) bool { return r >= 0x80 || !texts.PlainName("_"+string(r)) }) {
			if texts.PlainName(name) && !seen[name] && len(seen) < maxNamed {
				seen[name] = true
				list = append(list, w.cur.Vars.Get(name).Texts()...)
			}
		}
	}
}

// codeOf returns the shell lines that run because a variable holds a text.
func codeOf(name, text string) []string {
	if knowledge.AssignmentClass(name, text, true) == cardea.EnvSafe {
		return nil // GIT_PAGER=cat
	}
	switch knowledge.VariableHolds(name) {
	case knowledge.HoldsCommand:
		return []string{strings.TrimLeft(text, "|-")} // LESSOPEN="|cmd"
	case knowledge.HoldsExpansion:
		return substitutedIn(text)
	}
	return nil
}

// holdsCode walks the commands that run because the shell sets a variable to a value.
func (w *words) holdsCode(name string, v shell.Value) {
	for _, text := range v.Texts() {
		for _, line := range codeOf(name, text) {
			w.runsCode(name, line)
		}
	}
}
