package hook

import (
	"slices"

	"cardea.dev/internal/base/state"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/harness/permissionfiles"
	"cardea.dev/internal/harness/permissionlist"
)

// lists returns the sources of the harnesses' permission lists: files, the harness's own
// command line, and settings files that this command was given. absent is what is known of
// folders, or nil.
func (p Process) lists(pl *Location, absent *state.Absent) []permissionlist.Source {
	out := claudecode.Lists(pl.Dirs.Claude, pl.Start, p.Managed, absent)
	var flags claudecode.Flags
	if p.Lines != nil {
		flags = claudecode.FlagsOf(p.Lines())
	}
	given := claudecode.Flags{Settings: p.Given}.Lists(p.Dir)
	return slices.Concat(flags.Lists(pl.Start), given, out, permissionfiles.Of(pl.Dirs.Home, pl.Start, pl.Project, p.Machine.OS, absent))
}

// listsIn returns the sources of the lists in a folder around a call.
func listsIn(dir string) []permissionlist.Source {
	return slices.Concat(claudecode.ProjectLists(dir), permissionfiles.In(dir, nil))
}
