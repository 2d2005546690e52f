package bash

import (
	"strings"

	"cardea.dev/internal/command/bash/texts"
)

// This file finds what zsh reads in another way than bash does: either may run the line
// (zshexpn(1), zshmisc(1), zshbuiltins(1)).

// anyOf is an array without an index, or with a number as one, of which zsh gives all of the items,
// or counts from 1.
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

// zshNames reports a name after a tilde that is a variable to zsh, if the shell has it: one of
// the line or, in capital letters, of the environment. Numbers are places on the stack of folders.
func (w *words) zshNames(name string) bool {
	return name != "" && strings.Trim(name, "+-0123456789") == "" ||
		texts.PlainName(name) && (!w.lookup(name).IsUntouched() || strings.ContainsAny(name, "_ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
}
