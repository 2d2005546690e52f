package grammar

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/command/bash/texts"
)

// ArithName returns the name if an operand is one, else "".
func ArithName(x syntax.ArithmExpr) string {
	if word, ok := x.(*syntax.Word); ok && texts.PlainName(word.Lit()) {
		return word.Lit()
	}
	return ""
}

// BeginsWithValue reports whether an operand begins with the value of a variable.
func BeginsWithValue(x syntax.ArithmExpr) bool {
	word, ok := x.(*syntax.Word)
	if !ok || len(word.Parts) == 0 {
		binary, ok := x.(*syntax.BinaryArithm)
		return ok && BeginsWithValue(binary.X)
	}
	_, lit := word.Parts[0].(*syntax.Lit)
	return !lit
}

// IsAssignment reports whether an operator of arithmetic assigns.
func IsAssignment(op syntax.BinAritOperator) bool {
	return slices.Contains([]syntax.BinAritOperator{syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
		syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn}, op)
}

// CountAssignments returns the number of assignments in an expression, without the
// outermost one if top is set.
func CountAssignments(x syntax.ArithmExpr, top bool) int {
	n := 0
	syntax.Walk(x, func(node syntax.Node) bool {
		if AssignedBy(node) != nil && (!top || node != x) {
			n++
		}
		return true
	})
	return n
}

// AssignedBy returns the target of an assignment in arithmetic, or nil if n assigns nothing.
func AssignedBy(n syntax.Node) syntax.ArithmExpr {
	switch x := n.(type) {
	case *syntax.BinaryArithm:
		if IsAssignment(x.Op) {
			return x.X
		}
	case *syntax.UnaryArithm:
		if x.Op == syntax.Inc || x.Op == syntax.Dec {
			return x.X
		}
	}
	return nil
}
