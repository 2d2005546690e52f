package knowledge

import "cardea.dev/internal/command/knowledge/form"

// Replace puts another description of a name into the table, none where it is
// nil, and gives the way back.
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
