package bash

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/bash/shell"
	"cardea.dev/internal/command/bash/texts"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
)

// loop walks a body that may run any number of times: variables that it sets are unknown
// inside and afterwards.
func (w *statements) loop(body []*syntax.Stmt, walk func()) {
	before, exits, begin := w.cur.Clone(), len(w.exits), len(w.out.Parts)
	later := w.cur.Later
	w.forget(body)
	w.loops++
	walk()
	w.loops--
	w.forget(body)
	w.files.creates.again = append(w.files.creates.again, [2]int{begin, len(w.out.Parts)})
	w.mergeExits(before, exits)
	if w.cur.Later != later {
		// The next round runs with the changes of this one.
		w.late = append(w.late, lateSpot{from: begin, to: len(w.out.Parts), why: w.cur.Later})
	}
}

const (
	// maxRounds is the number of words for which a loop is walked one by one, multiplied
	// with those of the enclosing loops.
	maxRounds = 16
	// maxUnrolled is the number of commands that such a loop may run in all of its rounds.
	maxUnrolled = 256
)

// unrolls reports whether a loop over words is walked once for each word: all words are
// known, they are few, and each stays one unquoted word in bash and zsh.
func (w *statements) unrolls(words []field, body []*syntax.Stmt) bool {
	rounds := max(w.rounds, 1) * len(words)
	if rounds == 0 || rounds > maxRounds || slices.ContainsFunc(words, func(f field) bool { return !f.Static || f.Text == "" || strings.ContainsAny(f.Text, " \t\n*?[") }) {
		return false
	}
	return grammar.CountCommands(body)*rounds <= maxUnrolled
}

// eachWord walks the body of a loop over known words once for each word.
func (w *statements) eachWord(name string, words []field, body []*syntax.Stmt) {
	enclosing, exits := w.rounds, len(w.exits)
	w.rounds = max(w.rounds, 1) * len(words)
	for _, f := range words {
		w.set(name, shell.Known(f.Text))
		w.conditional(false, func() { w.stmts(body) })
		w.mergeExits(nil, exits) // a jump may end the round, or the loop
	}
	w.rounds = enclosing
}

// eachOrWhole walks a loop over a value that bash splits into words. Zsh runs the body
// once with the whole value.
func (w *statements) eachOrWhole(c *syntax.ForClause, l *syntax.WordIter, words []field) {
	whole := shell.Any
	if len(l.Items) == 1 {
		whole = w.lookup(variableAlone(w.source(l.Items[0])))
	}
	if !whole.Known() || !w.unrolls(words, c.Do) {
		v := w.oneOf(append(words, unknownArgs))
		v.May = w.bounded(append(v.May, strings.Join(v.May, " ")))
		w.iterate(c, v)
		return
	}
	before := w.cur.Clone()
	w.eachWord(l.Name.Value, words, c.Do)
	after := w.cur
	w.cur = before
	w.eachWord(l.Name.Value, []field{knowledge.Literal(whole.Text)}, c.Do)
	w.cur.Join(after)
}

// forget makes the variables unknown that statements may set.
func (w *statements) forget(body []*syntax.Stmt) {
	c := grammar.ChangesOf(body, w.cur, maxWords-w.used.words)
	if w.used.words += c.Nodes; w.used.words > maxWords {
		w.unknown(unknown.TooManyWords, w.src)
	}
	for _, v := range c.Variables {
		old := w.cur.Vars.Get(v.Name)
		if v.Counts {
			w.counts(v.Name)
		}
		switch {
		case v.Number && old.Numeric():
			w.store(v.Name, shell.SomeNumber)
		case v.Number && old.Evaluable():
			w.store(v.Name, shell.SomeEvaluable)
		default:
			w.forgetName(v.Name)
		}
		if w.cur.IsFixed(v.Name) {
			w.cur.Doubt(unknown.SetsReadOnly)
		}
	}
	w.carry(c.Variables)
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

// maxCarried is the number of rounds of a loop for which assignments from one variable
// to another are followed.
const maxCarried = 8

// carry adds to the possible values of variables those of later rounds: x=$y; y=$z; z=a.
func (w *statements) carry(list []grammar.Change) {
	for round := 0; round < min(len(list), maxCarried) && w.used.words <= maxWords; round++ {
		same := true
		for _, c := range list {
			v := w.cur.Vars.Get(c.Name)
			if v.Numeric() || c.Value == nil {
				continue
			}
			before := len(v.May)
			v.May = w.bounded(append(v.May[:before:before], w.textsOf(c.Value.Parts)...))
			if len(v.May) != before {
				same = false
				w.cur.Vars.Set(c.Name, v)
			}
		}
		if same {
			return
		}
	}
}

// textsOf returns the possible texts of a word of literals and variables, or nil if the
// word has other parts.
func (w *statements) textsOf(parts []syntax.WordPart) []string {
	out := []string{""}
	for _, p := range parts {
		var more []string
		switch p := p.(type) {
		case *syntax.Lit:
			more = []string{texts.Unquoted(p.Value)}
		case *syntax.SglQuoted:
			more = []string{p.Value}
		case *syntax.DblQuoted:
			more = w.textsOf(p.Parts)
		case *syntax.ParamExp:
			if plain := variableAlone(w.source(p)); plain != "" {
				more = w.mayBe(plain)
			}
		}
		if len(more) == 0 {
			return nil
		}
		out = w.joined(out, more)
	}
	return out
}
