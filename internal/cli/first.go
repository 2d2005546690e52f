package cli

import (
	"cmp"
	"path/filepath"
	"slices"

	"cardea.dev"
	"cardea.dev/internal/inforce"
	"cardea.dev/internal/install"
	"cardea.dev/internal/lesson"
)

// A first registration takes nothing away from anybody, so it asks for no code, and scripts
// can make it (docs/decisions/0168-a-first-registration-asks-nothing.md).

// whyCode says why an installation asks for a code, "" where it asks for none.
func (f installFlags) whyCode(p Process, s site, h install.Harness, plan *install.Plan, w install.Wanted) string {
	if !f.plain() {
		return "there are other flags than --user, --project and --managed"
	}
	if err := p.agentAbove(); err != nil {
		return err.Error()
	}
	all := install.Inspect(h, s.At).Wirings
	if f.managed { // root's own word, whatever people have beneath it
		if renews(plan, h, w, all) {
			return ""
		}
		return plan.OnlyAdds()
	}
	if i := slices.IndexFunc(all, func(w install.Wiring) bool { return w.Scope != install.Managed }); i >= 0 {
		return all[i].File + " has a hook of Cardea already"
	}
	return cmp.Or(plan.OnlyAdds(), otherProgram(s, w.Binary), brought(load(p, &s.Place, nil)))
}

// otherProgram names a hook that calls a program in another folder than program, or "".
func otherProgram(s site, program string) string {
	for _, h := range install.Harnesses() {
		for _, w := range install.Inspect(h, s.At).Wirings {
			if w.Program != "" && filepath.Dir(w.Program) != filepath.Dir(program) {
				return h.Title + " calls another program, " + w.Program
			}
		}
	}
	return ""
}

// plain reports whether the flags say no more than in which file.
func (f installFlags) plain() bool {
	return f.binary == "" && f.version == "" && len(f.events) == 0 && f.timeout == 0 && !f.unattended && !f.daemon && !f.http
}

// renews reports whether an installation only adds to the hook in its file: the same
// program with the same arguments and time, which blocks no less where it fails.
func renews(plan *install.Plan, h install.Harness, wanted install.Wanted, all []install.Wiring) bool {
	same := false
	for _, w := range all {
		if w.File != plan.File {
			continue
		}
		if w.Program != wanted.Binary || !slices.Equal(w.Args, wanted.Args(h)) || w.Timeout != wanted.Timeout || w.OnFailure == "block" && !wanted.FailClosed {
			return false
		}
		same = true
	}
	return same
}

// brought names a file with settings, rules, policies, roles, exceptions or lessons of
// another scope than the machine's, or "" for nothing.
func brought(l *inforce.Loaded) string {
	found := ""
	add := func(scope cardea.Scope, path string, is bool) {
		if is && scope != cardea.ScopeSystem && scope != cardea.ScopeBuiltin {
			found = cmp.Or(found, path)
		}
	}
	for i := range l.SettingsFiles {
		add(l.SettingsFiles[i].Scope, l.SettingsFiles[i].Path, !l.SettingsFiles[i].IsEmpty())
	}
	for _, f := range l.Files {
		add(f.Scope, f.Path, f.Rules > 0 || len(f.Problems) > 0)
	}
	for _, f := range l.PolicyFolders() {
		add(f.Scope, f.Dir, len(f.Paths()) > 0)
	}
	l.Roles()
	for _, f := range l.RolesFiles {
		add(f.Scope, f.Path, true)
	}
	for _, o := range l.Overrides {
		add(o.Scope, o.Source, true)
	}
	for _, at := range l.LessonPlaces() {
		files, _ := filepath.Glob(filepath.Join(lesson.Folder(at.Dir), "*.jsonl")) // only a bad pattern fails
		add(at.Scope, lesson.Folder(at.Dir), len(files) > 0)
	}
	if found == "" {
		return ""
	}
	return found + " is in force already"
}
