package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Chained is how many commands a line has that consists of nothing else than
// commands joined by &&, so that it succeeds if all of them ran and did; -1 for
// other lines.
func Chained(text string) int {
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) != 1 {
		return -1
	}
	return links(file.Stmts[0])
}

func links(s *syntax.Stmt) int {
	if s.Negated || s.Background || s.Coprocess || s.Disown {
		return -1
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return 1
	case *syntax.BinaryCmd:
		if x, y := links(c.X), links(c.Y); c.Op == syntax.AndStmt && x > 0 && y > 0 {
			return x + y
		}
	}
	return -1
}
