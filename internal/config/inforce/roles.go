package inforce

import (
	"fmt"
	"path/filepath"
	"slices"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/decide/rolepaths"
	"cardea.dev/internal/decide/roles"
	"cardea.dev/packs"
)

// RolesFile is a roles file that was read.
type RolesFile struct {
	Path  string
	Scope cardea.Scope
	// Roles holds the role definitions read from the file.
	Roles roles.Source
	// Cached is set if the file is broken and its last good form is in force.
	Cached   bool
	Problems []diagnostic.Diagnostic
}

// Roles returns the definitions of all scopes. The files are read on first use: most
// sessions have no role.
func (l *Loaded) Roles() roles.Set {
	l.rolesRead.Do(func() {
		known := packs.Roles().Categories
		for _, at := range l.folders() {
			if f, found := l.loadRoles(at, known); found {
				known = append(known[:len(known):len(known)], f.Roles.Categories...)
				l.RolesFiles = append(l.RolesFiles, f)
			}
		}
	})
	var sources []roles.Source
	for _, scope := range cardea.Scopes() {
		of := lists.Where(l.RolesFiles, func(f RolesFile) bool { return f.Scope == scope })
		sources = append(sources, lists.Of(of, func(f RolesFile) roles.Source { return f.Roles })...)
	}
	return roles.NewSet(append(sources, packs.Roles())...)
}

// loadRoles reads the roles.yaml of a scope's folder, or its last good form if it is
// broken.
func (l *Loaded) loadRoles(at folder, known []roles.Category) (f RolesFile, found bool) {
	if at.dir == "" {
		return f, false
	}
	f.Path, f.Scope = filepath.Join(at.dir, "roles.yaml"), at.scope
	data, when, problems := l.read(f.Path, at)
	if data == nil && problems == nil {
		return f, false
	}
	f.Roles, f.Problems = l.parseRoles(f.Path, at.scope, data, known)
	f.Problems = append(problems, f.Problems...)
	if !diagnostic.HasError(f.Problems) {
		l.note(f.Path, at, data, when)
	} else {
		f.Roles = roles.Source{Scope: at.scope}
		if old := l.cached.Form(f.Path, at.source()); old != nil {
			if cached, wrong := l.parseRoles(f.Path, at.scope, old, known); !diagnostic.HasError(wrong) {
				f.Problems, f.Cached, f.Roles, data = cachedInForce(f.Problems), true, cached, old
			}
		}
	}
	f.Roles.Trusted = l.counts(f.Path, at, data)
	return f, true
}

// parseRoles parses a roles file, or takes its compiled form.
func (l *Loaded) parseRoles(path string, scope cardea.Scope, data []byte, known []roles.Category) (roles.Source, []diagnostic.Diagnostic) {
	of := [][]byte{data, []byte(roles.CompiledForm), l.madeBy}
	if form := l.compiled.Load(path, of...); form != "" {
		if src, err := roles.OpenCompiled(form, scope); err == nil {
			return src, nil
		}
	}
	src, problems := roles.Read(path, scope, l.document(path, data), known...)
	if form := roles.Compile(src); len(problems) == 0 && form != "" && data != nil {
		l.compiled.Keep(path, form, of...)
		l.compiled.Forget(documentForm(path))
	}
	return src, problems
}

// AssignRole sets the role of the agent whose call is evaluated, "" for none. An undefined
// role is an issue, since its permissions are unknown.
func (l *Loaded) AssignRole(name string) {
	l.role = name
	if name != "" && !l.Roles().Has(name) {
		l.roleProblem = cardea.Issues{cardea.BrokenFile.Issue("", diagnostic.CodeUnknownName, "define it in roles.yaml, or give the session another role; see \"cardea roles list\"",
			fmt.Sprintf("the role %q is defined nowhere", name))}
	}
}

// RolesDecider returns the decider of the paths of the agent's role.
func (l *Loaded) RolesDecider() *rolepaths.Decider {
	return l.RolePaths(l.role)
}

// RolePaths returns the decider of the paths of a role.
func (l *Loaded) RolePaths(name string) *rolepaths.Decider {
	about := rolepaths.Options{Home: l.Where.Dirs.Home, OnlyTouches: l.ReadonlyDecider().OnlyTouches}
	if name != "" {
		about.Role = l.Roles().Of(name)
	}
	return rolepaths.New(about)
}

// RolesProblems returns the problems of the roles files.
func (l *Loaded) RolesProblems() []diagnostic.Diagnostic {
	l.Roles()
	return slices.Concat(lists.Of(l.RolesFiles, func(f RolesFile) []diagnostic.Diagnostic { return f.Problems })...)
}
