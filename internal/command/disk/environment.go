package disk

import (
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// InEnvironment returns the program in a folder bin of a virtual environment that a part
// of a call may start by its name, or the folder itself if another part may put a
// program into it. It returns "" if there is no such program. own excludes a program
// that runs the project's code, which the user may allow as it is.
func InEnvironment(parts []cardea.Part, p *cardea.Part, bin string, own bool) string {
	runs := knowledge.Has(form.RunsProject, knowledge.Unversioned(p.Program()))
	if own && runs && len(p.Wrappers) == 0 {
		return ""
	}
	const most = 4000
	names, err := state.Names(bin, most)
	started := func(name string) bool {
		return shadows(name) || !(own && runs) && (name == p.Argv[0].Text || slices.Contains(p.Wrappers, name))
	}
	if i := slices.IndexFunc(names, started); i >= 0 {
		return path.Join(bin, names[i])
	}
	changes := func(q cardea.Part) bool {
		return q.Start != p.Start && !q.NoEffect && len(q.Argv) > 0 && q.Knowledge != cardea.Complete && !knowledge.Has(form.RunsProject, knowledge.Unversioned(q.Program()))
	}
	if err != nil || slices.ContainsFunc(parts, changes) {
		return bin
	}
	return ""
}

// shadows reports whether name is a program of the system, or an interpreter, which
// other programs start by name. Python and programs that run the project's code belong
// to an environment.
func shadows(name string) bool {
	kind := knowledge.Unversioned(name)
	if knowledge.Has(form.RunsProject, kind) || strings.HasPrefix(name, "activate") || strings.HasPrefix(name, "python") {
		return false
	}
	system := func(dir string) bool { return !IsNew(path.Join(dir, name)) }
	return knowledge.Has(form.Interpreter, kind) || knowledge.Has(form.Shell, name) || slices.ContainsFunc([]string{"/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"}, system)
}
