package hook

import (
	"slices"

	"cardea.dev/internal/base/state"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/harness/permissionfiles"
	"cardea.dev/internal/harness/permissionlist"
)

// lists are the places of the harnesses' permission lists: those that lie in
// files, those that the harness's own command line names, and those that this
// command was given. absent is what is known of folders, nil for nothing.
func (p Process) lists(pl *Place, absent *state.Absent) []permissionlist.Source {
	out := claudecode.Lists(pl.Dirs.Claude, pl.Start, p.Managed, absent)
	var flags claudecode.Flags
	if p.Lines != nil {
		flags = claudecode.FlagsOf(p.Lines())
	}
	given := claudecode.Flags{Settings: p.Given}.Lists(p.Dir)
	return slices.Concat(flags.Lists(pl.Start), given, out, permissionfiles.Of(pl.Dirs.Home, pl.Start, pl.Project, p.Machine.OS, absent))
}

// listsIn are the places of the lists in a folder around a call.
func listsIn(dir string) []permissionlist.Source {
	return slices.Concat(claudecode.ProjectLists(dir), permissionfiles.In(dir, nil))
}
