package disk

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/files"
	"cardea.dev/internal/command/knowledge/form"
)

// Code holds the places where a part finds the code that it runs, without the programs of the
// machine. Paths are absolute. A path may not exist yet: a file may appear there later.
type Code struct {
	// Runs are files that the part runs, or in which it looks for code to run.
	Runs []string
	// Named are the files and folders in the words of a part whose effects are unknown.
	Named []string
	// Trees are folders in which any file may run.
	Trees []string
	// Unnamed is set if the part may run files that Code does not list.
	Unnamed bool
}

// maxMatches is the number of files that a pattern may match.
const maxMatches = 256

// CodeOf returns the code that a part runs. Trust, lessons and tickets bind an allow to it.
// root is the folder of the project: programs look for their files from the current folder
// up to root. "" means no project.
func CodeOf(p *cardea.Part, root string) Code {
	var c Code
	c.accesses(p)
	for _, looked := range p.LookedInto {
		file, _, _ := strings.Cut(looked, " (") // "x.sh (no text)" runs although it was not read
		c.Runs = append(c.Runs, file)
	}
	for i := range p.MayRun {
		more := CodeOf(&p.MayRun[i], root)
		c.Runs, c.Named, c.Trees, c.Unnamed = append(c.Runs, more.Runs...), append(c.Named, more.Named...), append(c.Trees, more.Trees...), c.Unnamed || more.Unnamed
	}
	if p.Remote || p.Program() == "" {
		return c
	}
	if p.Dir == "" { // the folder is known only when the line runs
		if root != "" && slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind == cardea.Unknown || a.Kind == cardea.Execute }) {
			c.Trees, c.Unnamed = append(c.Trees, root), true
		}
		return c
	}
	words := plainWords(p)
	names, tree := programFiles(p, words)
	dirs, start := c.folders(p, names)
	if knowledge.Has(form.RunsPackages, p.Program()) {
		for _, word := range words[1:min(len(words), 4)] {
			names = append(names, packagePrograms(word.text)...)
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
	if knowledge.Has(form.RunsModules, knowledge.Unversioned(p.Program())) {
		c.Runs = append(c.Runs, modules(p, dirs)...)
	}
	if tree {
		c.Trees = append(c.Trees, start)
	}
	return c
}

// programFiles returns the names of the files in which programs among the words look for
// code to run. Each word may be a program (uv run pytest). tree is set if one of them
// runs all code of its folder.
func programFiles(p *cardea.Part, words []plainWord) (names []string, tree bool) {
	for i, word := range words {
		sub := ""
		if i+1 < len(words) {
			sub = words[i+1].text
		}
		for _, key := range []string{word.text, word.text + " " + sub} {
			more, _ := knowledge.WordsOf(form.ProjectFiles, key)
			names = append(names, more...)
		}
		only, runs := knowledge.WordsOf(form.RunsTree, word.text)
		flags, named := knowledge.WordsOf(form.RunsNamed, word.text)
		said := len(only) == 0 || slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return slices.Contains(only, w.Text) })
		tree = tree || runs && said && !(named && namesCode(p.Dir, words[i+1:], flags))
	}
	return names, tree
}

// maxPlain is the number of words of a part that are examined as programs or modules.
const maxPlain = 128

// plainWord is a word that is not an option, and the option before it, or "".
type plainWord struct{ text, option string }

// plainWords returns the program of a part and the words after it that are not options, at
// most maxPlain.
func plainWords(p *cardea.Part) []plainWord {
	out := []plainWord{{text: p.Program()}}
	option := ""
	for _, w := range p.Argv[min(1, len(p.Argv)):] {
		if !w.Static || w.Text == "" || w.Text[0] == '-' {
			if option = w.Text; strings.HasPrefix(option, "-m") && len(option) > 2 { // python3 -mpytest
				out = append(out, plainWord{text: option[2:]})
			}
			continue
		}
		if len(out) < maxPlain {
			out = append(out, plainWord{w.Text, option})
		}
		option = ""
	}
	return out
}

// namesCode reports whether one of the words names a file, a folder or a pattern, and is not
// the value of an option. flags are options without a value.
func namesCode(dir string, words []plainWord, flags []string) bool {
	return slices.ContainsFunc(words, func(word plainWord) bool {
		file, _, _ := strings.Cut(Absolute(dir, word.text), ":") // test_a.py::test_x, a_spec.rb:12
		value := word.option != "" && !slices.Contains(flags, word.option) && !strings.Contains(word.option, "=")
		return !value && (exists(file) || strings.ContainsAny(word.text, "*?[") || strings.HasSuffix(word.text, "..."))
	})
}

// packagePrograms returns the places of a program that a package of the project installed
// (npm help npx; bundle-exec(1); the manual of uv, "Running commands").
func packagePrograms(name string) []string {
	if strings.ContainsAny(name, "/\\") {
		return nil
	}
	return []string{"node_modules/.bin/" + name, ".venv/bin/" + name, "venv/bin/" + name, "vendor/bin/" + name, "bin/" + name}
}

// subcommand returns the subcommand of a part, or "".
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

// accesses adds the code that the accesses of a part name.
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
		return // its words name files on another machine
	}
	for _, a := range p.MayTouch {
		if !writes[a.Path] && a.Kind != cardea.Write {
			c.Named = c.add(c.Named, a)
		}
	}
	if knowledge.Has(form.NamesData, p.Program(), subcommand(p)) {
		c.Named = nil
		return
	}
	if !unknown || p.Dir == "" {
		return
	}
	for _, w := range append(plainWords(p)[1:], imported(p)...) { // which may name a module
		word, _, _ := strings.Cut(strings.TrimSuffix(w.text, "..."), ":") // ./..., app:main
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

// imports matches an import statement of a script language.
var imports = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[;\n\s])(?:import|from|use|require|require_relative)[\s(]+["']?([\w./-]+)`)
})

// maxImports is the number of import statements of a word that are read.
const maxImports = 16

// imported returns the modules that code in the words of a part imports.
func imported(p *cardea.Part) (out []plainWord) {
	for _, w := range p.Argv {
		for _, m := range imports().FindAllStringSubmatch(w.Text, maxImports) {
			out = append(out, plainWord{text: m[1]})
		}
	}
	return out
}

// moduleEndings are the endings that interpreters add to the name of a module to find its file
// (Node.js manual, "Modules"; Python reference, "The import system"; require of Ruby and Lua).
var moduleEndings = []string{".py", "/__init__.py", "/__main__.py", ".pyc", "/__init__.pyc", "/__main__.pyc", ".js", ".mjs", ".cjs", ".ts", ".json", "/index.js", "/index.ts", "/package.json", ".rb", ".lua", ".pl", ".pm", ".php", ".exs", ".jl"}

// systemProgram reports whether a path is a program of the system, not of a project.
func systemProgram(path string) bool {
	dir := filepath.Dir(path)
	return dir == "/bin" || dir == "/usr/bin"
}

// add adds the files that an access names, as written and with links followed.
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

// folders returns the working folder of a part and the folders that its words name, also
// by a file with one of the names. start is the folder in which the part begins to look.
func (c *Code) folders(p *cardea.Part, names []string) (dirs []string, start string) {
	dirs, start = []string{p.Dir}, p.Dir
	for _, path := range c.Named {
		if IsDir(path) {
			dirs = append(dirs, path)
		} else if slices.Contains(names, filepath.Base(path)) && exists(path) {
			start = filepath.Dir(path) // --manifest-path x/Cargo.toml
			dirs = append(dirs, start)
		}
	}
	options, _ := knowledge.WordsOf(form.RunsInFolderOfOption, p.Program())
	for _, o := range p.Options {
		if o.Static && o.Value != "" && slices.Contains(options, o.Name) {
			start = Absolute(p.Dir, o.Value)
			dirs = append(dirs, start)
		}
	}
	return dirs, start
}

// modules returns the files that python runs for a folder, and for -m (its manual, "Command
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
			for _, ending := range moduleEndings[:pythonEndings] {
				out = append(out, at+ending)
			}
		}
	}
	return out
}

// pythonEndings is the number of moduleEndings that are Python's.
const pythonEndings = 6

// Absolute returns a path relative to dir as an absolute path.
func Absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// filledBy maps the name of a folder to files of the tool that fills it. Without such a
// file next to it, the folder may hold code of the project.
var filledBy = map[string][]string{"target": {"Cargo.toml", "pom.xml", "build.sbt"}, "node_modules": {"package.json"}}

func filledHere(dir, name string) bool {
	files, some := filledBy[name]
	return !some || slices.ContainsFunc(files, func(f string) bool { return exists(filepath.Join(dir, f)) })
}

// The limits of a tree of code.
const (
	maxTreeFiles = 4096
	maxTreeDepth = 64
)

// Tree returns the files below a folder by their paths, sorted by name, with links followed. It
// skips folders that tools fill (.git, node_modules) and plain output. A link to a folder
// outside is listed itself. ok is false if the tree is too large or cannot be read.
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
			case files.IsFilledFolder(slashed) && filledHere(dir, name), files.IsPlainOutput(slashed):
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
