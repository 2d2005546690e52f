package grammar

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Skeleton returns a line without the words of its commands: operators, redirections
// with their targets and texts, loops, conditions, assignments. It returns false if the
// line cannot be parsed. Two lines with the same skeleton start as many commands in the
// same order and under the same conditions.
func Skeleton(line string) (string, bool) {
	if !Limit(line).None() {
		return "", false
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return "", false
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		c, ok := n.(*syntax.CallExpr)
		if !ok || len(c.Args) == 0 {
			return true
		}
		c.Args = []*syntax.Word{{Parts: []syntax.WordPart{&syntax.Lit{ValuePos: c.Args[0].Pos(), ValueEnd: c.Args[0].Pos(), Value: "_"}}}}
		return true
	})
	var b strings.Builder
	if err := syntax.NewPrinter(syntax.Minify(true)).Print(&b, f); err != nil {
		return "", false
	}
	return strings.TrimSpace(b.String()), true
}
