package gate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/bash"
	"cardea.dev/internal/call"
	"cardea.dev/internal/knowledge"
	knowledgeform "cardea.dev/internal/knowledge/form"
	"cardea.dev/internal/paths"
)

// bound is what a command runs besides the programs of the machine.
type bound struct {
	// files are those of the project that it names, or in which its programs
	// find what to run. They may be gone, or lead out of the project.
	files []string
	// runs are those of them that it is known to run.
	runs []string
	// unseen is why it cannot be told what it runs, and what to do; "" where it
	// can.
	unseen string
}

// bind finds the files of the project that a command runs: what it runs is what
// they say, so they are accepted with it. The command is read as bash reads it
// (cd tools && ./a.sh), and by its words, whatever they stand in, unless it is
// known to read alone. What a script starts by itself is not seen.
func (l *Loaded) bind(command string) bound {
	project := l.Where.Project
	var out bound
	named := strings.FieldsFunc(command, func(c rune) bool { return strings.ContainsRune(" \t\n'\"`;|&()<>=$", c) })
	for i, word := range named {
		named[i] = from(project, word)
	}
	a := bash.Analyse(at(project, command), bash.Env{Cwd: project, Home: l.Where.Dirs.Home, Roots: []string{project}, Resolve: paths.Resolve, IsDir: call.IsDir, TopLevel: call.TopLevel, Names: call.Names})
	spots, all := a.Opaque, true
	for i := range a.Parts {
		p := &a.Parts[i]
		spots = append(spots, p.Opaque...)
		all = all && !slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind == cardea.Read && a.Path == "" && a.Pattern == "" })
		named = append(named, l.ran(p, &out)...)
	}
	spots = slices.DeleteFunc(spots, func(o cardea.Opaque) bool { return all && runsNamedFile(o) })
	if len(spots) > 0 && out.unseen == "" {
		out.unseen = "what it runs cannot be seen: " + spots[0].Reason + " (" + spots[0].Text + "); write the file's path plainly"
	}
	if len(spots) == 0 && onlyReads(a.Parts) {
		named = nil // what is only read may change, as a version or a state does
	}
	for _, path := range append(named, out.runs...) {
		inside := paths.Within(project, path) || paths.Within(paths.Real(project), paths.Real(path))
		info, err := os.Stat(path)
		_, gone := os.Lstat(path)
		switch known := l.known(path); {
		case !inside, !known && err == nil && info.IsDir():
			continue
		case gone != nil && (!known || !slices.Contains(out.runs, path)):
			continue // a file that is named may come and go
		}
		if !slices.Contains(out.files, path) {
			out.files = append(out.files, path)
		}
	}
	return out
}

// ran are the paths of what a part may run.
func (l *Loaded) ran(p *cardea.Part, b *bound) []string {
	var named []string
	for _, a := range p.Access {
		switch {
		case a.Kind == cardea.Execute && a.Path == "" && a.Pattern == "" && !knowledge.Has(knowledgeform.ProjectFiles, program(p)):
			b.unseen = "which file " + p.Text + " runs cannot be seen; write its path plainly"
		case a.Kind == cardea.Execute && a.Pattern == "":
			b.runs = append(b.runs, a.Path, a.Spelled)
		case a.Pattern != "":
			all, err := filepath.Glob(a.Pattern)
			if err != nil || len(all) > maxScripts {
				b.unseen = "the pattern " + a.Pattern + " finds too much; name the files"
			}
			named = append(named, all[:min(len(all), maxScripts)]...)
		default:
			named = append(named, a.Path, a.Spelled)
		}
	}
	for _, set := range p.Assigns {
		if set.Name == "PATH" && (!set.Static || slices.ContainsFunc(strings.Split(set.Value, ":"), l.searchable)) {
			b.unseen = "it may look for programs in the project, where anything can be put; write the program's path plainly"
		}
	}
	if len(p.Command) == 0 || p.Dir == "" {
		return named
	}
	dirs := []string{p.Dir}
	for _, w := range texts(p) {
		path := from(p.Dir, w)
		named = append(named, path)
		if call.IsDir(path) && paths.Within(l.Where.Project, path) {
			dirs = append(dirs, path)
		}
	}
	name := program(p)
	files, _ := knowledge.WordsOf(knowledgeform.ProjectFiles, name)
	for _, dir := range dirs {
		for _, file := range files {
			b.runs = append(b.runs, filepath.Join(dir, file))
		}
		if all, ok := call.Names(dir); knowledge.Has(knowledgeform.RunsFolder, name) && dir != p.Dir && ok {
			for _, file := range all {
				b.runs = append(b.runs, filepath.Join(dir, file))
			}
		}
	}
	if strings.HasPrefix(name, "python") {
		b.runs = append(b.runs, modules(p, dirs)...)
	}
	return named
}

// searchable reports whether a piece of PATH may lie in the project.
func (l *Loaded) searchable(dir string) bool {
	return !filepath.IsAbs(dir) || paths.Within(paths.Real(l.Where.Project), paths.Real(dir))
}

// program is the name of a part's program, "" where there is none.
func program(p *cardea.Part) string {
	if len(p.Command) == 0 {
		return ""
	}
	return filepath.Base(p.Command[0])
}

// texts are the words of a part, and the values of its options.
func texts(p *cardea.Part) []string {
	var out []string
	for _, w := range p.Argv {
		if w.Static {
			out = append(out, w.Text)
		}
	}
	for _, o := range p.Options {
		if o.Static && o.Value != "" {
			out = append(out, o.Value)
		}
	}
	return out
}

// modules are the files that python runs for a folder, and for -m (its manual,
// "Command line and environment").
func modules(p *cardea.Part, dirs []string) []string {
	var out []string
	for _, dir := range dirs[1:] {
		out = append(out, filepath.Join(dir, "__main__.py"))
	}
	for i, w := range p.Argv {
		if !strings.HasPrefix(w.Text, "-") || !strings.HasSuffix(w.Text, "m") || i+1 >= len(p.Argv) {
			continue
		}
		module := filepath.Join(p.Dir, strings.ReplaceAll(p.Argv[i+1].Text, ".", "/"))
		out = append(out, module+".py", filepath.Join(module, "__init__.py"), filepath.Join(module, "__main__.py"))
	}
	return out
}

// borrows is why a command of the person's, or of a stronger scope, does not run
// in a project that is not trusted: it would run what the project brings.
func (l *Loaded) borrows(command string) string {
	if l.Where.Project == "" || l.Where.Trusted() {
		return ""
	}
	b := l.bind(command)
	for _, file := range b.files {
		if _, err := os.Lstat(file); err == nil && slices.Contains(b.runs, file) {
			return "it runs " + file + " of a project that you have not trusted"
		}
	}
	return ""
}

// onlyReads reports whether nothing that parts name is run: everything is known
// that their programs do, and none executes a file.
func onlyReads(parts []cardea.Part) bool {
	return !slices.ContainsFunc(parts, func(p cardea.Part) bool {
		return p.Knowledge != cardea.Complete || slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind == cardea.Execute })
	})
}

// runsNamedFile reports whether what a spot hides is in the files that other words
// of the command name, which are bound: a sourced file, or what is read and fed
// to a shell. PATH is looked at by itself.
func runsNamedFile(spot cardea.Opaque) bool {
	switch spot.Code {
	case cardea.OpaqueStandardInput, cardea.OpaqueSourcedFile, cardea.OpaqueEval, cardea.OpaqueSearchPath:
		return true
	}
	return false
}

// at is a command in which what stands for the project is written out: harnesses
// set CLAUDE_PROJECT_DIR, and so does who runs the command. Nothing is where the
// project's path would have to be quoted.
func at(project, command string) string {
	if strings.ContainsFunc(project, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._/-", r))
	}) {
		return command
	}
	out := strings.NewReplacer("${CLAUDE_PROJECT_DIR}", project, "$CLAUDE_PROJECT_DIR/", project+"/", `$CLAUDE_PROJECT_DIR"`, project+`"`).Replace(command)
	if call.TopLevel(project) == project {
		out = strings.ReplaceAll(out, "$(git rev-parse --show-toplevel)", project)
	}
	return out
}

// from is a path in a folder; an absolute one is itself.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
