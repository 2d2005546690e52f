package rules

import (
	"slices"
	"strings"

	"cardea.dev/internal/knowledge"
	"cardea.dev/internal/paths"
)

// hostIs reports whether a host matches one of the globs. An unknown host
// matches only "*".
func hostIs(globs []string, host string) bool {
	if host == "" {
		return slices.Contains(globs, "*")
	}
	names := knowledge.HostNames(host)
	for _, g := range globs {
		g = strings.ToLower(g)
		for _, n := range names {
			if paths.MatchName(g, n) {
				return true
			}
		}
	}
	return false
}
