package knowledge

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge/form"
)

// Has reports whether a command, or a command of its first words, has a property. The
// program is given by its base name.
func Has(property form.Property, command ...string) bool {
	_, ok := WordsOf(property, command...)
	return ok
}

// IsInterpreter reports whether program interprets a language other than the shell's. A
// version in its name is ignored.
func IsInterpreter(program string) bool {
	return Has(form.Interpreter, Unversioned(program))
}

// Unversioned returns the name of a program without its version: python for python3.12.
func Unversioned(program string) string { return strings.TrimRight(program, "0123456789.") }

// WordsOf returns the words of a property of a command, or of as many of its first words
// as have the property. It returns false if none have it.
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

// held is like [WordsOf] for a command in one text, without its shorter forms.
func held(property form.Property, program string) ([]string, bool) {
	index := holderIndex()
	for at := holderArgument(property, program); index[at] != 0; at = (at + 1) % holderBuckets {
		if h := &holders[index[at]-1]; h.Program == program && h.Property == property {
			return h.Words, true
		}
	}
	return nil, false
}

// holderBuckets is the size of the index of holders: a power of two, and a few times the
// number of holders.
const holderBuckets = 4096

// holderIndex maps a property of a program to one more than its index in the table, at
// [holderArgument] or after it. 0 marks a free place. It takes a few microseconds to build,
// and the analysis looks up about a hundred properties per command.
var holderIndex = sync.OnceValue(func() *[holderBuckets]uint16 {
	var index [holderBuckets]uint16
	for i := range holders {
		at := holderArgument(holders[i].Property, holders[i].Program)
		for index[at] != 0 {
			at = (at + 1) % holderBuckets
		}
		index[at] = uint16(i + 1)
	}
	return &index
})

// holderArgument returns the place in the index at which the search for a property of a
// program begins. It reads few letters, since it runs many times per command.
func holderArgument(property form.Property, program string) uint32 {
	h := uint32(len(property))*31 + uint32(len(program))
	for _, text := range [...]string{string(property), program} {
		if n := len(text); n > 0 {
			h = ((h*31+uint32(text[0]))*31+uint32(text[n/2]))*31 + uint32(text[n-1])
		}
	}
	return (h ^ h>>11) % holderBuckets
}

// Holders returns the commands with a property.
func Holders(property form.Property) []form.Holder {
	from, _ := slices.BinarySearchFunc(holders[:], property, func(h form.Holder, p form.Property) int { return cmp.Compare(h.Property, p) })
	to := from
	for to < len(holders) && holders[to].Property == property {
		to++
	}
	return holders[from:to]
}

// HasWith reports whether a program has a property with one of the words that has
// accepts, or a property without words.
func HasWith(property form.Property, program string, has func(word string) bool) bool {
	words, ok := WordsOf(property, program)
	return ok && (len(words) == 0 || slices.ContainsFunc(words, has))
}

// WithWord reports whether word belongs to a property of a program.
func WithWord(property form.Property, program, word string) bool {
	words, _ := WordsOf(property, program)
	return slices.Contains(words, word)
}

// Matches reports whether word is in list, where a star at the end stands for any ending.
func Matches(list []string, word string) bool {
	return slices.ContainsFunc(list, func(w string) bool {
		head, open := strings.CutSuffix(w, "*")
		return w == word || open && strings.HasPrefix(word, head)
	})
}

// MayMakeLinks reports whether a part may create a link at a path that another part writes.
func MayMakeLinks(p *cardea.Part) bool {
	if len(p.Command) == 0 || p.MakesFilesOnly() {
		return false
	}
	return Has(form.MakesLinks, p.Command[0]) && !Has(form.MakesNoLinks, p.Command...)
}

// NamesByValue reports whether the value of o tells the part's program, or the module
// that it runs with -m, what to run or which files to write.
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
