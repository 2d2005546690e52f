package inforce

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/harness/permissionlist"
)

// PermissionFile is a file with a harness's permission lists that was read.
type PermissionFile struct {
	// From is the origin of its entries, and which of them apply; the entries share it.
	From *permissionlist.Origin
	// Entries is the number of entries.
	Entries int
	// Left holds the entries that apply only to calls of their own harness.
	Left []permissionlist.Entry
	// Cached is set if the file is broken and its last good form is in force.
	Cached   bool
	Problems []diagnostic.Diagnostic

	managedOnly bool
	broken      bool
	dirs        []string
}

// readPermissions reads the lists of all places. Managed settings can disable the allow
// entries of the others.
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

// readPermissionFile reads one place; it returns nil if nothing is there.
func (l *Loaded) readPermissionFile(s permissionlist.Source) (*PermissionFile, []permissionlist.Entry) {
	if s.Text == nil && l.absent.File(s.File) {
		return nil, nil
	}
	from := s.Origin
	f := &PermissionFile{From: &from}
	at := folder{scope: from.Scope}
	if s.Project != "" {
		at.scope = cardea.ScopeProject // where its last good form is stored
	}
	got, when, found := l.listOf(f, s)
	if !found {
		return nil, nil
	}
	if f.broken = diagnostic.HasError(got.Problems); !f.broken && s.Text == nil {
		l.note(from.File, at, got.Stored, when)
	} else if old := l.cached.Form(from.File, at.source()); f.broken && old != nil {
		problems := cachedInForce(got.Problems)
		got = permissionlist.ReadFormat(s.Format, f.From, old)
		got.Problems, f.Cached, f.broken = problems, true, false
	}
	f.Left = got.Left
	f.Entries, f.Problems, f.dirs, f.managedOnly = len(got.Entries), got.Problems, got.Dirs, got.ManagedOnly && from.Scope == cardea.ScopeSystem
	l.countPermissions(f, s, got)
	f.warn(got.Entries)
	return f, got.Entries
}

// listOf reads the current list of a place.
func (l *Loaded) listOf(f *PermissionFile, s permissionlist.Source) (got permissionlist.SettingsFile, when time.Time, found bool) {
	data := s.Text
	if data == nil {
		var err error
		if data, when, err = project.ReadKnown(l.Where.files(), s.File, ""); err != nil {
			got.Problems = []diagnostic.Diagnostic{unread(s.File, err)}
			return got, when, true
		}
		if data == nil {
			return got, when, false
		}
	}
	return l.permissionEntries(s, f.From, data), when, true
}

// countPermissions sets whether the allow entries of a file apply, and why not.
func (l *Loaded) countPermissions(f *PermissionFile, s permissionlist.Source, got permissionlist.SettingsFile) {
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
		case !l.Where.Trust(from.File, got.Stored):
			not("the file is not as you trusted it")
		default:
			from.Withheld = false
		}
	case s.Nested:
		not("an agent started this one, and may have written its command line")
	}
}

const otherProject = "it is another project's"

// warn warns of deny and ask entries that cannot be interpreted, since their author expects
// protection.
func (f *PermissionFile) warn(entries []permissionlist.Entry) {
	for i := range entries {
		if e := &entries[i]; e.Form == permissionlist.Nothing && e.Effect != cardea.Allow && f.From.Harness == claudecode.Name {
			f.Problems = append(f.Problems, diagnostic.Diagnostic{File: f.From.File, Line: e.Line(), Column: e.Column(), Severity: diagnostic.LevelWarning, Code: diagnostic.CodeNoEffect,
				Text: fmt.Sprintf("the entry %q %s nothing: %s", e.Text, permissionlist.Verb(e.Effect), e.Why), Hint: `look at "cardea permissions"`})
		}
	}
}

// AdditionalDirs returns the folders that the user or the machine's administrator added to
// a harness's work. Those of a project's files are left out, including settings.local.json:
// a clone can contain either.
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

// AddedDirs returns all folders that any list adds to the work, including lists of
// projects: the deny entries of their own lists apply.
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

// Unreadable returns the patterns of files for whose reading the lists have deny or ask
// entries: "./.env" for Read(./.env). It is "**" for a bare Read and for entries or files
// that cannot be parsed.
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

// NativeAsk reports whether a harness's own lists may ask about a call in a way that the
// decider permissions does not see. Such are an entry that cannot be interpreted, one whose
// quotes the harness compares literally, and a broken file. The cost is a prompt that would
// have come anyway.
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
