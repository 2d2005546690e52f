package bash

import (
	"slices"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
)

// words expands words as bash does.
type words struct{ *line }

// recorder records what was found: parts with what they do.
type recorder struct{ *words }

// redirections looks at redirections.
type redirections struct{ *recorder }

// commands looks at simple commands: functions, builtins and programs that start others.
type commands struct{ *redirections }

// statements walks statements, lists and compound commands.
type statements struct{ *commands }

// field is one word that bash passes.
type field = knowledge.Word

// lateSpot makes parts opaque for a reason that was found after them: a loop
// runs again what it has changed.
type lateSpot struct {
	from, to int
	why      cardea.Opaque
}

// unseenOptions are the words of a part that may become an option where the line makes a
// name that begins with a dash, and what the program does with such an option.
type unseenOptions struct {
	part   int
	ifMade []int
	access []cardea.Access
}

// mark notes in a part the words that may become an option that the line does not show.
func (u *unseenOptions) mark(p *cardea.Part, words []int) {
	if len(words) > 0 {
		p.Argv, p.Access = slices.Clone(p.Argv), slices.Concat(p.Access, u.access)
	}
	for _, i := range words {
		p.Argv[i].UnseenOption = true
	}
}
