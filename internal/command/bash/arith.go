package bash

import (
	"regexp"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/bash/shell"
	"cardea.dev/internal/command/bash/texts"
	"cardea.dev/internal/command/bash/unknown"
	"cardea.dev/internal/command/knowledge"
)

// arithmExp evaluates $((…)) and $[…]. The value is one word of unknown digits.
func (w *words) arithmExp(a *syntax.ArithmExp) fragment {
	enclosing := w.failing
	w.failing = w.failing || !w.cmd.expands
	w.arith(a.X)
	w.failing = enclosing
	return unsureQuoted(shell.Numeric | shell.NonEmpty)
}

// arith checks what bash evaluates in an arithmetic expression: a variable whose value
// is not a plain number may hold a subscript with a command.
func (w *words) arith(x syntax.ArithmExpr) {
	fails := x != nil && !w.total(x)
	if fails {
		w.mayAbort()
	}
	enclosing := w.failing
	w.failing = w.failing || fails
	w.operand(x)
	w.failing = enclosing
	if fails { // after its assignments
		w.mayAbort()
	}
}

// operand is like arith, for a part of an expression.
func (w *words) operand(x syntax.ArithmExpr) {
	switch x := x.(type) {
	case nil:
	case *syntax.BinaryArithm:
		enclosing := w.failing
		switch x.Op {
		case syntax.AndArit, syntax.OrArit, syntax.Comma, syntax.TernQuest, syntax.TernColon:
			w.failing = true // not all of it may be evaluated
		}
		if x.Op != syntax.Assgn || grammar.ArithName(x.X) == "" {
			w.operand(x.X)
		}
		w.operand(x.Y)
		w.failing = enclosing
		switch {
		case grammar.IsAssignment(x.Op):
			w.arithAssigns(x.X)
		case x.Op == syntax.Add || x.Op == syntax.Sub:
			// A value is substituted as text: y-$n with n=-1 is y--1.
			if name := grammar.ArithName(x.X); name != "" && grammar.BeginsWithValue(x.Y) && w.lookup(name).Numeric() {
				w.set(name, shell.SomeNumber)
			}
		}
	case *syntax.UnaryArithm:
		w.operand(x.X)
		if to := grammar.AssignedBy(x); to != nil {
			w.arithAssigns(to)
		}
	case *syntax.ParenArithm:
		w.operand(x.X)
	case *syntax.FlagsArithm:
		w.unknown(unknown.ZshExpansion, w.source(x))
	case *syntax.Word:
		w.arithWord(x)
	}
}

// arithAssigns records that an expression sets the variable on its left, unless it fails.
func (w *words) arithAssigns(x syntax.ArithmExpr) {
	if name := grammar.ArithName(x); name != "" {
		old := w.cur.Vars.Get(name)
		w.counts(name)
		if w.set(name, shell.SomeNumber); w.failing || !w.cur.Forgotten.None() {
			w.cur.Vars.Set(name, shell.Join(old, w.cur.Vars.Get(name)))
		}
		return
	}
	word, _ := x.(*syntax.Word)
	if p, ok := grammar.Only[*syntax.ParamExp](word); ok && p.Short && p.Index != nil && !strings.HasPrefix(w.source(p), "$") {
		w.setElement(p.Param.Value, shell.Any)
		return
	}
	w.unknown(unknown.AssignsByValue, w.source(x))
}

// counts records that arithmetic sets a variable that may have been unset before.
func (w *words) counts(name string) {
	if v := w.cur.Vars.Get(name); v.MayBeOutside() || v.Presence&shell.Unset != 0 {
		w.cur.Attributes[name] |= grammar.Counted
	}
}

// arithWord checks one operand.
func (w *words) arithWord(word *syntax.Word) {
	if text, ok := grammar.Literal(word); ok {
		w.arithText(text, w.source(word))
		return
	}
	for _, p := range word.Parts {
		if q, ok := p.(*syntax.DblQuoted); ok && !q.Dollar && len(q.Parts) == 1 {
			p = q.Parts[0]
		}
		switch p := p.(type) {
		case *syntax.Lit:
			// A name that is formed from pieces is not resolved.
			if !texts.PlainNumber(p.Value) {
				w.unknown(unknown.Evaluated, w.source(word))
			}
		case *syntax.ParamExp:
			w.arithParam(p, len(word.Parts) == 1)
		case *syntax.ArithmExp:
			w.arith(p.X)
		default:
			w.fragments([]syntax.WordPart{p}, nowhere)
			w.unknown(unknown.Evaluated, w.source(word))
		}
	}
}

// arithParam checks an expansion that is a whole operand, or if alone is not set, a
// piece of one, which must be a number.
func (w *words) arithParam(p *syntax.ParamExp, alone bool) {
	if p.Index != nil {
		w.subscript(p.Index)
	}
	if p.Param == nil || p.Excl || p.Exp != nil || p.Repl != nil || p.Slice != nil || p.Flags != nil {
		w.param(p, false)
		w.unknown(unknown.Evaluated, w.source(p))
		return
	}
	if p.Length {
		return
	}
	switch name := p.Param.Value; name {
	case "#", "?", "$", "!":
	case "@", "*", "-", "0":
		w.unknown(unknown.Evaluated, w.source(p))
	default:
		if texts.PlainName(name) {
			if !alone && !w.lookup(name).Numeric() {
				w.unknown(unknown.Evaluated, w.source(p))
				return
			}
			if v := w.lookup(name); v.Known() && !v.Numeric() && !texts.PlainName(v.Text) {
				w.unknown(unknown.Evaluated, w.source(p)) // its text may change the parse of the rest
				return
			}
			w.arithNamed(name, w.source(p))
			return
		}
		fs := w.plain(p, name, unsure(0), false)
		if len(fs) != 1 || !fs[0].Known() || !texts.PlainNumber(fs[0].Text) {
			w.unknown(unknown.Evaluated, w.source(p))
		}
	}
}

// arithText checks a text that bash evaluates as arithmetic, including names in it. It
// accepts only numbers, names and operators: without a bracket, quote or dollar, only
// the values of names can execute something.
func (w *words) arithText(text, src string) {
	switch {
	case texts.PlainNumber(text), strings.Trim(text, " \t") == "":
		return
	case texts.PlainName(text):
		w.arithNamed(text, src)
		return
	case strings.Trim(text, arithBytes) != "" || len(text) > maxArith || w.used.evaluating > maxEvaluating:
		w.evaluates(text)
		w.unknown(unknown.Evaluated, src)
		return
	}
	x, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Arithmetic(strings.NewReader(text))
	if err != nil {
		w.unknown(unknown.Evaluated, src)
		return
	}
	if nested := grammar.CountAssignments(x, w.used.evaluating == 0); nested > 0 {
		w.unknown(unknown.Evaluated, src)
		return
	}
	outer, base := w.src, w.base
	w.src, w.base = text, -1
	w.used.evaluating++
	w.arith(x)
	w.used.evaluating--
	w.src, w.base = outer, base
}

// arithBytes are the bytes of arithmetic text that can be read. maxArith is its maximum
// length, and maxEvaluating the depth to which values of names are followed.
const (
	maxEvaluating = 5
	arithBytes    = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_ +-*/%<>=!&|^~?:(),"
	maxArith      = 200
)

// arithNamed checks a variable that bash evaluates. A variable that the line has not set
// has the value of the user's environment.
func (w *words) arithNamed(name, src string) {
	if w.used.words++; w.used.words > maxWords {
		w.unknown(unknown.TooManyWords, w.src)
		return
	}
	v := w.lookup(name)
	w.noteOutside(name)
	w.outsideCode = w.outsideCode || v.MayBeOutside()
	switch {
	case v.MayBeOutside() && (knowledge.IsVariableOf("special", name) || w.setsCode()):
		w.unknown(unknown.Evaluated, src)
	case v.Evaluable():
	case v.Known() && w.used.evaluating <= maxEvaluating:
		w.used.evaluating++
		w.arithText(v.Text, src)
		w.used.evaluating--
	default:
		w.unknown(unknown.Evaluated, src)
	}
}

// setsCode reports whether the line may set a variable to code, which has a bracket in it. A
// variable from outside may hold the name of such a variable: root='a[$(id)]'; ((USER)).
func (w *words) setsCode() bool {
	code := !w.cur.Forgotten.None()
	for _, v := range w.cur.Vars.All() {
		code = code || !v.IsUntouched() && !v.IsUnset() && !v.Numeric() && !(v.Known() && !strings.Contains(v.Text, "["))
	}
	return code && maySetCode().MatchString(testBrackets().ReplaceAllString(w.whole, " "))
}

var (
	// testBrackets matches the brackets of [ and [[, which set nothing.
	testBrackets = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[\s;&|(!])\[\[?(?:\s|$)`) })
	// maySetCode matches a bracket, an escape that may write one, and commands that set
	// variables to text from another place.
	maySetCode = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("[[]|[$]'|=[\"']?(?:[$][(]|`)|\\b(?:read|mapfile|readarray|getopts|select|printf|source)\\b|(?:^|\\s)[.]\\s")
	})
)

// subscript checks the index of an array element.
func (w *words) subscript(x syntax.ArithmExpr) {
	if word, ok := x.(*syntax.Word); ok {
		if lit := word.Lit(); lit == "@" || lit == "*" {
			return
		}
	}
	if !grammar.PlainIndex(x) {
		w.mayAbort()
	}
	w.arith(x)
}

// total reports whether an arithmetic expression certainly has a value.
func (w *words) total(x syntax.ArithmExpr) bool {
	switch x := x.(type) {
	case nil:
		return true
	case *syntax.ParenArithm:
		return w.total(x.X)
	case *syntax.UnaryArithm:
		return w.total(x.X)
	case *syntax.BinaryArithm:
		if name := grammar.ArithName(x.X); x.Op == syntax.Assgn && name != "" && !w.cur.IsFixed(name) {
			return w.total(x.Y) // whatever it held before
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

// totalWord is like total, for one operand.
func (w *words) totalWord(word *syntax.Word) bool {
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
