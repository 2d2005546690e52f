package knowledge

import (
	"slices"
	"strings"

	"cardea.dev/internal/command/knowledge/form"
)

// Replace replaces the description of a name in the table, or removes it if p is nil,
// and returns a function that restores it.
func Replace(name string, p *form.Program) (restore func()) {
	for i := range programs {
		if programs[i].name == name {
			old := programs[i].program
			programs[i].program = p
			return func() { programs[i].program = old }
		}
	}
	panic("no program " + name)
}

// Insert puts the description of a new name into the table, in the place of the name that
// follows it, or replaces the description of a known name. It returns a function that
// restores the table.
func Insert(name string, p *form.Program) (restore func()) {
	i, known := slices.BinarySearchFunc(programs[:], name, func(d described, name string) int { return strings.Compare(d.name, name) })
	if known {
		return Replace(name, p)
	}
	if i == len(programs) {
		panic("no place for " + name)
	}
	old := programs[i]
	programs[i] = described{name, p}
	return func() { programs[i] = old }
}
