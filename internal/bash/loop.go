package bash

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/bash/grammar"
	"cardea.dev/internal/bash/shell"
	"cardea.dev/internal/bash/unknown"
)

// loop walks what may run any number of times: what it sets is unknown inside
// and afterwards.
func (w *statements) loop(body []*syntax.Stmt, walk func()) {
	before, exits, begin := w.cur.Clone(), len(w.exits), len(w.out.Parts)
	tainted := w.cur.Later
	w.forget(body)
	w.loops++
	walk()
	w.loops--
	w.forget(body)
	w.files.creates.again = append(w.files.creates.again, [2]int{begin, len(w.out.Parts)})
	w.mergeExits(before, exits)
	if w.cur.Later != tainted {
		// The next round runs what this one has changed.
		w.late = append(w.late, lateSpot{from: begin, to: len(w.out.Parts), why: w.cur.Later})
	}
}

const (
	// maxRounds is how many words a loop is walked over one by one, together with the loops
	// around it.
	maxRounds = 16
	// maxUnrolled is how many commands such a loop may run in all of its rounds.
	maxUnrolled = 256
)

// unrolls reports whether a loop over words is walked once for each word: all of them are
// known, they are few, and each stays one word in bash and zsh where it is not quoted.
func (w *statements) unrolls(words []field, body []*syntax.Stmt) bool {
	rounds := max(w.rounds, 1) * len(words)
	if rounds == 0 || rounds > maxRounds || slices.ContainsFunc(words, func(f field) bool { return !f.Static || f.Text == "" || strings.ContainsAny(f.Text, " \t\n*?[") }) {
		return false
	}
	return grammar.CountCommands(body)*rounds <= maxUnrolled
}

// eachWord walks the body of a loop over known words once for each word.
func (w *statements) eachWord(name string, words []field, body []*syntax.Stmt) {
	around, exits := w.rounds, len(w.exits)
	w.rounds = max(w.rounds, 1) * len(words)
	for _, f := range words {
		w.set(name, shell.Known(f.Text))
		w.conditional(false, func() { w.stmts(body) })
		w.mergeExits(nil, exits) // a jump may end the round, or the loop
	}
	w.rounds = around
}

// forget makes unknown what statements may set.
func (w *statements) forget(body []*syntax.Stmt) {
	c := grammar.ChangesOf(body, w.cur, maxWords-w.used.words)
	if w.used.words += c.Nodes; w.used.words > maxWords {
		w.unknown(unknown.TooManyWords, w.src)
	}
	for _, v := range c.Variables {
		old := w.cur.Vars.Get(v.Name)
		switch {
		case v.Number && old.Numeric():
			w.store(v.Name, shell.SomeNumber)
		case v.Number && old.Evaluable():
			w.store(v.Name, shell.SomeEvaluable)
		default:
			w.forgetName(v.Name)
			w.mayLater(v)
		}
		if w.cur.IsFixed(v.Name) {
			w.cur.Doubt(unknown.SetsReadOnly)
		}
	}
	w.cur.ParamsKnown = w.cur.ParamsKnown && !c.Params
	w.cur.ExportsAll = w.cur.ExportsAll || c.Exports
	if c.Pushed {
		w.cur.Pushed = nil
	}
	if c.Folder {
		w.cur.Enter("")
	}
	if c.Anything {
		w.cur.Forget(unknown.AnyCommand)
	}
}
