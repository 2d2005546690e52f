package inforce

import (
	"fmt"
	"path/filepath"
	"slices"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/config/settings"
)

const (
	// MaxOrgs is the maximum number of organisations on a machine.
	MaxOrgs = 16
	// maxOrgEntries is the maximum number of entries in the folder of organisations.
	maxOrgEntries = 256
)

// findOrgs finds the folders of organisations. Deny and ask rules of all of them apply
// everywhere. The rest applies for the one that settings name, and the one of the project's
// remote.
func (l *Loaded) findOrgs(named string) {
	dir := project.Below(l.Where.Dirs.User, "org")
	if dir == "" || l.absent.Folder(dir) {
		return
	}
	names, problem := orgNames(dir, named)
	if problem != nil {
		l.Files = append(l.Files, RulesFile{Path: dir, Scope: cardea.ScopeOrg, Problems: []diagnostic.Diagnostic{*problem}})
	}
	if len(names) == 0 {
		return
	}
	remote := project.RemoteOf(l.Where.Project, l.Where.Dirs.Home)
	var full, rest []folder
	for _, name := range names {
		at := folder{dir: filepath.Join(dir, name), scope: cardea.ScopeOrg}
		switch {
		case name == named || name == l.Where.Org:
			full = slices.Insert(full, 0, at)
		case remote != project.Remote{} && project.OrgRemote(name) == remote:
			full = append(full, at)
		default:
			at.tightens = true
			rest = append(rest, at)
		}
	}
	l.orgs = append(full, rest...)
}

// orgNames returns the names of the organisations in a folder, sorted. Other entries are
// skipped. The one that settings name is included even if it is not a folder, so that the
// problem is reported.
func orgNames(dir, named string) ([]string, *diagnostic.Diagnostic) {
	entries, err := state.Entries(dir, maxOrgEntries+1)
	if err != nil {
		p := unread(dir, err)
		return nil, &p
	}
	var names []string
	for _, e := range entries {
		if settings.IsName(e.Name()) && (e.Name() == named || e.IsDir() || state.IsLink(filepath.Join(dir, e.Name()))) {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	if len(names) > MaxOrgs || len(entries) > maxOrgEntries {
		return names[:min(len(names), MaxOrgs)], &diagnostic.Diagnostic{File: dir, Code: diagnostic.CodeTooLarge,
			Text: fmt.Sprintf("holds more than %d organisations, and only the first of them count", MaxOrgs), Hint: "remove what is not needed"}
	}
	return names, nil
}

// orgNamed returns why only deny and ask rules of an organisation's file apply.
func orgNamed(path string) string {
	return "neither org.name nor the project's remote is " + filepath.Base(filepath.Dir(path))
}
