package rules

import (
	"slices"
	"strings"

	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge"
)

// hostIs reports whether a host matches one of the globs. An unknown host matches only "*".
func hostIs(globs []string, host string) bool {
	if host == "" {
		return slices.Contains(globs, "*")
	}
	names := knowledge.HostNames(host)
	return slices.ContainsFunc(globs, func(g string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return paths.MatchName(strings.ToLower(g), n) })
	})
}
