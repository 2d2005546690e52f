package call

import (
	"slices"
	"strings"

	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge/files"
)

// fresh reports whether output to a file needs no separate permission. The file must be new in the
// project, or temporary, or made by the session itself. Its name must not cause a program to
// execute it or to read it as configuration (docs/design.md#shell-analysis).
func (a *analysis) fresh(file string) bool {
	if a.system.IsNew == nil || !files.IsPlainOutput(file) {
		return false
	}
	if a.outputRoots == nil {
		a.outputRoots = append(a.roots(), a.resolved(files.Temporary())...)
	}
	return slices.ContainsFunc(a.outputRoots, func(root string) bool {
		return paths.Below(root, file) && !strings.Contains(file[len(strings.TrimSuffix(root, "/")):], "/.") && (a.system.IsNew(file) || a.system.Made != nil && a.system.Made(file))
	})
}
