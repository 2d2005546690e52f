package inforce

import (
	"fmt"
	"path/filepath"
	"slices"

	"cardea.dev"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/config/settings"
)

const (
	// MaxOrgs is how many organisations count on a machine.
	MaxOrgs = 16
	// maxOrgEntries bounds the folder that holds those of organisations.
	maxOrgEntries = 256
)

// findOrgs finds the folders of organisations. Denies and asks of all of them count
// everywhere. All else counts of the one that settings name, and of the one whose the
// project's remote is.
func (l *Loaded) findOrgs(named string) {
	dir := project.Below(l.Where.Dirs.User, "org")
	if dir == "" || l.absent.Folder(dir) {
		return
	}
	names, problem := orgNames(dir, named)
	if problem != nil {
		l.Files = append(l.Files, RulesFile{Path: dir, Scope: cardea.ScopeOrg, Problems: []cardea.Diagnostic{*problem}})
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

// orgNames are the names of the folders in one, sorted. What has no name of an
// organisation is none. The one that settings name counts whatever stands in its
// place, so that it is told that it cannot be read.
func orgNames(dir, named string) ([]string, *cardea.Diagnostic) {
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
		return names[:min(len(names), MaxOrgs)], &cardea.Diagnostic{File: dir, Code: cardea.CodeTooLarge,
			Text: fmt.Sprintf("holds more than %d organisations, and only the first of them count", MaxOrgs), Hint: "remove what is not needed"}
	}
	return names, nil
}

// orgNamed says of a file of an organisation of which only denies and asks count
// why that is so.
func orgNamed(path string) string {
	return "neither org.name nor the project's remote is " + filepath.Base(filepath.Dir(path))
}
