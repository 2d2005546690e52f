package bash

import (
	"strings"

	"cardea.dev/internal/command/bash/texts"
)

// This file finds text that zsh reads in another way than bash: either shell may run the
// line (zshexpn(1), zshmisc(1), zshbuiltins(1)).

// anyOf expands an array without an index, or with a number as one. Zsh yields all of
// the items for it, or counts from 1.
func anyOf(list []string, raw fragment, quoted bool) []fragment {
	if len(list) == 1 {
		return []fragment{expanded(list[0])}
	}
	if len(list) == 0 {
		return nil
	}
	raw.May, raw.several = list, !quoted
	return []fragment{raw}
}

// zshNames reports whether a name after a tilde may be a variable in zsh: one of the line or,
// in capital letters, of the environment. Numbers are positions on the stack of folders.
func (w *words) zshNames(name string) bool {
	return name != "" && strings.Trim(name, "+-0123456789") == "" ||
		texts.PlainName(name) && (!w.lookup(name).IsUntouched() || strings.ContainsAny(name, "_ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
}
