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
	c.accesses(p)
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
	words := plainWords(p)
	names, tree := programFiles(p.Dir, words)
	dirs := c.folders(p, names)
	if knowledge.Has(form.RunsPackages, words[0]) {
		for _, word := range words[1:min(len(words), 4)] {
			names = append(names, packagePrograms(word)...)
		}
	}
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
	if knowledge.Has(form.RunsModules, knowledge.Unversioned(words[0])) {
		c.Runs = append(c.Runs, modules(p, dirs)...)
	}
	if tree {
		c.Trees = append(c.Trees, dirs[len(dirs)-1])
	}
	return c
}

// programFiles are the names of the files in which the programs among the words look for
// what to run, since each may be one (uv run pytest). tree is set where one runs all code
// of its folder.
func programFiles(dir string, words []string) (names []string, tree bool) {
	for i, word := range words {
		sub := ""
		if i+1 < len(words) {
			sub = words[i+1]
		}
		for _, key := range []string{word, word + " " + sub} {
			more, _ := knowledge.WordsOf(form.ProjectFiles, key)
			names = append(names, more...)
		}
		only, runs := knowledge.WordsOf(form.RunsTree, word)
		tree = tree || runs && (len(only) == 0 || slices.Contains(only, sub)) && !(knowledge.Has(form.RunsNamed, word) && namesCode(dir, words[i+1:]))
	}
	return names, tree
}

// maxPlain is how many words of a part may be programs, or name a package.
const maxPlain = 8

// plainWords are the program of a part and the first words behind it that are no options.
func plainWords(p *cardea.Part) []string {
	out := []string{p.Program()}
	for _, w := range p.Argv[min(1, len(p.Argv)):] {
		if w.Static && w.Text != "" && w.Text[0] != '-' && len(out) < maxPlain {
			out = append(out, w.Text)
		}
	}
	return out
}

// namesCode reports whether one of the words names a file, a folder or a pattern.
func namesCode(dir string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		file, _, _ := strings.Cut(Absolute(dir, word), ":") // test_a.py::test_x, a_spec.rb:12
		return exists(file) || strings.ContainsAny(word, "*?[") || strings.HasSuffix(word, "...")
	})
}

// packagePrograms are where a program lies that a package of the project brought (npm
// help npx; bundle-exec(1); the manual of uv, "Running commands").
func packagePrograms(name string) []string {
	if strings.ContainsAny(name, "/\\") {
		return nil
	}
	return []string{"node_modules/.bin/" + name, ".venv/bin/" + name, "venv/bin/" + name, "vendor/bin/" + name, "bin/" + name}
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
	if only, data := knowledge.WordsOf(form.NamesData, p.Program()); data && (len(only) == 0 || slices.Contains(only, subcommand(p))) {
		c.Named = nil
		return
	}
	if !unknown || p.Dir == "" {
		return
	}
	for _, word := range plainWords(p)[1:] { // which may name a module
		word, _, _ = strings.Cut(strings.TrimSuffix(word, "..."), ":") // ./..., app:main
		if word == "" || filepath.IsAbs(word) || writes[Absolute(p.Dir, word)] {
			continue
		}
		c.Named = append(c.Named, Absolute(p.Dir, word))
		if !strings.ContainsAny(word, "/\\") && !strings.HasPrefix(word, ".") {
			c.Named = append(c.Named, Absolute(p.Dir, strings.ReplaceAll(word, ".", "/")))
		}
	}
	for _, path := range c.Named {
		for _, ending := range moduleEndings {
			c.Runs = append(c.Runs, path+ending)
		}
	}
}

// moduleEndings are what interpreters put behind the name of a module to find its file
// (Node.js manual, "Modules"; Python reference, "The import system"; require of Ruby and Lua).
var moduleEndings = []string{".py", "/__init__.py", "/__main__.py", ".js", ".mjs", ".cjs", ".ts", ".json", "/index.js", "/index.ts", "/package.json", ".rb", ".lua", ".pl", ".php", ".exs", ".jl"}

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

// folders are the folder in which a part runs, and those that its words name, also by one of
// the names of its files. The last one is where it begins to look.
func (c *Code) folders(p *cardea.Part, names []string) []string {
	dirs := []string{p.Dir}
	for _, path := range c.Named {
		if IsDir(path) {
			dirs = append(dirs, path)
		} else if slices.Contains(names, filepath.Base(path)) && exists(path) {
			dirs = append(dirs, filepath.Dir(path)) // --manifest-path x/Cargo.toml
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
// and without folders that tools fill (.git, node_modules) and plain output. A link to a
// folder elsewhere stands for itself. false is for a tree that is too large, or that cannot
// be read.
func Tree(folder string) (all []string, ok bool) {
	seen, root := map[string]bool{}, paths.Real(folder)
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
			case IsDir(at) && paths.Within(root, paths.Real(at)):
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
