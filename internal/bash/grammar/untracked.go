package grammar

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// untracked reports whether a script has a construct in which variables are not followed.
// Each is rare in a line that a person types, and none is worth a model of its own.
func untracked(file []*syntax.Stmt) bool {
	found := false
	defined := map[string]bool{}
	var above []syntax.Node
	for _, st := range file {
		syntax.Walk(st, func(n syntax.Node) bool {
			if n == nil {
				above = above[:len(above)-1]
				return true
			}
			found = found || untrackedHere(n, above)
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

// untrackedHere is untracked for one node, with those above it.
func untrackedHere(n syntax.Node, above []syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.ParamExp:
		return n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) && (n.Index != nil || !ofColon(above))
	case syntax.ArithmExpr:
		return AssignedBy(n) != nil && !stands(n, above)
	case *syntax.LetClause:
		for _, x := range n.Exprs[:len(n.Exprs)-1] {
			if set, is := x.(*syntax.BinaryArithm); !is || set.Op != syntax.Assgn || ArithName(set.X) == "" || !PlainIndex(set.Y) {
				return true // where it fails, the next ones are not looked at
			}
		}
	case *syntax.Redirect:
		return n.N != nil && strings.HasPrefix(n.N.Value, "{") // a program's own opens them elsewhere
	case *syntax.DeclClause:
		return untrackedDeclaration(n, above)
	case *syntax.CallExpr:
		return len(n.Args) > 0 && ofFunctionBody(above) && n.Args[0].Lit() == "unset" // it may show what the function hides
	}
	return false
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
			name := ArithName(AssignedBy(c.Post))
			return i < len(above)-1 || x != c.Post || name != "" && name == ArithName(AssignedBy(c.Init))
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

// untrackedDeclaration reports a declaration in a function that may not run, or adds to what
// is not there.
func untrackedDeclaration(c *syntax.DeclClause, above []syntax.Node) bool {
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
