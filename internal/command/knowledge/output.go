package knowledge

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge/form"
)

// This file derives which file names programs print, since other commands of the line
// may read them.

// Filters reports whether a part only prints some of the lines that it reads, unchanged.
func Filters(p *cardea.Part) bool {
	harmless, ok := WordsOf(form.FiltersLines, p.Program())
	return ok && len(p.Access) == 0 && onlyOptions(p, harmless)
}

func onlyOptions(p *cardea.Part, list []string) bool {
	return !slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return !slices.Contains(list, o.Name) })
}

// HasOption reports whether a part has one of the options in list.
func HasOption(p *cardea.Part, list ...string) bool {
	return slices.ContainsFunc(p.Options, func(o cardea.Option) bool { return slices.Contains(list, o.Name) })
}

// FindSearch returns what a search prints. It returns nil if the part is no search, or
// if it may print anything except names below its folders. All of the part is known.
func FindSearch(p *cardea.Part, system *System) *Search {
	name := ""
	printsElse, find := WordsOf(form.FindsUnless, p.Command...)
	finds, fd := WordsOf(form.FindsWith, p.Command...)
	names, matches := WordsOf(form.NamesMatchesWith, p.Command...)
	lists, list := WordsOf(form.ListsFolderWith, p.Command...)
	switch {
	case find:
		if HasOption(p, printsElse...) {
			return nil
		}
		name = foundName(p)
	case fd:
		if !onlyOptions(p, finds) {
			return nil
		}
	case matches:
		others, _ := WordsOf(form.MatchesWith, p.Command...)
		if !HasOption(p, names...) || !onlyOptions(p, slices.Concat(names, others)) {
			return nil
		}
	case list:
		if !onlyOptions(p, lists) {
			return nil
		}
		if len(p.Operands) > 0 {
			return listedFiles(p, system)
		}
	default:
		return printedFolder(p, system)
	}
	if where, tracked := WordsOf(form.FindsTracked, p.Command...); tracked {
		return trackedFiles(p, system, slices.Contains(where, "top"))
	}
	return belowFolders(p, name)
}

// belowFolders returns the files below the folders of a search whose names match name;
// "" matches all. It returns nil if the folders are unknown.
func belowFolders(p *cardea.Part, name string) *Search {
	s, folders := &Search{Dir: p.Dir}, p.Operands
	if spec := programOf(p.Program()); len(folders) > 0 && spec != nil && spec.FirstOperand == form.None && !HasOption(p, spec.FirstOperandUnless...) {
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
		at := cardea.Access{Kind: cardea.Read, Path: a.Path, Recursive: true, Selection: cardea.Selection{KeepsLinks: keepsLinks(p)}}
		if name != "" && keepsLinks(p) { // a symlink leads to names in another folder
			at.Recursive, at.Glob, at.Pattern = false, true, strings.TrimSuffix(a.Path, "/")+"/**/"+name
		}
		s.Places = append(s.Places, at)
	}
	if len(s.Places) == 0 {
		return nil
	}
	return s
}

// trackedFiles returns the tracked files whose names a part prints. It returns nil if
// the part may print names of another folder, repository or revision.
func trackedFiles(p *cardea.Part, system *System, top bool) *Search {
	dynamic := func(f cardea.Word) bool { return !f.Static }
	told, _ := WordsOf(form.VariableKinds, "repository")
	spec := programOf(p.Program())
	if system.Exported == nil || slices.ContainsFunc(told, system.Exported) || spec == nil || p.Dir == "" || len(p.Assigns)+len(p.Wrappers) > 0 || slices.ContainsFunc(p.Argv, dynamic) || len(p.Command) < 2 || len(p.Argv) < 2 || p.Argv[1].Text != p.Command[1] ||
		top && (system.TopLevel == nil || system.TopLevel(p.Dir) != p.Dir || mayBeColored(p.Dir, system)) {
		return nil
	}
	operands := p.Operands
	dashes := slices.IndexFunc(p.Argv, func(f cardea.Word) bool { return f.Text == "--" })
	if sub := spec.Subcommand(p.Command[1]); len(operands) > 0 && sub.FirstOperand == form.None && !HasOption(p, sub.FirstOperandUnless...) {
		if dashes > 0 && operands[0] > dashes {
			dashes = -1 // it is before the pattern, and only ends options
		}
		operands = operands[1:] // the pattern
	}
	for _, i := range operands {
		text := p.Argv[i].Text
		if top && (dashes < 0 || i < dashes) || strings.HasPrefix(text, "/") || strings.HasPrefix(text, ":") || slices.Contains(strings.Split(text, "/"), "..") {
			return nil
		}
	}
	at := cardea.Access{Kind: cardea.Read, Path: p.Dir, Recursive: true, Selection: cardea.Selection{Tracked: true}}
	return &Search{Dir: p.Dir, Places: []cardea.Access{at}, Null: HasOption(p, "-z", "-Z", "--null")}
}

// mayBeColored reports whether a folder may have a file whose name begins like one that
// a program colors.
func mayBeColored(dir string, system *System) bool {
	if system.Names == nil {
		return true
	}
	names, ok := system.Names(dir)
	return !ok || slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "\x1b") })
}

// listedFiles returns the files whose names a part prints because its operands name them, alone
// or by a pattern. It returns nil if one of them is a folder, whose contents are printed.
func listedFiles(p *cardea.Part, system *System) *Search {
	s := &Search{Dir: p.Dir}
	for _, i := range p.Operands {
		f := p.Argv[i]
		if base := path.Base(f.Text); f.Text == "" || strings.Trim(f.Text, alphanumeric+"*?_-+@,./") != "" || base[0] == '.' && !f.Static || f.Text[0] != '*' && f.Text[0] != '?' && f.Text[0] != '/' && !PlainStart(f.Text) {
			return nil
		}
	}
	for _, a := range p.Access {
		if a.Kind != cardea.Read || !a.MetadataOnly || a.Path == "" || a.Redirect || !filesAlone(&a, system) {
			return nil
		}
		a.MetadataOnly = false
		s.Places = append(s.Places, a)
	}
	if len(s.Places) != len(p.Operands) {
		return nil
	}
	return s
}

// filesAlone reports whether an access is to a file, or to a pattern that matches at
// least one file of a folder and no folders.
func filesAlone(a *cardea.Access, system *System) bool {
	dir, base := path.Split(a.Pattern)
	switch {
	case system.IsDir == nil || system.Names == nil || a.Recursive:
		return false
	case !a.Glob:
		return !system.IsDir(a.Path)
	case paths.IsPattern(dir) || base == "":
		return false
	}
	names, ok := system.Names(dir)
	found := 0
	for _, name := range names {
		if paths.MayBeNamed(base, name) {
			ok, found = ok && !system.IsDir(dir+name), found+1
		}
	}
	return ok && found > 0
}

// keepsLinks reports whether a search follows no symlinks.
func keepsLinks(p *cardea.Part) bool {
	unless, keeps := WordsOf(form.KeepsLinksUnless, p.Program())
	return keeps && !HasOption(p, unless...)
}

// printedFolder returns the folder that a part prints: its own, or the top of its
// repository. It returns nil for any other part.
func printedFolder(p *cardea.Part, system *System) *Search {
	at, words := "", []string{}
	for _, word := range p.Argv[1:] {
		words = append(words, word.Text)
	}
	switch {
	case len(words) == 0 && Has(form.PrintsCurrentFolder, p.Program()):
		at = p.Dir
	case system.TopLevel != nil && PrintsTopLevel(p.Program(), words):
		at = system.TopLevel(p.Dir)
	}
	if at == "" || strings.ContainsAny(at, " \t\n\"'\\") {
		return nil
	}
	return &Search{Dir: p.Dir, One: true, Places: []cardea.Access{{Kind: cardea.Read, Path: at, Recursive: true}}}
}

// PrintsTopLevel reports whether a program prints the top folder of its repository
// with these words.
func PrintsTopLevel(program string, words []string) bool {
	return len(words) == 2 && WithWord(form.PrintsTopLevel, program+" "+words[0], words[1])
}

// PlainStart reports whether no program reads name as an option or a command.
func PlainStart(name string) bool {
	return name != "" && (isLetter(name[0]) || '0' <= name[0] && name[0] <= '9' || name[0] == '.')
}

// foundName returns the pattern that every name printed by a find matches, or "" if its
// expression has no such pattern.
func foundName(p *cardea.Part) string {
	branches, _ := WordsOf(form.BranchesWith, p.Program())
	tests, _ := WordsOf(form.TestsWith, p.Program())
	if slices.ContainsFunc(p.Argv, func(f cardea.Word) bool { return slices.Contains(branches, f.Text) }) {
		return ""
	}
	for _, o := range p.Options {
		switch {
		case o.Name == "-name" && (o.Static || FindsNoAction(o.Value) && !strings.Contains(o.Value, "?")) && !strings.ContainsAny(o.Value, "/[\\"):
			return o.Value
		case !InExpression(o), o.Name == "-name", slices.Contains(tests, o.Name):
		default:
			return "" // it may print before it tests the name
		}
	}
	return ""
}

// MayPrint returns the paths that a part may print, if its program prints its operands.
func MayPrint(p *cardea.Part, system *System) []PotentialPath {
	operands := make([]string, 0, len(p.Operands))
	for _, k := range p.Operands {
		if p.Argv[k].Static {
			operands = append(operands, p.Argv[k].Text)
		}
	}
	name := p.Program()
	topLevel, _ := WordsOf(form.PrintsTopLevel, p.Command...)
	operandsWith, _ := WordsOf(form.PrintsOperandsWith, name)
	hiddenWith, lists := WordsOf(form.ListsHiddenWith, name)
	switch {
	case StartsOnFound(name):
		acts, _ := WordsOf(form.PrintsWith, name)
		if wrapper := WrapperOf(name); wrapper != nil {
			acts = append(acts[:len(acts):len(acts)], wrapper.CommandOptions...)
		}
		return append(everythingBelow(p), pathsOfSearch(p, system, acts, false, func(int) []string { return nil })...)
	case Has(form.PrintsOperands, name):
		var words []string
		for _, o := range operands {
			words = append(words, strings.Fields(strings.ReplaceAll(o, `\n`, " "))...)
		}
		return append(PrintedPaths(words, p.Dir), entriesNamed(p, system)...)
	case Has(form.PrintsFolders, name):
		for i := range operands {
			operands[i] = path.Dir(operands[i])
		}
		return PrintedPaths(operands, p.Dir)
	case Has(form.PrintsCurrentFolder, name):
		return PrintedPaths([]string{"."}, p.Dir)
	case HasOption(p, operandsWith...):
		return append(PrintedPaths(operands, p.Dir), entriesNamed(p, system)...)
	case lists && len(p.Operands) == 0:
		return []PotentialPath{{Path: p.Dir, Entries: !HasOption(p, hiddenWith...)}}
	case lists:
		out := PrintedPaths(operands, p.Dir)
		for i := range out {
			out[i].Entries = true
		}
		return append(out, entriesNamed(p, system)...)
	case HasOption(p, topLevel...) && len(system.Roots) > 0:
		return []PotentialPath{{Path: system.Roots[0]}}
	}
	return nil
}

// entriesNamed returns the folders of which the operands of a part name all entries: ~/*.
func entriesNamed(p *cardea.Part, system *System) []PotentialPath {
	var out []PotentialPath
	for _, k := range p.Operands {
		dir, all := strings.CutSuffix(p.Argv[k].Text, "/*")
		if p.Argv[k].Static || !all || !simpleGlob(dir) {
			continue
		}
		if rest, ok := strings.CutPrefix(dir, "~"); ok {
			dir = system.Home + rest
		}
		for _, at := range PrintedPaths([]string{dir}, p.Dir) {
			at.Entries = true
			out = append(out, at)
		}
	}
	return out
}

// PrintedPaths returns the paths in list, resolved from dir, in the form in which a
// program prints them.
func PrintedPaths(list []string, dir string) []PotentialPath {
	var out []PotentialPath
	for _, text := range list {
		text = strings.Trim(text, `"'`)
		if at := Absolute(dir, text); at != "" {
			out = append(out, PotentialPath{Path: at})
		}
	}
	return out
}

// StartsOnFound reports whether the program searches folders and can start others on the
// results.
func StartsOnFound(name string) bool {
	return Has(form.Searches, name)
}

// everythingBelow returns what a find prints: everything below its folders, if it has no
// test that excludes files. A search with tests is not analyzed.
func everythingBelow(p *cardea.Part) []PotentialPath {
	if Has(form.FindsWith, p.Program()) && len(p.Operands) > 0 && strings.Trim(p.Argv[p.Operands[0]].Text, ".*^") != "" {
		return nil // a pattern that names something
	}
	harmless, _ := WordsOf(form.FindsEverythingWith, p.Program())
	wrapper := WrapperOf(p.Program())
	command := -1 // the end of the command that it starts
	for _, o := range p.Options {
		switch {
		case o.Word <= command, slices.Contains(harmless, o.Name):
		case wrapper == nil || !slices.Contains(wrapper.CommandOptions, o.Name):
			return nil
		case wrapper.AppendsFile:
			command = len(p.Argv)
		default:
			for command = o.Word + 1; command < len(p.Argv) && p.Argv[command].Text != ";" && p.Argv[command].Text != "+"; command++ {
			}
		}
	}
	var out []PotentialPath
	for _, a := range p.Access {
		if a.Kind == cardea.Read && a.Recursive {
			if at := cmp.Or(a.Path, a.Spelled); at != "" {
				out = append(out, PotentialPath{Path: at, Below: true})
			}
		}
	}
	return out
}

// PassesOn reports whether a program prints its input, in another order or form.
func PassesOn(p *cardea.Part) bool {
	return Has(form.PassesInput, p.Program())
}
