package bash

import (
	"slices"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
)

// words expands words as bash does.
type words struct{ *line }

// recorder records the parts of a line with their effects.
type recorder struct{ *words }

// redirections handles redirections.
type redirections struct{ *recorder }

// commands handles simple commands: functions, builtins and programs that start others.
type commands struct{ *redirections }

// statements walks statements, lists and compound commands.
type statements struct{ *commands }

// field is one word that bash passes.
type field = knowledge.Word

// lateSpot makes earlier parts opaque for a reason that was found after them: the next
// round of a loop runs them with its changes.
type lateSpot struct {
	from, to int
	why      cardea.Opaque
}

// unseenOptions holds the words of a part that may become an option if the line creates
// a name that begins with a dash, and the accesses of such an option.
type unseenOptions struct {
	part   int
	ifMade []int
	access []cardea.Access
}

// mark marks the words of a part that may become an option that the line does not show.
func (u *unseenOptions) mark(p *cardea.Part, words []int) {
	if len(words) > 0 {
		p.Argv, p.Access = slices.Clone(p.Argv), slices.Concat(p.Access, u.access)
	}
	for _, i := range words {
		p.Argv[i].UnseenOption = true
	}
}
