package inforce

import (
	"cmp"
	"slices"

	"cardea.dev/internal/decide/permissions"
	"cardea.dev/internal/decide/readonly"
)

// PermissionsDecider is the decider of the harnesses' lists.
func (l *Loaded) PermissionsDecider() *permissions.Decider {
	return permissions.New(l.Permissions, l.PermissionSettings())
}

// PermissionSettings is what the decider of the harnesses' lists is told about a
// place.
func (l *Loaded) PermissionSettings() permissions.Settings {
	s := l.Settings.Permissions
	reads := l.ReadonlyDecider()
	strict := s.Strict
	if v := l.listed("PERMITTER_STRICT", "PERMITTER_STRICT"); v != "" {
		strict = v != "0"
	}
	return permissions.Settings{Expand: l.Expands(), Loose: !strict, KnownSafe: s.Env == "known-safe",
		Home: l.Where.Dirs.Home, Start: l.Where.Start, FreeToRead: reads.Free, OnlyTouches: reads.OnlyTouches, Trace: l.Trace}
}

// Expands reports whether what the harnesses' lists allow counts: the settings
// say so, or a variable does that the settings believe.
func (l *Loaded) Expands() bool {
	if l.listed("ENSEMBLE_PERMITTER_DISABLE", "ENSEMBLE_PERMITTER_DISABLE") == "1" {
		return false
	}
	on := l.listed("permissions", "CARDEA_PERMISSIONS")
	return l.Settings.Permissions.Expand || on != "" && on != "0" && on != "false" || l.listed("PERMITTER_ENABLED", "PERMITTER_ENABLED") == "1"
}

// Debugs reports whether Permitter's variable asks for a trace, where the settings
// believe it.
func (l *Loaded) Debugs() bool { return l.listed("PERMITTER_DEBUG", "PERMITTER_DEBUG") == "1" }

// LogFile is the file to which the trace of this run goes as well, "" for none.
func (l *Loaded) LogFile() string {
	return cmp.Or(l.listed("log", "CARDEA_LOG"), l.listed("PERMITTER_LOG", "PERMITTER_LOG"))
}

// listed is the value of a variable, "" where from_env does not list its word.
func (l *Loaded) listed(word, name string) string {
	if l.Where.Env == nil || !slices.Contains(l.Settings.FromEnv, word) {
		return ""
	}
	return l.Where.Env(name)
}

// ReadonlyDecider is the decider of what only reads.
func (l *Loaded) ReadonlyDecider() *readonly.Decider {
	return readonly.New(readonly.Settings{Env: l.Where.Env, Guarded: l.Where.Guarded, Trees: []string{l.Where.Project}, Temp: l.Where.Temp, Home: l.Where.Dirs.Home, Path: l.Where.Path})
}
