package disk

import (
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/knowledge"
	"cardea.dev/internal/knowledge/files"
	"cardea.dev/internal/knowledge/form"
	"cardea.dev/internal/paths"
)

// Code is where a part finds what it runs, besides the programs of the machine. Paths are
// absolute. Those where nothing is count too, since something may be put there later.
type Code struct {
	// Runs are files that it runs, or finds what to run in, where they exist.
	Runs []string
	// Named are the files and folders that its words name, where nobody knows what the part
	// does with them.
	Named []string
	// Trees are folders of which any file may run, though no word names one.
	Trees []string
	// Unnamed is set where a pattern names more files than are looked at.
	Unnamed bool
}

// maxMatches is how many files a pattern may stand for.
const maxMatches = 256

// CodeOf finds the code that a part runs. It is the one answer for what an allow is bound
// to: trust in a command, a lesson, and a ticket. root is the project, in which programs
// look for their files from the current folder upwards; "" is none.
func CodeOf(p *cardea.Part, root string) Code {
	var c Code
	sub := subcommand(p)
	c.accesses(p)
	if only, data := knowledge.WordsOf(form.NamesData, p.Program()); data && (len(only) == 0 || slices.Contains(only, sub)) {
		c.Named = nil
	}
	for _, looked := range p.LookedInto {
		file, _, _ := strings.Cut(looked, " (") // it was not looked into, and runs all the same
		c.Runs = append(c.Runs, file)
	}
	for i := range p.MayRun {
		more := CodeOf(&p.MayRun[i], root)
		c.Runs, c.Named, c.Unnamed = append(c.Runs, more.Runs...), append(c.Named, more.Named...), c.Unnamed || more.Unnamed
	}
	if p.Dir == "" || p.Remote || p.Program() == "" {
		return c
	}
	dirs := c.folders(p)
	key := p.Program()
	names, _ := knowledge.WordsOf(form.ProjectFiles, key)
	more, _ := knowledge.WordsOf(form.ProjectFiles, key+" "+sub)
	names = slices.Concat(names, more)
	for _, dir := range dirs {
		for _, name := range names {
			for at := dir; ; at = filepath.Dir(at) {
				c.Runs = append(c.Runs, filepath.Join(at, name))
				if root == "" || at == root || !paths.Within(root, at) {
					break
				}
			}
		}
	}
	if knowledge.Has(form.RunsModules, knowledge.Unversioned(key)) {
		c.Runs = append(c.Runs, modules(p, dirs)...)
	}
	only, tree := knowledge.WordsOf(form.RunsTree, key)
	if tree && (len(only) == 0 || slices.Contains(only, sub)) && !slices.ContainsFunc(c.Named, exists) {
		c.Trees = append(c.Trees, dirs[len(dirs)-1])
	}
	return c
}

// subcommand is the word behind a program that says what it does, "" for none.
func subcommand(p *cardea.Part) string {
	if len(p.Command) > 1 {
		return p.Command[1]
	}
	if len(p.Operands) > 0 && p.Operands[0] < len(p.Argv) {
		return p.Argv[p.Operands[0]].Text
	}
	return ""
}

func exists(path string) bool { return !IsNew(path) }

// accesses notes what the accesses of a part say of code.
func (c *Code) accesses(p *cardea.Part) {
	writes := map[string]bool{}
	unknown, more := p.Coverage != cardea.Complete || len(p.Opaque) > 0, false
	for _, a := range p.Access {
		if a.Kind == cardea.Write {
			writes[a.Path] = true // as a formatter does with what it reads
		}
		unknown = unknown || a.Kind == cardea.Unknown || a.Kind == cardea.Execute
		more = more || a.Kind != cardea.Read && !a.Nowhere()
	}
	for _, a := range p.Access {
		switch {
		case a.Kind == cardea.Execute && !systemProgram(a.Path):
			c.Runs = c.add(c.Runs, a)
		case a.Kind == cardea.Unknown, a.Kind == cardea.Read && a.Redirect && (unknown || more):
			c.Named = c.add(c.Named, a)
		}
	}
	if p.Remote {
		return // its words name files of another machine
	}
	for _, a := range p.MayTouch {
		if !writes[a.Path] && a.Kind != cardea.Write {
			c.Named = c.add(c.Named, a)
		}
	}
	for _, i := range p.Operands { // plain words, which hardly ever name a file
		if unknown && p.Dir != "" && i < len(p.Argv) && p.Argv[i].Static {
			if path := Absolute(p.Dir, p.Argv[i].Text); exists(path) && !writes[path] {
				c.Named = c.add(c.Named, cardea.Access{Path: path})
			}
		}
	}
}

// systemProgram reports a program of the system, which is no code of a project.
func systemProgram(path string) bool {
	dir := filepath.Dir(path)
	return dir == "/bin" || dir == "/usr/bin"
}

// add adds what an access names, as it is written and with links followed.
func (c *Code) add(list []string, a cardea.Access) []string {
	if a.Pattern != "" {
		all, err := filepath.Glob(a.Pattern)
		c.Unnamed = c.Unnamed || err != nil || len(all) > maxMatches
		return append(list, all[:min(len(all), maxMatches)]...)
	}
	for _, path := range []string{a.Path, a.Spelled} {
		if path != "" && !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	return list
}

// folders are the folder in which a part runs, and those that its words name. The last one
// is where it begins to look.
func (c *Code) folders(p *cardea.Part) []string {
	dirs := []string{p.Dir}
	for _, path := range c.Named {
		if IsDir(path) {
			dirs = append(dirs, path)
		}
	}
	options, _ := knowledge.WordsOf(form.RunsInFolderOfOption, p.Program())
	for _, o := range p.Options {
		if o.Static && o.Value != "" && slices.Contains(options, o.Name) {
			dirs = append(dirs, Absolute(p.Dir, o.Value))
		}
	}
	return dirs
}

// modules are the files that python runs for a folder, and for -m (its manual, "Command
// line and environment").
func modules(p *cardea.Part, dirs []string) []string {
	var out []string
	for _, dir := range dirs[1:] {
		out = append(out, filepath.Join(dir, "__main__.py"))
	}
	for i, w := range p.Argv {
		name, is := "", strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "--")
		if at := strings.IndexByte(w.Text, 'm'); is && at > 0 {
			name = w.Text[at+1:]
		} else {
			continue
		}
		if name == "" && i+1 < len(p.Argv) {
			name = p.Argv[i+1].Text
		}
		module := filepath.Join(p.Dir, strings.ReplaceAll(name, ".", "/"))
		// The packages above it are imported first.
		for at := module; paths.Within(p.Dir, at) && at != p.Dir; at = filepath.Dir(at) {
			out = append(out, at+".py", filepath.Join(at, "__init__.py"), filepath.Join(at, "__main__.py"))
		}
	}
	return out
}

// Absolute is a path in a folder; an absolute one is itself.
func Absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// The limits of a tree of code.
const (
	maxTreeFiles = 4096
	maxTreeDepth = 64
)

// Tree lists the files below a folder by their paths, sorted by name, with links followed
// and without folders that tools fill (.git, node_modules) and plain output. false is for
// a tree that is too large, or that cannot be read.
func Tree(folder string) (all []string, ok bool) {
	seen := map[string]bool{}
	var walk func(dir string, depth int) bool
	walk = func(dir string, depth int) bool {
		real := paths.Real(dir)
		if seen[real] {
			return true
		}
		seen[real] = true
		names, ok := Names(dir)
		if !ok || depth > maxTreeDepth {
			return false
		}
		slices.Sort(names)
		for _, name := range names {
			at := filepath.Join(dir, name)
			switch slashed := filepath.ToSlash(at); {
			case files.IsFilledFolder(slashed), files.IsPlainOutput(slashed):
			case IsDir(at):
				if !walk(at, depth+1) {
					return false
				}
			case len(all) >= maxTreeFiles:
				return false
			default:
				all = append(all, at)
			}
		}
		return true
	}
	return all, walk(folder, 0)
}
