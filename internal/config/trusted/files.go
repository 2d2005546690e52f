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

// maxFiles is the maximum number of files that a pattern may match.
const maxFiles = 256

// Files holds what a command runs in addition to programs of the machine.
type Files struct {
	// All holds the project's files that it names, or in which its programs look for code.
	// They may be missing or outside the project.
	All []string
	// Runs holds those that it is known to run.
	Runs []string
	// Unseen is why the code that the command runs is unknown, and what to do; "" if it is
	// known.
	Unseen string
}

// FilesOf returns the project's files that a command runs. Their content is part of the
// command, so they are accepted with it. The command is parsed as by bash (cd tools &&
// ./a.sh), and also split into words regardless of syntax, unless it is known to be
// read-only. It does not follow what a script starts.
func (p AcceptedProject) FilesOf(command string) Files {
	project := p.Project
	var out Files
	named := strings.FieldsFunc(command, func(c rune) bool { return strings.ContainsRune(" \t\n'\"`;|&()<>=$", c) })
	for i, word := range named {
		named[i] = disk.Absolute(project, word)
	}
	system := disk.System(p.Home)
	system.Roots, system.PlainNames, system.PlainTracked = []string{project}, nil, nil // the names may change before the script runs
	a := bash.Analyse(withProject(project, command), bash.Env{Cwd: project, System: system})
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
		named = nil // files that are only read may change, such as a version or a state
	}
	for _, path := range append(named, out.Runs...) {
		inside := paths.Within(project, path) || paths.Within(paths.Real(project), paths.Real(path))
		info, err := os.Stat(path)
		_, gone := os.Lstat(path)
		switch known := p.knows(path); {
		case !inside, !known && err == nil && info.IsDir():
			continue
		case gone != nil && (!known || !slices.Contains(out.Runs, path)):
			continue // a named file may be created and removed
		}
		if !slices.Contains(out.All, path) {
			out.All = append(out.All, path)
		}
	}
	return out
}

// pathsOf returns the paths that a part names or may run. It adds those that it is known to
// run to files.
func (p AcceptedProject) pathsOf(part *cardea.Part, files *Files) []string {
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

// accessed returns the paths of a part's accesses, and adds those that it runs to files.
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

// searchable reports whether a folder of PATH may be in the project.
func (p AcceptedProject) searchable(dir string) bool {
	return !filepath.IsAbs(dir) || paths.Within(paths.Real(p.Project), paths.Real(dir))
}

// program returns the name of a part's program, "" if none exists.
func program(p *cardea.Part) string {
	if len(p.Command) == 0 {
		return ""
	}
	return filepath.Base(p.Command[0])
}

// texts returns the words of a part and the values of its options.
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

// onlyReads reports whether parts run none of the files they name: their programs are fully
// known, and none executes a file.
func onlyReads(parts []cardea.Part) bool {
	return !slices.ContainsFunc(parts, func(p cardea.Part) bool {
		return p.Knowledge != cardea.Complete || slices.ContainsFunc(p.Access, func(a cardea.Access) bool { return a.Kind == cardea.Execute })
	})
}

// inNamedFiles lists the opaque spots that hide code in files named by other words of the
// command, which are accepted with it. Such are a sourced file, or input of a shell. PATH
// is checked separately.
var inNamedFiles = []cardea.OpaqueCode{cardea.OpaqueStandardInput, cardea.OpaqueSourcedFile, cardea.OpaqueEval, cardea.OpaqueSearchPath}

// withProject returns a command with the project's path in place of CLAUDE_PROJECT_DIR,
// which harnesses and Cardea set. It changes nothing if the path would need quotes.
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
