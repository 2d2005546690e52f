package inforce

import (
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
	return permissions.Settings{Expand: l.Expands(), Loose: !s.Strict, KnownSafe: s.Env == "known-safe",
		Home: l.Where.Dirs.Home, Start: l.Where.Start, FreeToRead: reads.Free, OnlyTouches: reads.OnlyTouches, Trace: l.Trace}
}

// Expands reports whether what the harnesses' lists allow counts: the settings
// say so, or a variable does that the settings believe.
func (l *Loaded) Expands() bool {
	return l.Settings.Permissions.Expand || l.Where.Expand && slices.Contains(l.Settings.FromEnv, "permissions")
}

// ReadonlyDecider is the decider of what only reads.
func (l *Loaded) ReadonlyDecider() *readonly.Decider {
	return readonly.New(readonly.Settings{Trees: []string{l.Where.Project}, Temp: l.Where.Temp, Home: l.Where.Dirs.Home, Path: l.Where.Path})
}
