package bash

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
)

// maxDefined is the number of commands of programs that a line may define.
const maxDefined = 64

// definedCommands adds to parts the commands that they may run because the line defines
// them, in the order of the line: git config alias.p push; git p.
func (w *recorder) definedCommands(parts []cardea.Part) {
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
		line, found := follow(defined, strings.Join(p.Command[:2], " "), maxDefined)
		if !found {
			continue
		}
		for _, f := range p.Argv[1+slices.IndexFunc(p.Argv, func(f cardea.Word) bool { return f.Text == p.Command[1] }):] {
			line += " " + quote(field{Word: f})
		}
		env := w.within()
		env.Cwd = p.Dir
		addPotential(p, knowledge.Potential{Run: []string{line}, Touch: p.MayTouch}, env)
	}
}

// follow returns the line for which a defined command stands, and whether the line defines it.
func follow(defined map[string]string, command string, left int) (line string, found bool) {
	words := append(strings.SplitN(command, " ", 3), "", "")
	line, found = defined[words[0]+" "+strings.ToLower(words[1])]
	if !found || left == 0 {
		return command, false
	}
	line, _ = follow(defined, strings.TrimSpace(line+" "+words[2]), left-1)
	return line, true
}
