package knowledge

import (
	"path"
	"slices"
	"strings"

	"cardea.dev"
)

// This file says what programs print, as far as it names files: other commands
// of the line are passed it.

// Filters reports whether a part prints some of the lines that they read, as they
// are, and nothing else.
func Filters(p *cardea.Part) bool {
	var harmless string
	switch p.Program() {
	case "sort":
		harmless = "-u -r -n -h -V -z"
	case "uniq":
		harmless = "-u -d -z"
	case "head", "tail":
		harmless = "-n -1 -2 -3 -4 -5 -6 -7 -8 -9"
	case "grep", "egrep", "fgrep":
		harmless = "-v -i -E -F -w -x -P -e"
	default:
		return false
	}
	return len(p.Access) == 0 && onlyOptions(p, strings.Fields(harmless))
}

func onlyOptions(p *cardea.Part, list []string) bool {
	return !slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return !slices.Contains(list, o.Name) })
}

func hasOption(p *cardea.Part, list ...string) bool {
	return slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return slices.Contains(list, o.Name) })
}

// FindSearch is what a part prints that searches; nil where it is no search, or
// may print something else than names of what lies below its folders. All of
// the part is known.
func FindSearch(p *cardea.Part, world *World) *Search {
	s, name := &Search{Dir: p.Dir}, ""
	switch p.Program() {
	case "find", "gfind":
		if hasOption(p, "-printf", "-fprintf", "-ls", "-fls", "-fprint", "-fprint0", "-files0-from") {
			return nil
		}
		name = foundName(p)
	case "fd", "fdfind":
		if !onlyOptions(p, []string{"-t", "--type", "-e", "--extension", "-d", "--max-depth", "-H", "--hidden", "-I", "--no-ignore", "-E", "--exclude", "-0", "--print0", "-g", "--glob", "-i", "-s"}) {
			return nil
		}
	case "grep", "egrep", "fgrep", "rg":
		names := []string{"-l", "-L", "--files-with-matches", "--files-without-match", "--files"}
		if !hasOption(p, names...) || !onlyOptions(p, append(names, "-r", "-i", "-n", "-E", "-F", "-w", "-e", "-P", "-t", "-g", "--include", "--exclude", "--exclude-dir", "-s", "-v")) {
			return nil
		}
	case "ls":
		if len(p.Operands) > 0 || !onlyOptions(p, []string{"-1", "-A", "-t", "-r", "-S"}) {
			return nil
		}
	case "pwd", "git":
		return printedFolder(p, world)
	default:
		return nil
	}
	folders := p.Operands
	if len(folders) > 0 && !strings.HasSuffix(p.Program(), "find") && !hasOption(p, "-e", "--files") {
		folders = folders[1:] // the pattern
	}
	for _, i := range folders {
		if f := p.Argv[i]; !f.Static || !PlainStart(f.Text) && !strings.HasPrefix(f.Text, "/") || strings.ContainsAny(f.Text, " \t\n\"'\\:") {
			return nil
		}
	}
	for _, a := range p.Access {
		if a.Kind != cardea.Read || a.Path == "" || a.Redirect || a.Glob {
			return nil
		}
		at := cardea.Access{Kind: cardea.Read, Path: a.Path, Recursive: true}
		if name != "" {
			at.Recursive, at.Glob, at.Pattern = false, true, strings.TrimSuffix(a.Path, "/")+"/**/"+name
		}
		s.Places = append(s.Places, at)
	}
	if len(s.Places) == 0 {
		return nil
	}
	return s
}

// printedFolder is the folder that pwd and git rev-parse --show-toplevel print.
func printedFolder(p *cardea.Part, world *World) *Search {
	at := p.Dir
	if len(p.Argv) > 1 {
		if len(p.Argv) != 3 || p.Argv[1].Text != "rev-parse" || p.Argv[2].Text != "--show-toplevel" || world.TopLevel == nil {
			return nil
		}
		at = world.TopLevel(p.Dir)
	}
	if at == "" || p.Program() == "git" && len(p.Argv) == 1 || strings.ContainsAny(at, " \t\n\"'\\") {
		return nil
	}
	return &Search{Dir: p.Dir, One: true, Places: []cardea.Access{{Kind: cardea.Read, Path: at, Recursive: true}}}
}

// PlainStart reports a name that no program takes for an option or a command.
func PlainStart(name string) bool {
	return name != "" && (isLetter(name[0]) || '0' <= name[0] && name[0] <= '9' || name[0] == '.')
}

// foundName is the pattern that what a find prints matches, "" where its
// expression does not say one that holds for all of it.
func foundName(p *cardea.Part) string {
	for _, f := range p.Argv {
		switch f.Text {
		case "-o", "-or", "!", "-not", "(", ",", "-iname":
			return ""
		}
	}
	for _, o := range p.Options {
		switch {
		case o.Name == "-name" && o.Static && !strings.ContainsAny(o.Value, "/[\\"):
			return o.Value
		case !InExpression(o), o.Name == "-name", strings.HasSuffix(o.Name, "depth"), o.Name == "-type", o.Name == "-path", o.Name == "-newer", o.Name == "-size", o.Name == "-mtime", o.Name == "-xdev":
		default:
			return "" // it may print before it looks at the name
		}
	}
	return ""
}

// MayPrint lists the paths that a part may print, where it is one of the programs
// that print what they are passed.
func MayPrint(p *cardea.Part, world *World) []PossiblePath {
	operands := make([]string, 0, len(p.Operands))
	for _, k := range p.Operands {
		if p.Argv[k].Static {
			operands = append(operands, p.Argv[k].Text)
		}
	}
	switch p.Program() {
	case "find", "gfind", "fd", "fdfind":
		return everythingBelow(p)
	case "echo", "printf", "yes", "realpath", "readlink":
		var words []string
		for _, o := range operands {
			words = append(words, strings.Fields(strings.ReplaceAll(o, `\n`, " "))...)
		}
		return PrintedPaths(words, p.Dir)
	case "dirname":
		for i := range operands {
			operands[i] = path.Dir(operands[i])
		}
		return PrintedPaths(operands, p.Dir)
	case "pwd":
		return PrintedPaths([]string{"."}, p.Dir)
	case "ls":
		switch {
		case hasOption(p, "-d", "--directory"):
			return PrintedPaths(operands, p.Dir)
		case len(p.Operands) == 0:
			return []PossiblePath{{Path: p.Dir, Entries: !hasOption(p, "-a", "-A", "--all", "--almost-all")}}
		}
	case "git":
		if hasOption(p, "--show-toplevel") && len(world.Roots) > 0 {
			return []PossiblePath{{Path: world.Roots[0]}}
		}
	}
	return nil
}

// PrintedPaths are paths as a program prints them.
func PrintedPaths(list []string, dir string) []PossiblePath {
	var out []PossiblePath
	for _, text := range list {
		text = strings.Trim(text, `"'`)
		if at := Absolute(dir, text); at != "" {
			out = append(out, PossiblePath{Path: at})
		}
	}
	return out
}

// StartsOnFound reports the programs that search folders, and start others on
// what they find.
func StartsOnFound(name string) bool {
	return name == "find" || name == "gfind" || name == "fd" || name == "fdfind"
}

// everythingBelow lists what a find prints: everything below its folders, if it has no
// test that leaves something out. A search with tests is not followed.
func everythingBelow(p *cardea.Part) []PossiblePath {
	if name := p.Program(); name == "fd" || name == "fdfind" {
		if len(p.Operands) > 0 && strings.Trim(p.Argv[p.Operands[0]].Text, ".*^") != "" {
			return nil // a pattern that names something
		}
	}
	command := -1 // the end of what -exec runs
	for _, o := range p.Options {
		if o.Word <= command {
			continue
		}
		switch o.Name {
		case "-x", "-X", "--exec", "--exec-batch":
			command = len(p.Argv)
		case "-exec", "-execdir", "-ok", "-okdir":
			for command = o.Word + 1; command < len(p.Argv) && p.Argv[command].Text != ";" && p.Argv[command].Text != "+"; command++ {
			}
		case "-print", "-print0", "-delete", "-depth", "-d", "-xdev", "-mount", "-type", "-maxdepth", "-mindepth", "-H", "-L", "-P",
			"-O", "-D", "-true", "-noleaf", "-ls", "-prune", "-o", "-or", "-a", "-and", "-I", "-u", "-t", "--type", "--hidden", "--no-ignore", "--unrestricted", "-0":
		default:
			return nil
		}
	}
	var out []PossiblePath
	for _, a := range p.Access {
		if a.Kind == cardea.Read && a.Recursive {
			at := a.Path
			if at == "" {
				at = a.Spelled
			}
			if at != "" {
				out = append(out, PossiblePath{Path: at, Below: true})
			}
		}
	}
	return out
}

// PassesOn reports whether a program prints what it reads, in another order or
// form.
func PassesOn(p *cardea.Part) bool {
	switch p.Program() {
	case "sort", "uniq", "cat", "tac", "tee", "tr", "shuf":
		return true
	}
	return false
}
