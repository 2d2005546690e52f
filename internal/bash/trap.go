package bash

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev"
)

// isolated walks a script that may run later, or never: what it sets does not
// count, what it starts does.
func (w *walker) isolated(via, text string) {
	spots, pending, stdin := w.spots, w.pending, w.stdin
	w.spots, w.pending, w.stdin = nil, nil, feed{}
	w.within(via, func() { w.maybe(func() { w.script(text) }) })
	w.spots, w.pending, w.stdin = spots, pending, stdin
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
				w.handler(words[0]) // it may run between any two commands
			}
		}
		switch f := words[0]; {
		case !f.Static:
			w.spot(f.Text, cardea.OpaqueScript, "what the trap runs comes from outside of the line")
		case f.Text != "" && f.Text != "-":
			w.apart(func() {
				// It runs another time: what is known now does not count.
				w.forgetAll()
				w.cur.name = ""
				w.trapped = true
				w.isolated("trap", f.Text)
			})
		}
	}
	w.null(inv)
}

// handler notes a command that may run at any time. Where it may set something,
// the line has no constants any more.
func (w *walker) handler(f field) {
	if !f.Static || w.sets(f.Text) {
		w.forgetAll()
		return
	}
	w.handled = w.handled || f.Text != "" && f.Text != "-"
}

// sets reports whether a script may change variables, parameters or the folder
// of its shell.
func (w *walker) sets(text string) bool {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return true
	}
	saved := w.cur
	w.cur = &state{vars: map[string]value{}, cwd: "/", paramsOK: true}
	w.forget(f.Stmts)
	after := w.cur
	w.cur = saved
	return len(after.vars) > 0 || after.vague || after.cwd != "/" || !after.paramsOK || after.tainted.Code != "" || after.allexport
}
