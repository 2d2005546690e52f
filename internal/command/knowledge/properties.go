package knowledge

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge/form"
)

// Has reports whether a command has a property, or a command in front of its last words
// has it. The program is known by its base name.
func Has(property form.Property, command ...string) bool {
	_, ok := WordsOf(property, command...)
	return ok
}

// IsInterpreter reports an interpreter of another language than the shell's, with
// or without its version in its name.
func IsInterpreter(program string) bool {
	return Has(form.Interpreter, Unversioned(program))
}

// Unversioned is the name of a program without its version: python of python3.12.
func Unversioned(program string) string { return strings.TrimRight(program, "0123456789.") }

// WordsOf are the words that belong to a property of a command, or of as many of its first
// words as have the property; false where none have it.
func WordsOf(property form.Property, command ...string) ([]string, bool) {
	for n := len(command); n > 1; n-- {
		if words, ok := held(property, strings.Join(command[:n], " ")); ok {
			return words, true
		}
	}
	if len(command) == 0 {
		return nil, false
	}
	return held(property, command[0])
}

// held is [WordsOf] for a command in one text.
func held(property form.Property, program string) ([]string, bool) {
	index := holderIndex()
	for at := holderSlot(property, program); index[at] != 0; at = (at + 1) % holderSlots {
		if h := &holders[index[at]-1]; h.Program == program && h.Property == property {
			return h.Words, true
		}
	}
	return nil, false
}

// holderSlots is how many places the index of holders has: a power of two, and a few
// times as many as there are holders.
const holderSlots = 4096

// holderIndex says where a property of a program stands in the table: one more than its
// index, and 0 for none, at [holderSlot] or behind it. It takes a few microseconds to
// make, and a command is asked for its properties about a hundred times.
var holderIndex = sync.OnceValue(func() *[holderSlots]uint16 {
	var index [holderSlots]uint16
	for i := range holders {
		at := holderSlot(holders[i].Property, holders[i].Program)
		for index[at] != 0 {
			at = (at + 1) % holderSlots
		}
		index[at] = uint16(i + 1)
	}
	return &index
})

// holderSlot is where the index is looked up for a property of a program. It looks at few
// letters, since it is asked for each command many times.
func holderSlot(property form.Property, program string) uint32 {
	h := uint32(len(property))*31 + uint32(len(program))
	for _, text := range [...]string{string(property), program} {
		if n := len(text); n > 0 {
			h = ((h*31+uint32(text[0]))*31+uint32(text[n/2]))*31 + uint32(text[n-1])
		}
	}
	return (h ^ h>>11) % holderSlots
}

// Holders are the commands with a property.
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

// WithWord reports whether a word is one of those that belong to a property of a program.
func WithWord(property form.Property, program, word string) bool {
	words, _ := WordsOf(property, program)
	return slices.Contains(words, word)
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
	return Has(form.MakesLinks, p.Command[0]) && !Has(form.MakesNoLinks, p.Command...)
}

// NamesByValue reports an option whose value tells the program of a part, or the module that
// it runs with -m, what to run or which files to write.
func NamesByValue(p *cardea.Part, o cardea.Option) bool {
	values, _ := WordsOf(form.NamedValues, p.Program())
	for _, m := range p.Options {
		if m.Name == "-m" && Has(form.RunsModules, Unversioned(p.Program())) {
			of, _ := WordsOf(form.NamedValues, m.Value)
			values = slices.Concat(values, of)
		}
	}
	return slices.ContainsFunc(values, func(v string) bool {
		name, pattern, _ := strings.Cut(v, "=")
		return (o.Name == name || abbreviates(o.Name, name)) && (!o.Static && o.Value != "" || fits(strings.TrimPrefix(o.Value, "="), pattern))
	})
}
