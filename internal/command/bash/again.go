package bash

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/command/bash/grammar"
	"cardea.dev/internal/command/bash/texts"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// This file finds repetition: loops whose condition never changes, and functions and
// scripts that call themselves. With the commands in such parts, it shows whether a line
// multiplies without end.

// constant reports whether a condition has the same result each time.
func (w *statements) constant(list []*syntax.Stmt) bool {
	if len(list) == 0 {
		return true
	}
	last := list[len(list)-1]
	if last.Background {
		return true
	}
	switch cmd := last.Cmd.(type) {
	case *syntax.CallExpr:
		return w.constantCall(cmd)
	case *syntax.Block:
		return w.constant(cmd.Stmts)
	case *syntax.Subshell:
		return w.constant(cmd.Stmts)
	case *syntax.BinaryCmd:
		return w.constant([]*syntax.Stmt{cmd.Y}) && (grammar.IsPipe(cmd.Op) || w.constant([]*syntax.Stmt{cmd.X}))
	case *syntax.ArithmCmd:
		return w.constantNumber(cmd.X)
	case *syntax.TestClause:
		return w.constantText(w.source(cmd.X), false) && !grammar.TestsFile(cmd.X)
	}
	return false
}

// constantCall reports whether a command always has the same status: true, [ 1 = 1 ]. So
// has a read from a program that prints without end.
func (w *statements) constantCall(c *syntax.CallExpr) bool {
	if len(c.Args) == 0 {
		return false
	}
	name := path.Base(c.Args[0].Lit())
	if name == "read" && w.cmd.stdin.kind == piped {
		return w.out.PrintsEndlessly(w.cmd.stdin.from)
	}
	if !knowledge.Has(form.EndsTheSame, name) || w.cur.Funcs[name] != nil {
		return false
	}
	return !slices.ContainsFunc(c.Args[1:], func(word *syntax.Word) bool {
		text := w.source(word)
		return !w.constantText(text, name == "let") || name != "echo" && len(c.Args) > 2 && grammar.FilePredicate(text)
	})
}

// constantNumber reports whether an arithmetic expression has the same value each time.
// An absent expression has.
func (w *statements) constantNumber(x syntax.ArithmExpr) bool {
	return x == nil || w.constantText(w.source(x), true)
}

// constantText reports whether nothing in an expression changes: it has no variable that
// the loop sets, and no substitution. In arithmetic every name is a variable.
func (w *statements) constantText(text string, arithmetic bool) bool {
	if slices.ContainsFunc([]string{"$(", "`", "<(", "++", "--", "+=", "-="}, func(changes string) bool { return strings.Contains(text, changes) }) {
		return false
	}
	for rest := text; rest != ""; {
		variable := rest[0] == '$'
		if variable {
			rest = strings.TrimLeft(rest[1:], "{")
		}
		end := 0
		for end < len(rest) && texts.IsNameByte(rest[end]) {
			end++
		}
		switch name := rest[:end]; {
		case variable && (name == "" || name[0] <= '9'):
			return false // $1, $?
		case variable || arithmetic && name != "" && name[0] > '9':
			if v := w.lookup(name); !v.Known() && !v.IsUntouched() {
				return false
			}
		}
		rest = rest[max(end, min(1, len(rest))):]
	}
	return true
}
