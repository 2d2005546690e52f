package inforce

import (
	"path/filepath"
	"time"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/decide/overrides"
	"cardea.dev/internal/harness"
)

// OverridesFile is the name of the overrides file in a scope's folder.
const OverridesFile = "overrides.yaml"

// readOverrides reads the overrides of a scope's folder, or the last good form if the file
// is broken.
func (l *Loaded) readOverrides(at folder) {
	if at.dir == "" {
		return
	}
	f := RulesFile{Path: filepath.Join(at.dir, OverridesFile), Scope: at.scope}
	data, when, problems := l.read(f.Path, at)
	if data == nil && problems == nil {
		return
	}
	list, wrong := overrides.Read(f.Path, at.scope, l.document(f.Path, data), harness.ToolWord)
	f.Problems = append(problems, wrong...)
	if !diagnostic.HasError(f.Problems) {
		l.note(f.Path, at, data, when)
	} else {
		list = nil
		if old := l.cached.Form(f.Path, at.source()); old != nil {
			if cached, wrong := overrides.Read(f.Path, at.scope, l.document(f.Path, old), harness.ToolWord); !diagnostic.HasError(wrong) {
				f.Problems, f.Cached, list, data = cachedInForce(f.Problems), true, cached, old
			}
		}
	}
	f.Counts, f.Rules = l.counts(f.Path, at, data), len(list)
	for i := range list {
		list[i].Trusted = f.Counts
	}
	l.Overrides, l.Files = append(l.Overrides, list...), append(l.Files, f)
}

// OverridesDecider returns the decider of the overrides of all scopes.
func (l *Loaded) OverridesDecider(now time.Time) overrides.Decider {
	return overrides.New(overrides.Options{Overrides: l.Overrides, Home: l.Where.Dirs.Home, Now: now})
}
