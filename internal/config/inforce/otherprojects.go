package inforce

import (
	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/decide/routes"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness/permissionlist"
)

// RulesNearby returns the rules of other projects: those around the folder of a call and
// around every path that it accesses. They apply like rules of an untrusted project.
// complete is false if there are too many projects.
func (l *Loaded) RulesNearby(ev *cardea.Event) (lists []rules.List, complete bool, broken cardea.Issues) {
	projects, complete := l.projectsNearby(ev)
	left := project.MaxProjectRules
	for _, project := range projects {
		nearby := &Loaded{Where: Where{Project: project}}
		at := nearby.project()
		at.root = project
		list, files := nearby.readRules(at, &left)
		lists = append(lists, list)
		for _, f := range files {
			broken = addBroken(broken, f.Problems)
		}
	}
	return lists, complete, broken
}

// projectsNearby returns the projects for RulesNearby. It caches them for one event, since
// rules and policies both need them.
func (l *Loaded) projectsNearby(ev *cardea.Event) (projects []string, complete bool) {
	l.nearby.Lock()
	defer l.nearby.Unlock()
	if l.nearby.event != ev {
		l.nearby.event = ev
		l.nearby.projects, l.nearby.complete = project.Surroundings(&l.looked, reached(ev), l.Where.Dirs.Home, []string{".cardea"}, l.Where.Project)
	}
	return l.nearby.projects, l.nearby.complete
}

// ListsNearby returns the entries of permission lists around the folder of a call, every
// path that it accesses, and the added folders. complete is false if there are too many
// folders.
func (l *Loaded) ListsNearby(ev *cardea.Event) (entries []permissionlist.Entry, complete bool, broken cardea.Issues) {
	if l.Where.ListsIn == nil {
		return nil, true, nil
	}
	known := map[string]bool{}
	var looked []string
	for _, s := range l.Where.Lists {
		known[s.File] = true
		if s.Project != "" {
			looked = append(looked, s.Project)
		}
	}
	nearby := &Loaded{Where: Where{Dirs: l.Where.Dirs}}
	for _, marks := range [][]string{{".claude"}, {".qwen", ".codex", ".opencode", "opencode.json", "opencode.jsonc", ".amp", ".augment"}} {
		folders, complete := project.Surroundings(&l.looked, append(reached(ev), l.AddedDirs()...), l.Where.Dirs.Home, marks, looked...)
		if !complete {
			return nil, false, nil
		}
		for _, dir := range folders {
			for _, s := range l.Where.ListsIn(dir) {
				if !known[s.File] {
					known[s.File] = true
					nearby.readPermissions([]permissionlist.Source{s})
				}
			}
		}
	}
	for _, f := range nearby.PermissionFiles {
		broken = addBroken(broken, f.Problems)
	}
	return nearby.Permissions, true, broken
}

// RoutesInForce returns the routes, and the issues with their files, which do not affect
// decisions.
func (l *Loaded) RoutesInForce() ([]routes.Route, cardea.Issues) {
	l.ReadRoutes()
	var all cardea.Issues
	for _, p := range l.RouteProblems {
		trusted := l.Where.Trusted() || l.Where.Project == "" || !paths.Within(paths.Real(l.Where.Project), paths.Real(p.File))
		all = addOnce(all, issueOf(p, trusted, false))
	}
	return l.Routes, all.First(maxIssues, "cardea rules lint")
}

// reached returns the folder of an event and the paths that its call accesses, without
// immediate repetitions.
func reached(ev *cardea.Event) []string {
	out := []string{ev.Cwd}
	add := func(path string) {
		if path != "" && path != out[len(out)-1] {
			out = append(out, path)
		}
	}
	if ev.Call == nil {
		return out
	}
	for i := range ev.Call.Parts {
		p := &ev.Call.Parts[i]
		if p.Remote {
			continue
		}
		add(p.Dir)
		for k := range p.Access {
			add(p.Access[k].Path)
			add(p.Access[k].Spelled)
		}
	}
	return out
}
