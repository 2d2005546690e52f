package knowledge

import (
	"strings"
	"sync"

	"cardea.dev/internal/command/knowledge/form"
)

// WrapperOf finds a wrapper by its base name, nil where the program is none.
func WrapperOf(name string) *form.Wrapper {
	if name == "" || wrapperLengths()[name[0]]>>min(len(name), 63)&1 == 0 {
		return nil // most names are of none
	}
	for i := range wrappers {
		if Matches(wrappers[i].Name, name) {
			return &wrappers[i]
		}
	}
	return nil
}

// wrapperLengths says, by the first letter, how long the names of wrappers are: a bit for
// each length, the last for all that are longer.
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
