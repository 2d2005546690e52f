package bash

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/bash/texts"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
)

// aliasBuiltin handles alias and unalias. It marks opaque what an alias of the line may
// change beyond the name of one command.
func (w *commands) aliasBuiltin(inv invocation) {
	for _, f := range inv.argv[1:] {
		name, text, ok := strings.Cut(f.Text, "=")
		switch {
		case inv.argv[0].Text == "unalias":
		case strings.HasPrefix(f.Text, "-") && strings.ContainsAny(f.Text, "gs"):
			w.unknown(unknown.ZshAlias, f.Text)
		case !f.Static:
			w.unknown(unknown.AliasText, f.Text)
		case ok:
			if knowledge.Known(name) || takenApart(name) {
				w.shadows(name)
			}
			if !plainAlias(name, text) || w.cur.Funcs[name] != nil {
				w.unknown(unknown.AliasOfSeveral, f.Text)
			}
			w.cur.Aliases[name] = text
			if w.cur.HasHandler { // a handler may mean it
				w.cur.Forget(unknown.HandlerRuns)
			}
			w.up.runLater("alias "+name, text)
		}
	}
	w.noEffect(inv)
}

// plainAlias reports whether an alias only replaces one command by another: bash expands
// it before it parses the line.
func plainAlias(name, text string) bool {
	if grammar.Reserved(name) || slices.Contains([]string{"let", "declare", "typeset", "export", "readonly", "local", "eval", "set", "unset", "trap", "source", "exec", "command", "builtin"}, name) {
		return false
	}
	if strings.Trim(name, texts.WordBytes) != "" || strings.ContainsAny(name, "!{}[]()") || strings.HasSuffix(text, " ") || strings.HasSuffix(text, "\t") {
		return false
	}
	s := grammar.Parse(text, false)
	if s.Err != nil || len(s.Stmts) != 1 || strings.ContainsAny(text, "\n;&#") {
		return false
	}
	call, ok := s.Stmts[0].Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) > 0 && len(s.Stmts[0].Redirs) == 0
}

// trap runs its first word later.
func (w *commands) trap(inv invocation) {
	words := inv.argv[1:]
	for len(words) > 0 && words[0].Static && (words[0].Text == "--" || words[0].Text == "-p" || words[0].Text == "-l") {
		words = words[1:]
	}
	if len(words) > 1 {
		for _, f := range words[1:] {
			if name := strings.ToUpper(f.Text); !f.Static || name != "EXIT" && name != "0" || w.cur.Locals != nil {
				w.setHandler(words[0]) // it may run between any two commands; in zsh, EXIT where a function ends
			}
		}
		f := words[0]
		if !f.Static {
			w.unknown(unknown.TrapText, f.Text)
		}
		w.cur.HasExitTrap = w.cur.HasExitTrap || f.Static && f.Text != "" && f.Text != "-"
		for _, text := range w.mayHold(f) {
			w.runsCode("trap", text)
		}
	}
	w.noEffect(inv)
}

// setHandler records a command that may run at any time. If it may set something, no
// variable of the line is constant any more.
func (w *commands) setHandler(f field) {
	if !f.Static || w.changesState(f.Text) {
		w.cur.Forget(unknown.HandlerSets)
		return
	}
	w.cur.HasHandler = w.cur.HasHandler || f.Text != "" && f.Text != "-"
}

// changesState reports whether a script may change variables, parameters or the folder
// of its shell, or leave the enclosing construct.
func (w *commands) changesState(text string) bool {
	s := grammar.Parse(text, false)
	c := grammar.ChangesOf(s.Stmts, w.cur, maxWords)
	return s.Err != nil || !c.None() || c.Leaves
}
