package knowledge

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/knowledge/form"
	"cardea.dev/internal/paths"
)

// ShowsContents reports whether a git command shows what files hold, and not only
// their names, who changed them and when. A command of which that is not known
// is taken for one that does.
func ShowsContents(p *cardea.Part) bool {
	if len(p.Command) < 2 || HasWith(form.HidesContents, p.Command[0], func(sub string) bool { return sub == p.Command[1] }) {
		return false
	}
	known := false
	for n := 2; n <= len(p.Command); n++ {
		command := strings.Join(p.Command[:n], " ")
		with, some := WordsOf(form.ShowsContentsWith, command)
		unless, most := WordsOf(form.ShowsContentsUnless, command)
		if HasOption(p, with...) || most && !HasOption(p, unless...) {
			return true
		}
		known = known || some || most
	}
	return !known
}

// ShownByGit returns which files a command of git chooses to show, and the folder in which
// it runs. ok is false for a command that shows no contents of files, or only those of
// files that it names. unclear says why that is unknown.
func ShownByGit(p *cardea.Part, exists func(path string) bool) (dir string, shows GitShows, unclear string, ok bool) {
	if len(p.Command) < 2 || !Has(form.ReadsRepository, p.Program()) || !ShowsContents(p) {
		return "", shows, "", false
	}
	var besides []string
	for n := 2; n <= len(p.Command); n++ {
		if kind, is := WordsOf(form.ShowsFilesOf, strings.Join(p.Command[:n], " ")); is {
			shows.Kind, besides = kind[0], kind[1:]
		}
	}
	if shows.Kind == "" {
		return "", shows, "", false
	}
	dir, unclear = shows.options(p)
	words, ok := shows.operands(p, func(name string) bool { return exists(path.Join(dir, name)) })
	if len(besides) > 0 && (shows.Kind == "commits" || len(shows.Revisions) == 0) {
		shows.Revisions = append(shows.Revisions, besides...)
	}
	return dir, shows, cmp.Or(unclear, words), ok
}

// options reads the options of a command of git.
func (s *GitShows) options(p *cardea.Part) (dir, unclear string) {
	at := slices.IndexFunc(p.Argv, func(w cardea.Word) bool { return w.Text == p.Command[1] })
	dir = inFolder(p.Program(), p.Dir, p.Options, at)
	elsewhere, _ := WordsOf(form.ChangesConfigurationWith, p.Program())
	chose, _ := WordsOf(form.ChoosesCommitsWith, p.Program())
	for _, o := range p.Options {
		switch {
		case o.Word < at && slices.Contains(elsewhere, o.Name):
			unclear = "options or variables of git name another configuration or repository"
		case o.Word < at:
		case o.Name == "--cached" || o.Name == "--staged":
			s.Staged = true
		case o.Name == "--no-index" || o.Name == "--untracked":
			unclear = o.Name + " shows what git does not track"
		case o.Static && (slices.Contains(chose, o.Name) || isNumber(o.Name[1:])):
			switch {
			case o.Value == "":
				s.Chose = append(s.Chose, o.Name)
			case strings.HasPrefix(o.Name, "--"):
				s.Chose = append(s.Chose, o.Name+"="+o.Value)
			default:
				s.Chose = append(s.Chose, o.Name, o.Value)
			}
		}
	}
	return dir, unclear
}

// operands tells revisions from paths, as git does: behind "--" are paths, and in front of
// it what is there under such a name, where there is no "--".
func (s *GitShows) operands(p *cardea.Part, exists func(name string) bool) (unclear string, ok bool) {
	pattern := s.Kind == "found" && !HasOption(p, "-e", "-f")
	dashes := slices.IndexFunc(p.Argv, func(w cardea.Word) bool { return w.Static && w.Text == "--" })
	for n, i := range p.Operands {
		w := p.Argv[i]
		behind := dashes >= 0 && i > dashes
		switch {
		case n == 0 && pattern:
		case !w.Static:
			unclear = "its words are only known when it runs"
		case behind || dashes < 0 && (strings.HasPrefix(w.Text, ":") || paths.IsPattern(w.Text) || exists(w.Text)):
			s.Paths = append(s.Paths, w.Text)
		case !strings.Contains(w.Text, ":"):
			s.Revisions = append(s.Revisions, w.Text)
		case s.Kind == "objects" && len(p.Operands) == 1:
			return "", false // a file of a revision, which is named
		}
	}
	return unclear, true
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// folders makes accesses those of folders with all that is in them.
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

// bringing are the options among some that bring back files which are left out. Globs do
// not where none of them names what is opened.
func (r *reader) bringing(options []string, excludeOnly bool) []string {
	if only := r.words(form.OpensOnlyWith); excludeOnly {
		return slices.DeleteFunc(slices.Clone(options), func(name string) bool { return slices.Contains(only, name) })
	}
	return options
}

// selection is which files of a folder the program opens, by its options. Of several options
// that name a file the last one decides (grep(1), --exclude; rg(1), --glob).
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
			// A path is compared in several ways.
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

// opensUnnamed finds what the program opens besides what its words name: the file behind " => "
// for an expression that is found in its words, its options or its input, and otherwise
// files that are not known.
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
