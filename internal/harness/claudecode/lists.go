package claudecode

import (
	"path/filepath"

	"cardea.dev"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/harness/permissionlist"
)

// Lists returns the sources of Claude Code's permission lists for a session that began in the
// folder start: the managed files, those of the project's folders, and the user's in configDir
// (~/.claude). "" leaves a source out. The entries of managed files have the system scope, those of
// settings.local.json the user scope (docs/permissions.md). absent caches missing folders; it may
// be nil.
func Lists(configDir, start, managedDir string, absent *state.Absent) []permissionlist.Source {
	var out []permissionlist.Source
	for _, f := range settingsFiles(configDir, start, managedDir, absent) {
		dir := filepath.Dir(f.path)
		s := permissionlist.Source{Origin: permissionlist.Origin{Harness: Name, File: f.path, Scope: cardea.ScopeUser, Source: dir}}
		switch f.scope {
		case managedScope:
			s.Scope = cardea.ScopeSystem
		case projectScope:
			s.Scope, s.Project, s.Source = cardea.ScopeProject, filepath.Dir(dir), filepath.Dir(dir)
		case localScope:
			s.Local, s.Project, s.Source = true, filepath.Dir(dir), start
		}
		out = append(out, s)
	}
	return out
}

// ProjectLists returns the sources of the lists in one folder of a project, or in a folder that was
// added to the work.
func ProjectLists(dir string) []permissionlist.Source {
	var out []permissionlist.Source
	for _, name := range []string{"settings.json", "settings.local.json"} {
		out = append(out, permissionlist.Source{Project: dir, Origin: permissionlist.Origin{Harness: Name,
			File: filepath.Join(dir, ".claude", name), Scope: cardea.ScopeProject, Source: dir}})
	}
	return out
}
