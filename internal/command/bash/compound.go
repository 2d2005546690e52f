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

// ifClause walks an if command. Each branch starts from the state after its condition,
// and the final states are joined.
func (w *statements) ifClause(c *syntax.IfClause) {
	w.stmts(c.Cond)
	constant := w.constant(c.Cond)
	before := w.cur.Clone()
	w.cur.FolderMayFail = false
	w.conditional(constant, func() { w.stmts(c.Then) })
	after := w.cur
	w.cur = before
	if w.cur.FolderMayFail {
		w.cur.Enter("")
	}
	if c.Else != nil {
		if len(c.Else.Cond) == 0 && c.Else.Else == nil {
			w.conditional(constant, func() { w.stmts(c.Else.Then) })
		} else {
			w.conditional(constant, func() { w.ifClause(c.Else) })
		}
	}
	w.cur.Join(after)
}

// forClause walks a for or select command. It walks the body once per word if the words
// are known and few, else once for all.
func (w *statements) forClause(c *syntax.ForClause) {
	if c.Select {
		w.iterate(c, shell.Any)
		return
	}
	switch l := c.Loop.(type) {
	case *syntax.CStyleLoop:
		w.countingLoop(c, l)
	case *syntax.WordIter:
		words, before, split := w.iterated(l), len(w.cmd.pending), w.used.split
		for _, item := range l.Items {
			words = append(words, w.fields(item)...)
		}
		if after := len(w.cmd.pending); after > before {
			w.cur.Origins[l.Name.Value] = w.cmd.pending[after-1].at
		}
		if w.used.split > split {
			w.eachOrWhole(c, l, words)
			return
		}
		if w.unrolls(words, c.Do) {
			w.eachWord(l.Name.Value, words, c.Do)
			return
		}
		v := w.oneOf(words)
		if len(l.Items) == 0 { // for x; do
			v.May = w.bounded(w.cur.Params)
		}
		w.iterate(c, v)
	}
}

// iterated returns the parameters if a loop runs over them and they are known, else nil.
func (w *statements) iterated(l *syntax.WordIter) []field {
	var out []field
	if w.cur.ParamsKnown && !l.InPos.IsValid() {
		for _, p := range w.cur.Params {
			out = append(out, knowledge.Literal(p))
		}
	}
	return out
}

// countingLoop walks for ((…; …; …)). The expressions belong to no part.
func (w *statements) countingLoop(c *syntax.ForClause, l *syntax.CStyleLoop) {
	var spots []cardea.Opaque
	saved := w.cmd.spots
	w.cmd.spots = &spots
	w.arith(l.Init)
	begin := len(w.out.Parts)
	w.loop(c.Do, func() {
		w.arith(l.Cond)
		w.maybe(func() { w.arith(l.Post) })
		inner := w.cmd.spots
		w.cmd.spots = saved
		w.repeats(w.constantNumber(l.Cond), begin, func() { w.stmts(c.Do) })
		w.cmd.spots = inner
	})
	w.cmd.spots = saved
	for _, o := range spots {
		w.opaqueLine(o)
	}
}

// maxPlainWords is the number of words for which a loop is unrolled.
const maxPlainWords = 64

// isPlainWord reports whether s stays one word when it is expanded without quotes, since
// it has no blanks and is no pattern. It is not an option either.
func isPlainWord(s string) bool {
	return s != "" && len(s) <= 256 && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z') && !strings.ContainsRune("_-./:=@,+%", r)
	})
}

// oneOf returns the value of a variable that holds one of some words.
func (w *statements) oneOf(words []field) shell.Value {
	if len(words) == 1 && words[0].Static {
		return shell.Known(words[0].Text)
	}
	all := func(is func(text string) bool) bool {
		return len(words) > 1 && !slices.ContainsFunc(words, func(f field) bool { return !f.Static || !is(f.Text) })
	}
	numbers, plain := all(texts.PlainNumber), all(isPlainWord)
	var may []string
	for _, f := range words {
		may = append(may, w.mayHold(f)...)
	}
	switch {
	case numbers && plain:
		return shell.Value{Presence: shell.Set, Shape: shell.Numeric | shell.NonEmpty | shell.PlainWord}
	case numbers:
		return shell.SomeNumber
	case plain && len(words) <= maxPlainWords:
		return shell.Value{May: may, Presence: shell.Set, Shape: shell.Listed | shell.NonEmpty | shell.PlainWord}
	}
	return shell.Value{Found: w.looped(words), May: w.bounded(may), Presence: shell.Set}
}

// iterate walks the body of a for or select command once, with v as the value of its variable.
func (w *statements) iterate(c *syntax.ForClause, v shell.Value) {
	iter, ok := c.Loop.(*syntax.WordIter)
	if !ok {
		w.unknown(unknown.UnknownConstruct, w.source(c))
		return
	}
	if c.Select {
		for _, item := range iter.Items {
			for _, f := range w.fields(item) {
				v.May = append(v.May, w.mayHold(f)...)
			}
		}
	}
	w.loop(c.Do, func() {
		w.set(iter.Name.Value, v)
		w.conditional(false, func() { w.stmts(c.Do) })
	})
}

// caseClause walks a case command. It joins the states after each item, and follows ;&
// and ;;& into the next one.
func (w *statements) caseClause(c *syntax.CaseClause) {
	w.walkWord(c.Word)
	looked, merged, falls := w.cur, w.cur.Clone(), false // the states in which patterns are evaluated, and after any of the commands
	for _, item := range c.Items {
		w.cur = looked
		for _, p := range item.Patterns {
			w.maybe(func() { w.walkWord(p) })
		}
		looked = w.cur.Clone()
		if falls {
			w.cur.Join(merged)
		}
		w.conditional(false, func() { w.stmts(item.Stmts) })
		merged.Join(w.cur)
		falls = item.Op != syntax.Break
	}
	w.cur = merged
	w.cur.Join(looked)
}
