package bash

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Tidy is a line as the parser prints it, by which lines can be compared:
// without comments, and without blanks and semicolons that mean nothing. A line
// that ends before its last command has is an error, since nobody is told how
// that ends.
func Tidy(text string) (string, error) {
	file, err := parseLine(text)
	if err != nil {
		return "", err
	}
	if len(file.Stmts) == 0 {
		return "", errors.New("there is no command in it")
	}
	last := file.Stmts[len(file.Stmts)-1]
	if _, apart := last.Cmd.(*syntax.CoprocClause); apart || last.Background || last.Disown {
		return "", errors.New("its last command runs in the background, and nobody is told how that ends")
	}
	return printed(file)
}

// Links are the commands, each as in Tidy, of a line that consists of nothing
// else than commands joined by &&, so that it succeeds if all of them ran and
// did; nil for other lines.
func Links(text string) []string {
	file, err := parseLine(text)
	if err != nil || len(file.Stmts) != 1 {
		return nil
	}
	return links(file.Stmts[0])
}

func links(s *syntax.Stmt) []string {
	if s.Negated || s.Background || s.Coprocess || s.Disown {
		return nil
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if text, err := printed(s); err == nil {
			return []string{text}
		}
	case *syntax.BinaryCmd:
		if x, y := links(c.X), links(c.Y); c.Op == syntax.AndStmt && x != nil && y != nil {
			return append(x, y...)
		}
	}
	return nil
}

func parseLine(text string) (*syntax.File, error) {
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, fmt.Errorf("parse line: %w", err)
	}
	return file, nil
}

func printed(node syntax.Node) (string, error) {
	var b strings.Builder
	if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, node); err != nil {
		return "", fmt.Errorf("print line: %w", err)
	}
	return strings.TrimSpace(b.String()), nil
}
