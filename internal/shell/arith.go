package shell

import (
	"mvdan.cc/sh/v3/syntax"
)

const evaluates = "bash evaluates the value as arithmetic, which can execute a command in a subscript"

// arithmExp looks at $((…)) and $[…]. Its value is one word of digits, not
// known.
func (w *walker) arithmExp(a *syntax.ArithmExp) frag {
	w.arith(a.X)
	return frag{text: w.source(a), dynamic: true, quoted: true, number: true}
}

// arith looks for what bash evaluates in an arithmetic expression: a variable
// whose value is not a plain number may hold a subscript with a command.
func (w *walker) arith(x syntax.ArithmExpr) {
	switch x := x.(type) {
	case nil:
	case *syntax.BinaryArithm:
		w.arith(x.X)
		w.arith(x.Y)
		if assigns(x.Op) {
			if word, ok := x.X.(*syntax.Word); ok && plainName(word.Lit()) {
				w.set(word.Lit(), someNumber)
			}
		}
	case *syntax.UnaryArithm:
		w.arith(x.X)
		if word, ok := x.X.(*syntax.Word); ok && (x.Op == syntax.Inc || x.Op == syntax.Dec) && plainName(word.Lit()) {
			w.set(word.Lit(), someNumber)
		}
	case *syntax.ParenArithm:
		w.arith(x.X)
	case *syntax.FlagsArithm:
		w.spot(w.source(x), "an expansion that only zsh has")
	case *syntax.Word:
		w.arithWord(x)
	}
}

// someNumber is a variable that holds a number that is not known.
var someNumber = value{kind: dynamic, text: "#"}

func assigns(op syntax.BinAritOperator) bool {
	switch op {
	case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
		syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn:
		return true
	}
	return false
}

// arithWord looks at one operand.
func (w *walker) arithWord(word *syntax.Word) {
	if lit := word.Lit(); lit != "" {
		w.arithText(lit, w.source(word))
		return
	}
	for _, p := range word.Parts {
		if q, ok := p.(*syntax.DblQuoted); ok && !q.Dollar && len(q.Parts) == 1 {
			p = q.Parts[0]
		}
		switch p := p.(type) {
		case *syntax.Lit:
			// A name that pieces make up is not looked for.
			if !plainNumber(p.Value) {
				w.spot(w.source(word), evaluates)
			}
		case *syntax.ParamExp:
			w.arithParam(p, len(word.Parts) == 1)
		case *syntax.ArithmExp:
			w.arith(p.X)
		default:
			w.frags([]syntax.WordPart{p}, false)
			w.spot(w.source(word), evaluates)
		}
	}
}

// arithParam looks at an expansion that is an operand, or with alone unset a
// piece of one, which must be a number.
func (w *walker) arithParam(p *syntax.ParamExp, alone bool) {
	if p.Index != nil {
		w.subscript(p.Index)
	}
	if p.Param == nil || p.Excl || p.Exp != nil || p.Repl != nil || p.Slice != nil || p.Flags != nil {
		w.param(p, false)
		w.spot(w.source(p), evaluates)
		return
	}
	if p.Length {
		return
	}
	switch name := p.Param.Value; name {
	case "#", "?", "$", "!":
	case "@", "*", "-", "0":
		w.spot(w.source(p), evaluates)
	default:
		if plainName(name) {
			if !alone && !numeric(w.lookup(name)) {
				w.spot(w.source(p), evaluates)
				return
			}
			w.arithName(name, w.source(p), 0)
			return
		}
		fs := w.plain(p, name, nil, false)
		if len(fs) != 1 || fs[0].dynamic || !plainNumber(fs[0].text) {
			w.spot(w.source(p), evaluates)
		}
	}
}

// arithText looks at text that bash evaluates as arithmetic.
func (w *walker) arithText(text, src string) {
	switch {
	case plainNumber(text), text == "":
	case plainName(text):
		w.arithName(text, src, 0)
	default:
		w.spot(src, evaluates)
	}
}

// arithName looks at a variable that bash evaluates. One that the line has not
// set holds what the person's environment holds.
func (w *walker) arithName(name, src string, depth int) {
	v := w.lookup(name)
	switch {
	case v.kind == outside, numeric(v):
	case v.kind == known && plainName(v.text) && depth < 8:
		w.arithName(v.text, src, depth+1)
	default:
		w.spot(src, evaluates)
	}
}

// subscript looks at the index of an array element.
func (w *walker) subscript(x syntax.ArithmExpr) {
	if word, ok := x.(*syntax.Word); ok {
		if lit := word.Lit(); lit == "@" || lit == "*" {
			return
		}
	}
	w.arith(x)
}
