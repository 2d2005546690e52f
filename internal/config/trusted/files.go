package trusted

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/bash"
	"cardea.dev/internal/command/disk"
	"cardea.dev/internal/command/knowledge"
	knowledgeform "cardea.dev/internal/command/knowledge/form"
)

// maxFiles bounds how many files a pattern may find.
const maxFiles = 256

// Files are what a command runs besides the programs of the machine.
type Files struct {
	// All are those of the project that it names, or in which its programs
	// find what to run. They may be gone, or lead out of the project.
	All []string
	// Runs are those of them that it is known to run.
	Runs []string
	// Unseen says why Cardea cannot know what the command runs, and what to do;
	// "" where it can.
	Unseen string
}

// FilesOf finds the files of the project that a command runs: what it runs is what
// they say, so they are accepted with it. The command is read as bash reads it
// (cd tools && ./a.sh), and by its words, whatever they stand in, unless it is
// known to read alone. What a script starts by itself is not seen.
func (p Place) FilesOf(command string) Files {
	project := p.Project
	var out Files
	named := strings.FieldsFunc(command, func(c rune) bool { return strings.ContainsRune(" \t\n'\"`;|&()<>=$", c) })
	for i, word := range named {
		named[i] = disk.Absolute(project, word)
	}
	world := disk.World(p.Home)
	world.Roots, world.PlainNames, world.PlainTracked = []string{project}, nil, nil // the names may change before the script runs
	a := bash.Analyse(withProject(project, command), bash.Env{Cwd: project, World: world})
	spots, all := a.Opaque, true
	for i := range a.Parts {
		part := &a.Parts[i]
		spots = append(spots, part.Opaque...)
		all = all && !slices.ContainsFunc(part.Access, func(a cardea.Access) bool { return a.Kind == cardea.Read && a.Path == "" && a.Pattern == "" })
		named = append(named, p.pathsOf(part, &out)...)
	}
	spots = slices.DeleteFunc(spots, func(o cardea.Opaque) bool { return all && slices.Contains(inNamedFiles, o.Code) })
	if len(spots) > 0 && out.Unseen == "" {
		out.Unseen = "what it runs cannot be seen: " + spots[0].Reason + " (" + spots[0].Text + "); write the file's path plainly"
	}
	if len(spots) == 0 && onlyReads(a.Parts) {
		named = nil // what is only read may change, as a version or a state does
	}
	for _, path := range append(named, out.Runs...) {
		inside := paths.Within(project, path) || paths.Within(paths.Real(project), paths.Real(path))
		info, err := os.Stat(path)
		_, gone := os.Lstat(path)
		switch known := p.knows(path); {
		case !inside, !known && err == nil && info.IsDir():
			continue
		case gone != nil && (!known || !slices.Contains(out.Runs, path)):
			continue // a file that is named may come and go
		}
		if !slices.Contains(out.All, path) {
			out.All = append(out.All, path)
		}
	}
	return out
}

// pathsOf are the paths that a part names or may run. Those that it is known to
// run are added to the files.
func (p Place) pathsOf(part *cardea.Part, files *Files) []string {
	named := accessed(part, files)
	code := disk.CodeOf(part, p.Project)
	if code.Unnamed {
		files.Unseen = "a pattern of " + part.Text + " finds too much; name the files"
	}
	files.Runs = append(files.Runs, code.Runs...)
	for _, dir := range append(code.Named, code.Trees...) {
		if !disk.IsDir(dir) || !paths.Within(p.Project, dir) {
			continue
		}
		all, ok := disk.Tree(dir)
		if !ok || len(all) > maxFiles {
			files.Unseen = "it runs what is in " + dir + ", which has too many files; name a file or a smaller folder"
			continue
		}
		files.Runs = append(files.Runs, all...)
	}
	for _, set := range part.Assigns {
		if set.Name == "PATH" && (!set.Static || slices.ContainsFunc(strings.Split(set.Value, ":"), p.searchable)) {
			files.Unseen = "it may look for programs in the project, where anything can be put; write the program's path plainly"
		}
	}
	if len(part.Command) == 0 || part.Dir == "" {
		return named
	}
	for _, w := range texts(part) {
		named = append(named, disk.Absolute(part.Dir, w))
	}
	return named
}

// accessed are the paths of a part's accesses, those that it runs apart.
func accessed(part *cardea.Part, files *Files) []string {
	var named []string
	for _, a := range part.Access {
		switch {
		case a.Kind == cardea.Execute && a.Path == "" && a.Pattern == "" && !knowledge.Has(knowledgeform.ProjectFiles, program(part)):
			files.Unseen = "which file " + part.Text + " runs cannot be seen; write its path plainly"
		case a.Kind == cardea.Execute && a.Pattern == "":
			files.Runs = append(files.Runs, a.Path, a.Spelled)
		case a.Pattern != "":
			all, err := filepath.Glob(a.Pattern)
			if err != nil || len(all) > maxFiles {
				files.Unseen = "the pattern " + a.Pattern + " finds too much; name the files"
			}
			named = append(named, all[:min(len(all), maxFiles)]...)
		default:
			named = append(named, a.Path, a.Spelled)
		}
	}
	return named
}

// searchable reports whether a piece of PATH may lie in the project.
func (p Place) searchable(dir string) bool {
	return !filepath.IsAbs(dir) || paths.Within(paths.Real(p.Project), paths.Real(dir))
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

// onlyReads reports whether nothing that parts name is run: everything is known
// that their programs do, and none executes a file.
func onlyReads(parts []cardea.Part) bool {
	return !slices.ContainsFunc(parts, func(p cardea.Part) bool {
		return p.Knowledge != cardea.Complete || slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind == cardea.Execute })
	})
}

// inNamedFiles lists the spots that hide what is in the files that other words of the
// command name, which are bound: a sourced file, or what is read and fed to a shell. PATH
// is looked at by itself.
var inNamedFiles = []cardea.OpaqueCode{cardea.OpaqueStandardInput, cardea.OpaqueSourcedFile, cardea.OpaqueEval, cardea.OpaqueSearchPath}

// withProject is a command in which what stands for the project is written out: harnesses
// set CLAUDE_PROJECT_DIR, and so does who runs the command. Nothing is where the
// project's path would have to be quoted.
func withProject(project, command string) string {
	if strings.ContainsFunc(project, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._/-", r))
	}) {
		return command
	}
	out := strings.NewReplacer("${CLAUDE_PROJECT_DIR}", project, "$CLAUDE_PROJECT_DIR/", project+"/", `$CLAUDE_PROJECT_DIR"`, project+`"`).Replace(command)
	if disk.TopLevel(project) == project {
		out = strings.ReplaceAll(out, "$(git rev-parse --show-toplevel)", project)
	}
	return out
}
