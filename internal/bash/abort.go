package bash

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/bash/grammar"
	"cardea.dev/internal/bash/texts"
	"cardea.dev/internal/bash/unknown"
)

// This file follows what happens where an expansion fails: bash gives up the command with
// all that is around it, up to the end of the line that it has read, and goes on with the
// next line. A script of eval or bash -c ends no sooner. (bash jumps to its top level with
// DISCARD there; its manual says so of ${x:?} and of read-only variables only.)

// maxAborts is how many places of a line are followed in which it may be given up.
const maxAborts = 500

// mayAbort notes that bash may give up here.
func (w *walker) mayAbort() {
	if len(w.aborts) >= maxAborts {
		w.cur.Forget(unknown.ManyAborts)
		return
	}
	w.aborts = append(w.aborts, w.cur.Clone())
}

// lines walks the commands of a script, line by line as bash reads it.
func (w *walker) lines(s *grammar.Script) {
	file := s.Stmts
	if w.used.scripts > 1 {
		w.declaresLater(file)
	}
	if s.Untracked {
		w.cur.Doubt(unknown.Untracked)
		w.cur.ParamsKnown = false
	}
	begin := len(w.aborts)
	for i, st := range file {
		if w.used.overLimit {
			return
		}
		if i > 0 {
			is, certainly := w.newLine(file[i-1], st)
			if is {
				w.goOn(begin)
			}
			if certainly {
				begin = len(w.aborts)
			}
		}
		w.stmt(st)
	}
	w.goOn(begin)
}

// goOn joins what is known with what was where bash may have given up.
func (w *walker) goOn(begin int) {
	for _, s := range w.aborts[min(begin, len(w.aborts)):] {
		w.cur.Join(s)
	}
}

// newLine reports whether a line may end between two commands, and whether it certainly
// does: a backslash joins lines, but not in a comment.
func (w *walker) newLine(a, b *syntax.Stmt) (is, certainly bool) {
	from, to := int(a.End().Offset()), int(b.Pos().Offset())
	if from > to || to > len(w.src) {
		return true, false
	}
	between := w.src[from:to]
	is = strings.Contains(between, "\n")
	return is, is && !strings.Contains(between, "\\\n")
}

// total reports whether an arithmetic expression has a value for certain.
func (w *walker) total(x syntax.ArithmExpr) bool {
	switch x := x.(type) {
	case nil:
		return true
	case *syntax.ParenArithm:
		return w.total(x.X)
	case *syntax.UnaryArithm:
		return w.total(x.X)
	case *syntax.BinaryArithm:
		if name := grammar.ArithName(x.X); x.Op == syntax.Assgn && name != "" && !w.cur.IsFixed(name) {
			return w.total(x.Y) // whatever it has held
		}
		if !w.total(x.X) || !w.total(x.Y) {
			return false
		}
		switch x.Op {
		case syntax.Quo, syntax.Rem, syntax.Pow, syntax.QuoAssgn, syntax.RemAssgn:
			word, ok := x.Y.(*syntax.Word)
			return ok && texts.Decimal(word.Lit()) && word.Lit() != "0"
		}
		return true
	case *syntax.Word:
		return w.totalWord(x)
	}
	return false
}

// totalWord is total for one operand.
func (w *walker) totalWord(word *syntax.Word) bool {
	text := word.Lit()
	if texts.Decimal(text) {
		return true
	}
	if p, ok := grammar.Only[*syntax.ParamExp](word); ok && p.Param != nil && p.Index == nil && !p.Excl && p.Exp == nil && p.Repl == nil && p.Slice == nil {
		if text = p.Param.Value; p.Length || text == "#" || text == "?" || text == "$" {
			return true
		}
	}
	if !texts.PlainName(text) || w.cur.IsFixed(text) {
		return false
	}
	v := w.lookup(text)
	return v.IsUnset() || v.Known() && (v.Text == "" || texts.Decimal(v.Text))
}
