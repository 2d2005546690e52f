package bash

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/bash/unknown"
)

// This file names the constructs in which the walker does not follow what becomes of
// variables. Each of them is rare in a line that somebody types, and none is worth a model
// of its own: a script with one has no constants, and every folder behind a cd is unknown.

// mayBeStrange is false for texts without anything that a strange construct needs.
func mayBeStrange(text string) bool {
	for _, sign := range [...]string{"((", "$[", "${", "}<", "}>", "}&", "function", "let", "unset", "\\\n"} {
		if strings.Contains(text, sign) {
			return true
		}
	}
	for rest, found := text, true; found; {
		if _, rest, found = strings.Cut(rest, "("); strings.HasPrefix(strings.TrimLeft(rest, " \t"), ")") {
			return true // a function
		}
	}
	return false
}

// strange reports whether a script has such a construct.
func strange(file []*syntax.Stmt) bool {
	found := false
	defined := map[string]bool{}
	var above []syntax.Node
	for _, st := range file {
		syntax.Walk(st, func(n syntax.Node) bool {
			if n == nil {
				above = above[:len(above)-1]
				return true
			}
			found = found || strangeHere(n, above)
			if f, is := n.(*syntax.FuncDecl); is && f.Name != nil {
				found = found || defined[f.Name.Value] // which of both it is
				defined[f.Name.Value] = true
			}
			above = append(above, n)
			return true
		})
	}
	return found
}

// strangeHere is strange for one node, with those above it.
func strangeHere(n syntax.Node, above []syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.ParamExp:
		return n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) && (n.Index != nil || !ofColon(above))
	case syntax.ArithmExpr:
		return assignedBy(n) != nil && !stands(n, above)
	case *syntax.LetClause:
		for _, x := range n.Exprs[:len(n.Exprs)-1] {
			if set, is := x.(*syntax.BinaryArithm); !is || set.Op != syntax.Assgn || arithName(set.X) == "" || !plainIndex(set.Y) {
				return true // where it fails, the next ones are not looked at
			}
		}
	case *syntax.Redirect:
		return n.N != nil && strings.HasPrefix(n.N.Value, "{") // a program's own opens them elsewhere
	case *syntax.DeclClause:
		return strangeDeclaration(n, above)
	case *syntax.CallExpr:
		return len(n.Args) > 0 && ofFunctionBody(above) && n.Args[0].Lit() == "unset" // it may show what the function hides
	}
	return false
}

// declaresLater notes a text of eval, a trap or another shell which gives a variable a trait
// or hides it: what was walked before may run again after it.
func (w *walker) declaresLater(file []*syntax.Stmt) {
	for _, st := range file {
		syntax.Walk(st, func(n syntax.Node) bool {
			c, is := n.(*syntax.DeclClause)
			if !is || c.Variant.Value == "export" {
				return true
			}
			for _, a := range c.Args {
				if option := a.Name == nil && a.Value != nil; w.shell.locals != nil || option && strings.Trim(a.Value.Lit(), "-xp") != "" || a.Array != nil {
					w.unknown(unknown.DeclaresInside, w.source(c))
				}
			}
			return true
		})
	}
}

// ofColon reports an expansion that is a word of ":", as in : "${PORT:=3000}".
func ofColon(above []syntax.Node) bool {
	n := len(above) - 1
	if n >= 0 {
		if _, quoted := above[n].(*syntax.DblQuoted); quoted {
			n--
		}
	}
	if n < 2 {
		return false
	}
	_, word := above[n].(*syntax.Word)
	call, is := above[n-1].(*syntax.CallExpr)
	st, alone := above[n-2].(*syntax.Stmt)
	return word && is && alone && len(st.Redirs) == 0 && call.Args[0].Lit() == ":"
}

// stands reports an assignment that is made wherever its expression has a value: it stands
// behind no && and no comma, and not in a word that may not be expanded, or elsewhere.
func stands(x syntax.ArithmExpr, above []syntax.Node) bool {
	for i := len(above) - 1; i >= 0; i-- {
		switch c := above[i].(type) {
		case *syntax.ParenArithm, *syntax.UnaryArithm:
		case *syntax.BinaryArithm:
			switch c.Op {
			case syntax.AndArit, syntax.OrArit, syntax.Comma, syntax.TernQuest, syntax.TernColon:
				return false
			}
		case *syntax.ArithmCmd, *syntax.LetClause:
			return true
		case *syntax.CStyleLoop:
			name := arithName(assignedBy(c.Post))
			return i < len(above)-1 || x != c.Post || name != "" && name == arithName(assignedBy(c.Init))
		case *syntax.ArithmExp:
			return inWord(above[:i])
		default:
			return false
		}
	}
	return false
}

// inWord reports what stands in a word, or in a value that is assigned, of a command.
func inWord(above []syntax.Node) bool {
	for i := len(above) - 1; i >= 0; i-- {
		switch above[i].(type) {
		case *syntax.Word, *syntax.DblQuoted, *syntax.Assign:
		case *syntax.CallExpr:
			return true
		default:
			return false
		}
	}
	return false
}

// ofFunctionBody reports a node in the body of a function.
func ofFunctionBody(above []syntax.Node) bool {
	return slices.ContainsFunc(above, func(n syntax.Node) bool {
		_, is := n.(*syntax.FuncDecl)
		return is
	})
}

// strangeDeclaration reports a declaration in a function that may not run, or adds to what
// is not there.
func strangeDeclaration(c *syntax.DeclClause, above []syntax.Node) bool {
	if c.Variant.Value == "export" || !ofFunctionBody(above) {
		return false
	}
	if slices.ContainsFunc(c.Args, func(a *syntax.Assign) bool { return a.Append }) {
		return true
	}
	// A statement of the function's own block runs, unless the function is left before.
	n := len(above) - 1
	if n < 3 {
		return true
	}
	_, inBlock := above[n-1].(*syntax.Block)
	_, ofFunction := above[n-3].(*syntax.FuncDecl)
	st, is := above[n].(*syntax.Stmt)
	return !inBlock || !ofFunction || !is || st.Background
}
