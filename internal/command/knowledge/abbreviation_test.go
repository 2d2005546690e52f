package knowledge

import (
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge/form"
)

// TestAbbreviationsRead checks that the value of a long option is also read if the
// option is abbreviated.
func TestAbbreviationsRead(t *testing.T) {
	tried := 0
	var look func(command []string, p *form.Program)
	look = func(command []string, p *form.Program) {
		for i := range p.Subcommands {
			if name := p.Subcommands[i].Name[0]; name != "*" {
				look(append(slices.Clone(command), name), &p.Subcommands[i])
			}
		}
		for _, a := range p.OptionAccesses {
			short := a.Name[:len(a.Name)-1]
			if a.Access != cardea.Read || !strings.HasPrefix(a.Name, "--") || len(short) < len("--abc") || slices.Contains(p.TwoValueOptions, a.Name) {
				continue
			}
			for _, words := range [][]string{{short + "=f.txt"}, {short, "f.txt"}} {
				inv := Invocation{Paths: Paths{Dir: "/w"}}
				for _, w := range slices.Concat(command, words) {
					inv.Words = append(inv.Words, Literal(w))
				}
				tried++
				if !slices.ContainsFunc(Describe(inv, &System{}).Access, func(a cardea.Access) bool { return a.Kind == cardea.Read && a.Path == "/w/f.txt" }) {
					t.Errorf("%s %s reads no file", strings.Join(command, " "), strings.Join(words, " "))
				}
			}
		}
	}
	for i := range programs {
		if p := programOf(programs[i].name); p != nil && p.Name[0] == programs[i].name {
			look([]string{programs[i].name}, p)
		}
	}
	t.Logf("%d abbreviations", tried)
}
