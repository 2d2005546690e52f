package inforce

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/harness/permissionlist"
)

// PermissionFile is a file with a harness's permission lists that was read.
type PermissionFile struct {
	// From is what counts of it, shared by its entries.
	From *permissionlist.Origin
	// Entries is how many it has.
	Entries int
	// Left are those that apply to calls of their own harness alone.
	Left []permissionlist.Entry
	// Kept is set where the file is broken and its last good form is in force.
	Kept     bool
	Problems []cardea.Diagnostic

	managedOnly bool
	broken      bool
	dirs        []string
}

// readPermissions reads the lists of every place, and what follows from them
// for each other.
func (l *Loaded) readPermissions(places []permissionlist.Source) {
	for _, s := range places {
		f, entries := l.readPermissionFile(s)
		if f == nil {
			continue
		}
		l.PermissionFiles = append(l.PermissionFiles, f)
		l.Permissions = append(l.Permissions, entries...)
	}
	if slices.ContainsFunc(l.PermissionFiles, func(f *PermissionFile) bool { return f.managedOnly }) {
		for _, f := range l.PermissionFiles {
			if f.From.Scope != cardea.ScopeSystem && f.From.Harness == claudecode.Name {
				f.From.Allows, f.From.Why = false, "managed settings say that only their own entries allow"
			}
		}
	}
}

// readPermissionFile reads one place; nil where nothing is there.
func (l *Loaded) readPermissionFile(s permissionlist.Source) (*PermissionFile, []permissionlist.Entry) {
	if s.Text == nil && l.absent.File(s.File) {
		return nil, nil
	}
	from := s.Origin
	f := &PermissionFile{From: &from}
	at := folder{scope: from.Scope}
	if s.Project != "" {
		at.scope = cardea.ScopeProject // where its last good form lies
	}
	got, when, found := l.listOf(f, s)
	if !found {
		return nil, nil
	}
	if f.broken = cardea.HasError(got.Problems); !f.broken && s.Text == nil {
		l.note(from.File, at, got.Kept, when)
	} else if old := l.kept.Form(from.File, at.source()); f.broken && old != nil {
		problems := keptInForce(got.Problems)
		got = permissionlist.ReadFormat(s.Format, f.From, old)
		got.Problems, f.Kept, f.broken = problems, true, false
	}
	f.Left = got.Left
	f.Entries, f.Problems, f.dirs, f.managedOnly = len(got.Entries), got.Problems, got.Dirs, got.ManagedOnly && from.Scope == cardea.ScopeSystem
	l.countPermissions(f, s, got)
	f.warn(got.Entries)
	return f, got.Entries
}

// listOf reads the list of a place as it lies there.
func (l *Loaded) listOf(f *PermissionFile, s permissionlist.Source) (got permissionlist.Settings, when time.Time, found bool) {
	data := s.Text
	if data == nil {
		var err error
		if data, when, err = project.ReadKnown(l.Where.files(), s.File, ""); err != nil {
			got.Problems = []cardea.Diagnostic{unread(s.File, err)}
			return got, when, true
		}
		if data == nil {
			return got, when, false
		}
	}
	return l.permissionEntries(s, f.From, data), when, true
}

// countPermissions says whether what a file allows counts, and why not.
func (l *Loaded) countPermissions(f *PermissionFile, s permissionlist.Source, got permissionlist.Settings) {
	from := f.From
	from.Allows = true
	not := func(why string) { from.Allows, from.Why = false, why }
	allows := slices.ContainsFunc(got.Entries, func(e permissionlist.Entry) bool { return e.Effect == cardea.Allow })
	brought := s.Local && allows && !f.broken && l.Where.Tracked != nil && l.Where.Tracked(from.File)
	if brought {
		from.Scope = cardea.ScopeProject
	}
	switch {
	case f.broken:
		not("the file is broken")
	case from.Scope == cardea.ScopeSystem && l.Where.Guarded != nil:
		for _, path := range []string{filepath.Dir(from.File), from.File} {
			if why := l.Where.Guarded(path); why != "" {
				not(path + " " + why)
			}
		}
	case from.Scope == cardea.ScopeProject:
		from.Withheld = true
		switch {
		case len(got.Entries) == 0:
		case l.Where.Trust == nil && brought:
			not("git tracks the file, or did, so it came with the project, which is not trusted")
		case l.Where.Trust == nil:
			not("the project is not trusted")
		case !paths.Within(paths.Real(l.Where.Project), paths.Real(s.Project)):
			not(otherProject)
		case !l.Where.Trust(from.File, got.Kept):
			not("the file is not as you trusted it")
		default:
			from.Withheld = false
		}
	case s.Nested:
		not("an agent started this one, and may have written its command line")
	}
}

const otherProject = "it is another project's"

// warn tells of entries that deny or ask and cannot be interpreted: their
// author believes to be protected.
func (f *PermissionFile) warn(entries []permissionlist.Entry) {
	for i := range entries {
		if e := &entries[i]; e.Form == permissionlist.Nothing && e.Effect != cardea.Allow && f.From.Harness == claudecode.Name {
			f.Problems = append(f.Problems, cardea.Diagnostic{File: f.From.File, Line: e.Line(), Column: e.Column(), Severity: cardea.LevelWarning, Code: cardea.CodeNoEffect,
				Text: fmt.Sprintf("the entry %q %s nothing: %s", e.Text, permissionlist.Verb(e.Effect), e.Why), Hint: `look at "cardea permissions"`})
		}
	}
}

// AdditionalDirs are the folders that the person, or the machine's
// administrator, added to what a harness works in. Those of a project's files
// are left out, settings.local.json included: a clone can bring either.
func (l *Loaded) AdditionalDirs() []string {
	var out []string
	for _, f := range l.PermissionFiles {
		if f.From.Scope == cardea.ScopeProject || strings.HasSuffix(f.From.File, "settings.local.json") {
			continue
		}
		for _, dir := range f.dirs {
			if at := claudecode.AdditionalDir(dir, l.Where.Dirs.Home); at != "" {
				out = append(out, at)
			}
		}
	}
	return out
}

// AddedDirs are all folders that any list adds to the work, those of projects
// included: what their own lists deny counts.
func (l *Loaded) AddedDirs() []string {
	var out []string
	for _, f := range l.PermissionFiles {
		for _, dir := range f.dirs {
			at := claudecode.AdditionalDir(dir, l.Where.Dirs.Home)
			if at == "" && l.Where.Start != "" && !strings.HasPrefix(dir, "~") {
				at = filepath.Join(l.Where.Start, filepath.FromSlash(dir))
			}
			out = append(out, at)
		}
	}
	return out
}

// Unreadable are the patterns of files whose reading the lists deny or ask
// about: "./.env" of Read(./.env), "**" of a bare Read and of what cannot be
// read.
func (l *Loaded) Unreadable() []string {
	var out []string
	for _, f := range l.PermissionFiles {
		if f.broken {
			out = append(out, "**")
		}
	}
	read := &cardea.Call{Tool: "Read"}
	for i := range l.Permissions {
		e := &l.Permissions[i]
		switch {
		case e.Form == permissionlist.Exception:
		case e.Effect == cardea.Allow || !e.Names(read) && e.Form != permissionlist.Nothing:
		case e.Form == permissionlist.File:
			out = append(out, e.Spec)
		case e.Form != permissionlist.Nothing || strings.HasPrefix(strings.TrimSpace(e.Text), "Read"):
			out = append(out, "**")
		}
	}
	return out
}

// NativeAsk reports whether a harness's own lists may ask about a call in a way
// that the decider permissions does not see: an entry that cannot be
// interpreted, one whose quotes the harness compares as they are written, a
// file that is broken. What that costs is a prompt that would have come anyway.
func (l *Loaded) NativeAsk(c *cardea.Call) bool {
	if slices.ContainsFunc(l.PermissionFiles, func(f *PermissionFile) bool { return f.broken }) {
		return true
	}
	for i := range l.Permissions {
		e := &l.Permissions[i]
		if e.Effect != cardea.Ask {
			continue
		}
		if e.Form == permissionlist.Nothing && (e.Tool == "" || e.Names(c)) ||
			e.Form == permissionlist.Command && e.Names(c) && (strings.ContainsAny(e.Spec, "\"'\\$`") || strings.Contains(e.Spec, "  ")) {
			return true
		}
	}
	return false
}
