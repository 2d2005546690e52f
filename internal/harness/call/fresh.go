package call

import (
	"slices"
	"strings"

	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge/files"
)

// fresh reports whether output to a file needs no yes of its own: the file is new
// in the project, or temporary, or the session itself made it, and its name makes nothing execute it or read it
// as configuration (docs/design.md#shell-analysis).
func (a *analysis) fresh(file string) bool {
	if a.world.IsNew == nil || !files.IsPlainOutput(file) {
		return false
	}
	if a.outputRoots == nil {
		a.outputRoots = append(a.roots(), a.resolved(files.Temporary())...)
	}
	return slices.ContainsFunc(a.outputRoots, func(root string) bool {
		return paths.Below(root, file) && !strings.Contains(file[len(strings.TrimSuffix(root, "/")):], "/.") && (a.world.IsNew(file) || a.world.Made != nil && a.world.Made(file))
	})
}
