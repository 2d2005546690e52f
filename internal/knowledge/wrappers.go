package knowledge

import "cardea.dev/internal/knowledge/form"

// WrapperOf finds a wrapper by its base name, nil where the program is none.
func WrapperOf(name string) *form.Wrapper {
	for i := range wrappers {
		if Matches(wrappers[i].Name, name) {
			return &wrappers[i]
		}
	}
	return nil
}

// StartsOnInput reports a wrapper that starts its command with words that it
// reads.
func StartsOnInput(name string) bool { return starts(name, "input") }

// ChangesEnvironment reports a wrapper that changes nothing but the environment
// and the folder of its command.
func ChangesEnvironment(name string) bool { return starts(name, "environment") }

// BuildsLines reports a wrapper that makes lines for a shell of templates.
func BuildsLines(name string) bool { return starts(name, "templates") }

func starts(name, how string) bool {
	s := WrapperOf(name)
	return s != nil && s.How == how
}
