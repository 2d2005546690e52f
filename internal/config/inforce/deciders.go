package inforce

import (
	"cmp"
	"slices"

	"cardea.dev/internal/decide/permissions"
	"cardea.dev/internal/decide/readonly"
)

// PermissionsDecider returns the decider of the harnesses' lists.
func (l *Loaded) PermissionsDecider() *permissions.Decider {
	return permissions.New(l.Permissions, l.PermissionSettings())
}

// PermissionSettings returns the settings of that decider for this place.
func (l *Loaded) PermissionSettings() permissions.Options {
	s := l.Settings.Permissions
	reads := l.ReadonlyDecider()
	strict := s.Strict
	if v := l.listed("PERMITTER_STRICT", "PERMITTER_STRICT"); v != "" {
		strict = v != "0"
	}
	return permissions.Options{Expand: l.Expands(), Loose: !strict, KnownSafe: s.Env == "known-safe",
		Home: l.Where.Dirs.Home, Start: l.Where.Start, FreeToRead: reads.Free, OnlyTouches: reads.OnlyTouches, Trace: l.Trace}
}

// Expands reports whether permissions from the harnesses' lists apply: through the
// settings, or through a variable that from_env lists.
func (l *Loaded) Expands() bool {
	if l.listed("ENSEMBLE_PERMITTER_DISABLE", "ENSEMBLE_PERMITTER_DISABLE") == "1" {
		return false
	}
	on := l.listed("permissions", "CARDEA_PERMISSIONS")
	return l.Settings.Permissions.Expand || on != "" && on != "0" && on != "false" || l.listed("PERMITTER_ENABLED", "PERMITTER_ENABLED") == "1"
}

// Debugs reports whether Permitter's variable requests a trace, and from_env lists it.
func (l *Loaded) Debugs() bool { return l.listed("PERMITTER_DEBUG", "PERMITTER_DEBUG") == "1" }

// LogFile returns the file to which the trace is also written, "" for no file.
func (l *Loaded) LogFile() string {
	return cmp.Or(l.listed("log", "CARDEA_LOG"), l.listed("PERMITTER_LOG", "PERMITTER_LOG"))
}

// listed returns the value of a variable, "" if from_env does not list its word.
func (l *Loaded) listed(word, name string) string {
	if l.Where.Env == nil || !slices.Contains(l.Settings.FromEnv, word) {
		return ""
	}
	return l.Where.Env(name)
}

// ReadonlyDecider returns the decider of read-only commands.
func (l *Loaded) ReadonlyDecider() *readonly.Decider {
	return readonly.New(readonly.Options{Env: l.Where.Env, Guarded: l.Where.Guarded, Trees: []string{l.Where.Project}, Temp: l.Where.Temp, Home: l.Where.Dirs.Home, Path: l.Where.Path})
}
