package harness

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// DeletesCritical reports whether an access deletes a path that Claude Code never lets a rule or a
// hook delete (permissions, "Critical paths"): a root, a direct child of one, home, the working
// folder or a folder around it. An unknown path is treated as critical for rm and rmdir.
func DeletesCritical(a cardea.Access, part cardea.Part, ev *cardea.Event, home string) bool {
	if a.Kind != cardea.Delete {
		return false
	}
	if a.Path == "" {
		return removes(part)
	}
	return slices.ContainsFunc([]string{a.Path, a.Spelled}, func(p string) bool { return p != "" && criticalPath(p, a.Glob, ev, part, home) })
}

func removes(part cardea.Part) bool {
	if len(part.Command) == 0 {
		return len(part.Argv) > 0 // a program of unknown name
	}
	return knowledge.Has(form.Removes, part.Command[0])
}

// criticalPath checks one path. If it is the folder of a glob, its entries are deleted.
func criticalPath(p string, glob bool, ev *cardea.Event, part cardea.Part, home string) bool {
	elems := elements(p)
	depth := len(elems)
	if depth > 0 && strings.HasSuffix(elems[0], ":") {
		depth-- // a drive is a root
	}
	if glob {
		depth++
	}
	if depth <= 1 {
		return true
	}
	at := folded(p)
	nearby := paths.Within // the deleted path is the folder, or contains it
	if glob {
		nearby = paths.Below // its entries are
	}
	if home != "" && at == folded(home) {
		return true
	}
	return slices.ContainsFunc([]string{ev.Cwd, part.Dir, ev.Project, home}, func(dir string) bool { return dir != "" && nearby(at, folded(dir)) }) ||
		glob && slices.ContainsFunc(ev.Roots, func(r string) bool { return at == folded(r) })
}

// folded returns a path of any platform in the form in which critical paths are compared.
func folded(p string) string { return "/" + strings.Join(elements(p), "/") }
