package knowledge

import (
	"strings"
	"sync"

	"cardea.dev/internal/command/knowledge/form"
)

// WrapperOf returns a wrapper by its base name, or nil if the program is no wrapper.
func WrapperOf(name string) *form.Wrapper {
	if name == "" || wrapperLengths()[name[0]]>>min(len(name), 63)&1 == 0 {
		return nil // most names are not those of wrappers
	}
	for i := range wrappers {
		if Matches(wrappers[i].Name, name) {
			return &wrappers[i]
		}
	}
	return nil
}

// wrapperLengths returns the lengths of the names of wrappers by first letter: a bit for
// each length, the last for all longer ones.
var wrapperLengths = sync.OnceValue(func() *[256]uint64 {
	var out [256]uint64
	for i := range wrappers {
		for _, name := range wrappers[i].Name {
			head, open := strings.CutSuffix(name, "*")
			switch {
			case head == "":
				for c := range out {
					out[c] = ^uint64(0)
				}
			case open:
				out[head[0]] |= ^uint64(0) << min(len(head), 63)
			default:
				out[name[0]] |= 1 << min(len(name), 63)
			}
		}
	}
	return &out
})

// StartsOnInput reports whether a wrapper starts its command with words from its input.
func StartsOnInput(name string) bool { return starts(name, "input") }

// ChangesEnvironment reports whether a wrapper only changes the environment and the
// folder of its command.
func ChangesEnvironment(name string) bool { return starts(name, "environment") }

// BuildsLines reports whether a wrapper builds shell lines from templates.
func BuildsLines(name string) bool { return starts(name, "templates") }

func starts(name, how string) bool {
	s := WrapperOf(name)
	return s != nil && s.How == how
}
