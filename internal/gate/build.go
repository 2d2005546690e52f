package gate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"cardea.dev"
	"cardea.dev/internal/decide/noeffect"
	"cardea.dev/internal/decide/opaque"
	"cardea.dev/internal/decide/permissions"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/readonly"
	"cardea.dev/internal/decide/routes"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/paths"
	"cardea.dev/internal/permissionlist"
	"cardea.dev/internal/project"
)

// Build compiles what was loaded into a gate. analyse finds the parts of a
// rewritten call, now is the clock of the trace, or nil.
func Build(l *Loaded, analyse func(*cardea.Event) *cardea.Event, now func() time.Time) *cardea.Gate {
	about := rules.Settings{Home: l.Where.Dirs.Home, Own: l.own()}
	reading := slotsOf()
	if !l.ReadonlyOff {
		// What provably only reads needs nobody's word, and so comes before
		// the rules, which may still ask about it.
		reading = slotsOf(readonly.New(l.Reading()))
	}
	own, ofProject := splitRules(l.Rules)
	firm, rest := l.Permitter().Halves()
	policies := l.policies()
	return &cardea.Gate{
		Default:   l.Settings.Default,
		OnError:   l.Settings.OnError,
		Troubles:  l.Troubles(),
		Analyse:   analyse,
		FirstTime: l.Callbacks.Once,
		Now:       now,
		Slots: slices.Concat(slotsOf(
			// First, since it costs nothing: what cannot be seen is no rule's.
			opaque.New(l.Settings.OnError),
			// What does nothing is allowed by itself, so that it does not keep
			// the parts beside it from being allowed.
			noeffect.New(),
		), reading, slotsOf(
			// The rules of packs and person, before anything that a project
			// could make slow.
			rules.OnEvents{Decider: rules.New(own, about)},
			// The rules of the project.
			rules.OnEvents{Decider: rules.New(ofProject, about)},
			// What the lists of person and system deny and ask, after the rules
			// since it compares every part with them.
			firm,
			// What those of the project do, and what all of them allow.
			rest,
			// Denies and asks of the projects around, whose files are read
			// only when a call reaches there.
			rules.Around{Settings: about, Limit: project.MaxSurroundings, Find: l.rulesAround},
			permissions.Around{Settings: l.permitting(), Limit: project.MaxSurroundings, Find: l.listsAround},
			// Last, since they are about the better tool, not about what may
			// run, and nothing bounds how many files they name.
			routes.Late{Find: l.lateRoutes},
			// Policies cost most of all that needs nothing else to run; those
			// that need signals wait for scripts, and are not asked once the
			// call is denied.
			policies.Plain(),
		), costly(policies.WithSignals())),
	}
}

// Permitter is the decider of the harnesses' lists.
func (l *Loaded) Permitter() *permissions.Decider {
	return permissions.New(l.Permissions, l.permitting())
}

func (l *Loaded) permitting() permissions.Settings {
	s := l.Settings.Permissions
	return permissions.Settings{Expand: l.Expands(), Loose: !s.Strict, KnownSafe: s.Env == "known-safe",
		Home: l.Where.Dirs.Home, Start: l.Where.Start, Trace: l.Trace}
}

// Expands reports whether what the harnesses' lists allow counts: the settings
// say so, or a variable does that the settings believe.
func (l *Loaded) Expands() bool {
	return l.Settings.Permissions.Expand || l.Where.Expand && slices.Contains(l.Settings.FromEnv, "permissions")
}

// Reading is what the decider readonly is told about a place.
func (l *Loaded) Reading() readonly.Settings {
	return readonly.Settings{Trees: []string{l.Where.Project}, Temp: l.Where.Temp, Home: l.Where.Dirs.Home, Path: l.Where.Path}
}

// splitRules separates the rules of packs and person from those of the project.
func splitRules(all []rules.Rule) (own, project []rules.Rule) {
	for i := range all {
		if all[i].Scope == cardea.ScopeProject {
			return all[:i:i], all[i:] // the project's are the last
		}
	}
	return all, nil
}

// slotsOf gives each decider its slot. None of them may allow whole calls.
func slotsOf(deciders ...cardea.Decider) []cardea.Slot {
	out := make([]cardea.Slot, len(deciders))
	for i, d := range deciders {
		out[i].Decider = inTime{d}
		_, onEvents := d.(rules.OnEvents)
		out[i].Events = onEvents || d.Name() == policy.Name
		switch d.Name() {
		case "rules", "permissions", "routes":
			out[i].Possible = true
		}
	}
	return out
}

// costly are the slots of deciders that wait for scripts.
func costly(deciders ...cardea.Decider) []cardea.Slot {
	out := slotsOf(deciders...)
	for i := range out {
		out[i].Costly = true
	}
	return out
}

// inTime is a decider that comes to an end when its time does, so that what
// the deciders before it said stands even if this one hangs.
type inTime struct{ cardea.Decider }

type result struct {
	opinions []cardea.Opinion
	err      error
}

// Decide gives up waiting when ctx ends; the gate reports it.
func (d inTime) Decide(ctx context.Context, ev *cardea.Event) ([]cardea.Opinion, error) {
	results := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if failed := recover(); failed != nil {
				r = result{err: fmt.Errorf("internal error: %v", failed)}
			}
			results <- r
		}()
		r.opinions, r.err = d.Decider.Decide(ctx, ev)
	}()
	select {
	case r := <-results:
		return r.opinions, r.err
	case <-ctx.Done():
		return nil, nil
	}
}

// rulesAround finds the rules of the projects around the folder of a call and
// every path that it accesses. Rules of a project that is not the session's count
// as those of an untrusted one.
func (l *Loaded) rulesAround(ev *cardea.Event) (lists [][]rules.Rule, complete bool, broken cardea.Troubles) {
	projects, complete := project.Surroundings(reached(ev), l.Where.Dirs.Home, []string{".cardea"}, l.Where.Project)
	left := project.MaxProjectRules
	for _, project := range projects {
		around := &Loaded{Where: Where{Project: project}}
		at := around.project()
		at.root = project
		list, files := around.readRules(at, &left)
		lists = append(lists, list)
		for _, f := range files {
			broken = addBroken(broken, f.Problems)
		}
	}
	return lists, complete, broken
}

// listsAround finds the entries of the lists around the folder of a call, every
// path that it accesses, and the folders that were added to the work.
func (l *Loaded) listsAround(ev *cardea.Event) (entries []permissionlist.Entry, complete bool, broken cardea.Troubles) {
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
	around := &Loaded{Where: Where{Dirs: l.Where.Dirs}}
	for _, marks := range [][]string{{".claude"}, {".qwen", ".codex", ".opencode", "opencode.json", "opencode.jsonc", ".amp", ".augment"}} {
		folders, complete := project.Surroundings(append(reached(ev), l.addedDirs()...), l.Where.Dirs.Home, marks, looked...)
		if !complete {
			return nil, false, nil
		}
		for _, dir := range folders {
			for _, s := range l.Where.ListsIn(dir) {
				if !known[s.File] {
					known[s.File] = true
					around.readPermissions([]permissionlist.Source{s})
				}
			}
		}
	}
	for _, f := range around.PermissionFiles {
		broken = addBroken(broken, f.Problems)
	}
	return around.Permissions, true, broken
}

// lateRoutes reads the routes. What is wrong with their files costs nothing.
func (l *Loaded) lateRoutes() ([]routes.Route, cardea.Troubles) {
	l.ReadRoutes()
	var all cardea.Troubles
	for _, p := range l.RouteProblems {
		trusted := l.Where.Trusted() || l.Where.Project == "" || !paths.Within(paths.Real(l.Where.Project), paths.Real(p.File))
		all = addOnce(all, troubleOf(p, trusted, false))
	}
	return l.Routes, all.First(maxTroubles, "cardea lint")
}

// reached are the folder and the paths that a call has to do with.
func reached(ev *cardea.Event) []string {
	out := []string{ev.Cwd}
	for i := range ev.Call.Parts {
		p := &ev.Call.Parts[i]
		if p.Remote {
			continue
		}
		out = append(out, p.Dir)
		for _, a := range p.Access {
			out = append(out, a.Path, a.Spelled)
		}
	}
	return out
}
