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

// ShowsContents reports whether a git command shows contents of files, and not only
// their names, authors and times. It returns true for an unknown command, and for one
// that shows an object by its hash.
func ShowsContents(p *cardea.Part) bool {
	kind, _ := WordsOf(form.ShowsFilesOf, strings.Join(p.Command, " "))
	return showsContents(p) || slices.Contains(kind, "objects")
}

// showsContents is like ShowsContents for a command in which no hash names a file.
func showsContents(p *cardea.Part) bool {
	if len(p.Command) < 2 || Has(form.HidesContents, p.Command...) {
		return false
	}
	known, plain := false, slices.Concat(wordsOf(form.KeepsCommitsWith, p), wordsOf(form.ChoosesCommitsWith, p))
	for n := 2; n <= len(p.Command); n++ {
		command := strings.Join(p.Command[:n], " ")
		with, some := WordsOf(form.ShowsContentsWith, command)
		unless, most := WordsOf(form.ShowsContentsUnless, command)
		short := func(o cardea.Option) bool {
			return !slices.Contains(plain, o.Name) && slices.ContainsFunc(with, func(w string) bool { return abbreviates(o.Name, w) })
		}
		if HasOption(p, with...) || slices.ContainsFunc(p.Options, short) || most && !HasOption(p, unless...) {
			return true
		}
		known = known || some || most
	}
	return !known
}

// wordsOf returns the words of a property of a part's program.
func wordsOf(property form.Property, p *cardea.Part) []string {
	words, _ := WordsOf(property, p.Program())
	return words
}

// ShownByGit returns which files a command of git chooses to show, and its working
// folder. ok is false for a command that shows no contents of files, or only those of
// files that it names. unclear is why the files are unknown, or "".
func ShownByGit(p *cardea.Part, exists func(path string) bool) (dir string, shows GitShows, unclear string, ok bool) {
	if len(p.Command) < 2 || !Has(form.ReadsRepository, p.Program()) {
		return "", shows, "", false
	}
	var besides []string
	for n := 2; n <= len(p.Command); n++ {
		if kind, is := WordsOf(form.ShowsFilesOf, strings.Join(p.Command[:n], " ")); is {
			shows.Kind, besides = kind[0], kind[1:]
		}
	}
	lines := HasOption(p, "-L") && (shows.Kind == "commits" || shows.Kind == "objects") // its value names the file
	if contents := showsContents(p); lines || shows.Kind == "objects" && !contents {
		shows.Kind = "named"
	} else if shows.Kind == "" || !contents {
		return "", shows, "", false
	}
	dir, unclear = shows.options(p)
	words := shows.operands(p, func(name string) bool { return exists(Absolute(dir, name)) })
	switch one := len(shows.Revisions) == 1 && !strings.Contains(shows.Revisions[0], ".."); shows.Kind {
	case "unknown":
		return dir, shows, "it shows or copies files of commits", true
	case "elsewhere":
		return dir, shows, "it copies a repository", len(shows.Paths) > 0
	case "trees":
		shows.Kind = map[bool]string{true: "objects", false: "changes"}[one]
	}
	if len(besides) > 0 && (shows.Kind == "commits" || len(shows.Revisions) == 0) {
		if len(shows.Chose) > 0 && len(shows.Revisions) > 0 {
			unclear = "its options choose among several revisions"
		}
		shows.Revisions = append(shows.Revisions, besides...)
	}
	unclear = cmp.Or(unclear, words)
	return dir, shows, unclear, shows.Kind != "named" || unclear != "" || len(shows.Revisions) > 0
}

// options reads the options of a command of git. It returns its folder, and why its
// choice of files is unknown, or "".
func (s *GitShows) options(p *cardea.Part) (dir, unclear string) {
	at := slices.IndexFunc(p.Argv, func(w cardea.Word) bool { return w.Text == p.Command[1] })
	dir = inFolder(p.Program(), p.Dir, p.Options, at)
	elsewhere, hides, chose := wordsOf(form.ChangesConfigurationWith, p), wordsOf(form.ShowsUnseenWith, p), wordsOf(form.ChoosesCommitsWith, p)
	patches, _ := WordsOf(form.ShowsContentsWith, p.Command[0]+" "+p.Command[1])
	keeps, all := slices.Concat(patches, wordsOf(form.KeepsCommitsWith, p)), true
	for _, o := range p.Options {
		text := p.Argv[o.Word].Text
		switch {
		case slices.Contains(hides, o.Name), o.Name == "-s" && o.Value != "":
			unclear = o.Name + " chooses what the line does not say"
		case o.Word < at && slices.Contains(elsewhere, o.Name):
			unclear = "options or variables of git name another configuration or repository"
		case o.Word < at:
		case o.Name == "--cached" || o.Name == "--staged":
			s.Staged = true
		case isNumber(text[1:]):
			s.Chose = append(s.Chose, text)
		case o.Value == "" && slices.Contains(chose, o.Name):
			s.Chose = append(s.Chose, o.Name)
		case o.Static && slices.Contains(chose, o.Name) && strings.HasPrefix(o.Name, "--"):
			s.Chose = append(s.Chose, o.Name+"="+o.Value)
		case o.Static && slices.Contains(chose, o.Name):
			s.Chose = append(s.Chose, o.Name, o.Value)
		default:
			all = all && slices.Contains(keeps, o.Name)
		}
	}
	if !all && len(s.Chose) > 0 {
		unclear = "options that are not followed also choose commits"
	}
	return dir, unclear
}

// operands separates revisions from paths, as git does: after "--" are paths. Without
// "--", an operand that exists is a path. It returns why the files are unknown, or "".
func (s *GitShows) operands(p *cardea.Part, exists func(name string) bool) (unclear string) {
	pattern := s.Kind == "found" && !HasOption(p, "-e", "-f")
	dashes := slices.IndexFunc(p.Argv, func(w cardea.Word) bool { return w.Static && w.Text == "--" })
	for n, i := range p.Operands {
		w := p.Argv[i]
		magic := len(w.Text) > 1 && w.Text[0] == ':' && strings.ContainsAny(w.Text[1:2], "(!^") || w.Text == ":/"
		switch {
		case n == 0 && (pattern || s.Kind == "copies"), s.Kind == "elsewhere" && n > 0:
		case !w.Static:
			unclear = "its words are only known when it runs"
		case dashes >= 0 && i > dashes || dashes < 0 && (magic || paths.IsPattern(w.Text) || exists(w.Text)), s.Kind == "tracked" && n > 0, strings.HasPrefix(w.Text, "file:"):
			s.Paths = append(s.Paths, w.Text)
		default:
			s.Revisions = append(s.Revisions, w.Text)
		}
	}
	return unclear
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// folders extends accesses to folders to everything in them.
func (r *reader) folders(accesses []cardea.Access) {
	unless := r.spec.SkipsHiddenUnless
	skips := len(unless) > 0 && !r.has(r.bringing(unless, r.selection().Only == "" && !r.selection().Unclear))
	for i := range accesses {
		a := &accesses[i]
		if a.Recursive, a.SkipsHidden = true, skips; a.Kind == cardea.Read {
			a.Selection = r.selection()
		}
	}
}

// bringing returns the options that include files which are otherwise skipped. If
// excludeOnly is set, globs are not among them.
func (r *reader) bringing(options []string, excludeOnly bool) []string {
	if only := r.words(form.OpensOnlyWith); excludeOnly {
		return slices.DeleteFunc(slices.Clone(options), func(name string) bool { return slices.Contains(only, name) })
	}
	return options
}

// selection returns which files of a folder the program opens, by its options. Of several
// options that name a file the last one decides (grep(1), --exclude; rg(1), --glob).
func (r *reader) selection() cardea.Selection {
	if r.selected != nil {
		return *r.selected
	}
	except, only := r.words(form.LeavesOutWith), r.words(form.OpensOnlyWith)
	s := cardea.Selection{From: r.paths.Dir}
	unless, keeps := WordsOf(form.KeepsLinksUnless, r.out.Command[0])
	s.KeepsLinks, s.Unclear = keeps && !r.has(unless), r.has(r.words(form.ChoosesFilesWith))
	folds := r.words(form.IgnoresCaseWith)
	foldsAll := r.has(slices.DeleteFunc(slices.Clone(folds), func(name string) bool { return slices.Contains(only, name) }))
	var list, chosen []string
	first := true
	for _, o := range r.out.Options {
		leaves, takes := slices.Contains(except, o.Name), slices.Contains(only, o.Name)
		if !leaves && !takes {
			continue
		}
		value := o.Value
		if w := r.argv[o.Word]; !o.Static && w.Glob { // a pattern stays as written
			_, value, _ = strings.Cut(w.Text, "=")
		}
		if foldsAll || slices.Contains(folds, o.Name) {
			value = paths.EitherCase(value)
		}
		glob, not := strings.CutPrefix(value, "!")
		switch {
		case value == "" || !o.Static && !r.argv[o.Word].Glob:
			s.Unclear = true
		case leaves && strings.Contains(strings.TrimSuffix(value, "/"), "/"):
			// Programs compare a path in several ways.
		case leaves && strings.Contains(o.Name, "dir"):
			list = append(list, strings.TrimSuffix(value, "/")+"/")
		case leaves:
			list = append(list, value)
		case not:
			list = append(list, glob)
		default:
			for _, glob := range paths.Alternatives(glob) {
				list = append(list, "!"+glob)
				if first || len(chosen) > 0 {
					chosen = append(chosen, glob)
				}
			}
		}
		first = first && !leaves
	}
	unless, skips := WordsOf(form.SkipsIgnoredUnless, r.out.Command[0])
	s.SkipsIgnored = skips && !r.has(r.bringing(unless, len(chosen) == 0 && !s.Unclear))
	chosen = append(chosen, r.words(form.OpensNames)...)
	s.Only, s.Except = strings.Join(chosen, "\n"), strings.Join(list, "\n")
	r.selected = &s
	return s
}

// opensUnnamed adds the files that the program opens though no word names them. An
// expression matches in its words, options or input: then it is the file after " => ",
// else an unknown file.
func (r *reader) opensUnnamed() {
	uses, ok := WordsOf(form.OpensUnnamedWith, Unversioned(path.Base(r.argv[0].Text)))
	if !ok {
		return
	}
	var text strings.Builder
	for _, w := range r.argv[1:] {
		text.WriteString(w.Text + "\n")
	}
	for _, o := range r.out.Options {
		text.WriteString(o.Name + "\n" + o.Value + "\n")
	}
	text.WriteString(r.inv.Input)
	for _, use := range uses {
		expression, file, named := strings.Cut(use, " => ")
		found := use == "always" || lazyRegexp(`(?:^|\W)(?:`+expression+`)(?:\W|$)`).MatchString(text.String())
		if found && named {
			r.out.Access = append(r.out.Access, r.paths.Open(cardea.Read, file, false)...)
		}
		r.out.OpensUnnamed = r.out.OpensUnnamed || found && !named
	}
}
