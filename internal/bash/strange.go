package bash

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/bash/unknown"
)

// This file names the constructs in which the walker does not follow what becomes of
// variables. Each of them is rare in a line that somebody types, and none is worth a model
// of its own: a script with one has no constants, and every folder behind a cd is unknown.

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
				if option := a.Name == nil && a.Value != nil; w.cur.Locals != nil || option && strings.Trim(a.Value.Lit(), "-xp") != "" || a.Array != nil {
					w.unknown(unknown.DeclaresInside, w.source(c))
				}
			}
			return true
		})
	}
}
