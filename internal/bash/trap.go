package bash

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/bash/grammar"
	"cardea.dev/internal/bash/shell"
	"cardea.dev/internal/bash/unknown"
)

// runLater walks a script that may run later, or never: what it sets does not
// count, what it starts does.
func (w *walker) runLater(via, text string) {
	saved := w.cmd
	w.cmd = command{}
	w.inConstruct(via, func() { w.mayRun(func() { w.script(text) }) })
	w.cmd = saved
}

// trap runs its first word later.
func (w *walker) trap(inv invocation) {
	words := inv.argv[1:]
	for len(words) > 0 && words[0].Static && (words[0].Text == "--" || words[0].Text == "-p" || words[0].Text == "-l") {
		words = words[1:]
	}
	if len(words) > 1 {
		for _, f := range words[1:] {
			if name := strings.ToUpper(f.Text); !f.Static || name != "EXIT" && name != "0" {
				w.setHandler(words[0]) // it may run between any two commands
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

// setHandler notes a command that may run at any time. Where it may set something,
// the line has no constants any more.
func (w *walker) setHandler(f field) {
	if !f.Static || w.changesState(f.Text) {
		w.cur.Forget(unknown.HandlerSets)
		return
	}
	w.cur.HasHandler = w.cur.HasHandler || f.Text != "" && f.Text != "-"
}

// jumps reports the builtins that leave what is around them.
func jumps(name string) bool { return name == "return" || name == "break" || name == "continue" }

// changesState reports whether a script may change variables, parameters or the folder
// of its shell.
func (w *walker) changesState(text string) bool {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return true
	}
	saved := w.cur
	w.cur = &shell.State{Folder: "/", ParamsKnown: true, Facts: saved.Facts}
	w.forget(f.Stmts)
	after := w.cur
	w.cur = saved
	leaves := false
	for _, st := range f.Stmts {
		syntax.Walk(st, func(n syntax.Node) bool {
			call, is := n.(*syntax.CallExpr)
			if is && len(call.Args) > 0 {
				name, ok := grammar.Literal(call.Args[0])
				leaves = leaves || !ok || jumps(name) || name == "command" || name == "builtin"
			}
			return true
		})
	}
	return leaves || len(after.Vars.All()) > 0 || after.Forgotten != 0 || after.Folder != "/" || !after.ParamsKnown || after.Later.Code != "" || after.ExportsAll
}
