package knowledge

import "cardea.dev/internal/command/knowledge/form"

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
