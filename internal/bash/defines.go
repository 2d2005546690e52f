package bash

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/knowledge"
)

// maxDefined bounds how many commands of programs a line may define.
const maxDefined = 64

// definedCommands adds to parts what they may run by a command that the line defines, in the
// order of the line: git config alias.p push; git p.
func (w *walker) definedCommands(parts []cardea.Part) {
	defined := map[string]string{}
	for i := range parts {
		p := &parts[i]
		if len(p.Command) == 0 {
			continue
		}
		if command, line, ok := knowledge.Defines(p); ok && len(defined) < maxDefined {
			defined[command] = line
		}
		if len(defined) == 0 || len(p.Command) < 2 {
			continue
		}
		line := strings.Join(p.Command[:2], " ")
		for range maxDefined {
			words := strings.SplitN(line, " ", 3)
			next, is := defined[strings.Join(words[:min(2, len(words))], " ")]
			if !is {
				break
			}
			line = strings.Join(append([]string{next}, words[min(2, len(words)):]...), " ")
		}
		if line == strings.Join(p.Command[:2], " ") {
			continue
		}
		at := slices.IndexFunc(p.Argv, func(f cardea.Word) bool { return f.Text == p.Command[1] })
		var fields []field
		for _, word := range p.Argv[at+1:] {
			fields = append(fields, field{Word: word})
		}
		rest, _ := spelled(fields)
		env := w.within()
		env.Cwd = p.Dir
		possible(p, knowledge.Possible{Run: []string{line + " " + rest}, Touch: p.MayTouch}, env)
	}
}
