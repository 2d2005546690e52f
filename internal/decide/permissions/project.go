package permissions

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/disk"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/form"
)

// The functions below recognize programs and modules of the project. A person who approves
// a program that runs the project's code anyway also approves it from the project's
// environment.

// runsProject reports whether a program runs code of the project with any arguments, such
// as python or pytest.
func runsProject(argv []cardea.Word) bool {
	return len(argv) > 0 && knowledge.Has(form.RunsProject, knowledge.Unversioned(base(argv)))
}

// within reports whether a path is in the project or an added folder.
func (c *evaluation) within(name string) bool {
	return name != "" && slices.ContainsFunc(append([]string{c.ev.Project}, c.ev.Roots...), func(root string) bool { return root != "" && paths.Within(root, name) })
}

// usual returns the words by which entries name a program of the project: python for
// .venv/bin/python, npx jest for ./node_modules/.bin/jest. It returns nil for other
// programs.
func (c *evaluation) usual(p *cardea.Part) []cardea.Word {
	word := func(text string) cardea.Word { return cardea.Word{Text: text, Static: true} }
	switch {
	case len(p.Argv) == 0 || !p.Argv[0].Static || p.Dir == "":
		return nil
	case !strings.Contains(p.Argv[0].Text, "/") && runsProject(p.Argv):
		name, _, _ := strings.Cut(p.Argv[0].Text, ".") // python3.11 is python3, and pip3 is pip
		if name == p.Argv[0].Text && name != "python3" {
			name = knowledge.Unversioned(name)
		}
		return append([]cardea.Word{word(name)}, p.Argv[1:]...)
	case !strings.Contains(p.Argv[0].Text, "/"):
		return nil
	}
	file := knowledge.Absolute(p.Dir, p.Argv[0].Text)
	bin := path.Dir(file)
	// A link, or ".." after one, leads to another place than its name says.
	if real, err := filepath.EvalSymlinks(bin); err != nil || strings.Contains(p.Argv[0].Text, "..") || real != realFolder(p.Dir)+strings.TrimPrefix(bin, p.Dir) {
		return nil
	}
	own := append([]cardea.Word{word(path.Base(file))}, p.Argv[1:]...)
	switch {
	case !c.within(file):
	case bin == path.Join(p.Dir, "node_modules/.bin"):
		return append([]cardea.Word{word("npx")}, own...)
	case path.Base(bin) == "bin" && !disk.IsNew(path.Join(path.Dir(bin), "pyvenv.cfg")) && runsProject(own):
		return own
	}
	return nil
}

// realFolder returns a folder with its links resolved, or "" if it cannot be resolved.
func realFolder(dir string) string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	return real
}

// onProjectPath reports whether a variable only adds project folders to the module path of
// a program that runs the project's code.
func (c *evaluation) onProjectPath(p *cardea.Part, a *cardea.Assign) bool {
	outside := func(folder string) bool {
		at := knowledge.Absolute(p.Dir, folder)
		inside := func(root string) bool { return root != "" && paths.Within(realFolder(root), realFolder(at)) }
		return strings.Contains(folder, "..") || !c.within(at) || !disk.IsNew(at) && !slices.ContainsFunc(append([]string{c.ev.Project}, c.ev.Roots...), inside)
	}
	return a.Static && a.Name == "PYTHONPATH" && p.Dir != "" && runsProject(p.Argv) && !p.Elevated && !slices.ContainsFunc(strings.Split(a.Value, ":"), outside)
}

// onlyProjectPath reports whether such variables are all that is unknown of a part, and an
// entry allows it.
func (c *evaluation) onlyProjectPath(p *cardea.Part) bool {
	other := func(a cardea.Assign) bool { return a.Class == cardea.EnvDangerous && !c.onProjectPath(p, &a) }
	if !c.about.Expand || len(p.Assigns) == 0 || len(p.Opaque) == 0 || !setsOnly(p) || slices.ContainsFunc(p.Assigns, other) {
		return false
	}
	var r Refusal
	return c.command(p, &r) != nil
}
