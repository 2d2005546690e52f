package cli

import (
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/permission"
)

// lists are the places of the harnesses' permission lists.
func (p Process) lists(pl *place) []permission.Source {
	return claudecode.Lists(pl.dirs.Claude, pl.start, claudecode.ManagedDir(p.Machine.OS))
}

func tracked(string) bool { return false }
