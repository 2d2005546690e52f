package bash

import (
	"slices"
	"strings"

	"cardea.dev"
)

// startsOther reports the builtins that start the command behind them.
func startsOther(name string) bool {
	return slices.Contains([]string{"command", "builtin", "exec", "eval", "noglob", "nocorrect"}, name)
}

// outerAndSelf are the commands around what this one starts: those around it, and
// itself.
func (inv invocation) outerAndSelf() []cardea.Outer {
	text, argv := spelled(inv.argv)
	return append(slices.Clone(inv.outer()), cardea.Outer{Text: text, Argv: argv})
}

// outer are the commands around this one. The first that is elevated is the
// last that came off before it was.
func (inv invocation) outer() []cardea.Outer {
	n := len(inv.around)
	if n == 0 || !inv.elevated && !inv.remote || slices.ContainsFunc(inv.around, func(o cardea.Outer) bool { return o.Elevated }) {
		return inv.around
	}
	around := slices.Clone(inv.around)
	around[n-1].Elevated = true
	return around
}

// spelled is the canonical text of a command, and its words.
func spelled(fields []field) (string, []cardea.Word) {
	if len(fields) == 0 {
		return "", nil
	}
	words := make([]cardea.Word, len(fields))
	var text strings.Builder
	for i := range fields {
		words[i] = fields[i].Word
		if i > 0 {
			text.WriteByte(' ')
		}
		text.WriteString(quote(fields[i]))
	}
	return text.String(), words
}
