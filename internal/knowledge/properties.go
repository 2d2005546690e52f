package knowledge

import (
	"cmp"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/knowledge/form"
)

// Has reports whether a program has a property. The program is known by its base
// name.
func Has(property form.Property, program string) bool {
	_, ok := WordsOf(property, program)
	return ok
}

// IsInterpreter reports an interpreter of another language than the shell's, with
// or without its version in its name.
func IsInterpreter(program string) bool {
	return Has(form.Interpreter, Unversioned(program))
}

// Unversioned is the name of a program without its version: python of python3.12.
func Unversioned(program string) string { return strings.TrimRight(program, "0123456789.") }

// WordsOf are the words that belong to a property of a program; false where it
// does not have the property.
func WordsOf(property form.Property, program string) ([]string, bool) {
	// By hand, since it is asked many times for each command: a comparison of the
	// slices package copies what it compares.
	low, high := 0, len(holders)
	for low < high {
		middle := (low + high) / 2
		if h := &holders[middle]; h.Property < property || h.Property == property && h.Program < program {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == len(holders) || holders[low].Property != property || holders[low].Program != program {
		return nil, false
	}
	return holders[low].Words, true
}

// Holders are the programs with a property.
func Holders(property form.Property) []form.Holder {
	from, _ := slices.BinarySearchFunc(holders[:], property, func(h form.Holder, p form.Property) int { return cmp.Compare(h.Property, p) })
	to := from
	for to < len(holders) && holders[to].Property == property {
		to++
	}
	return holders[from:to]
}

// HasWith reports whether a program has a property with one of some words: also
// where no words belong to it.
func HasWith(property form.Property, program string, has func(word string) bool) bool {
	words, ok := WordsOf(property, program)
	return ok && (len(words) == 0 || slices.ContainsFunc(words, has))
}

// Matches reports whether a word is one of a list, in which a star at the end
// stands for any ending.
func Matches(list []string, word string) bool {
	return slices.ContainsFunc(list, func(w string) bool {
		head, open := strings.CutSuffix(w, "*")
		return w == word || open && strings.HasPrefix(word, head)
	})
}

// MayMakeLinks reports a part that may put a link where another one writes.
func MayMakeLinks(p *cardea.Part) bool {
	if len(p.Command) == 0 || p.MakesFilesOnly() {
		return false
	}
	without, _ := WordsOf(form.MakesNoLinks, p.Command[0])
	return Has(form.MakesLinks, p.Command[0]) && (len(p.Command) < 2 || !slices.Contains(without, p.Command[1]))
}
