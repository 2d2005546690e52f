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

// pathspec is a pattern for files that a program reads itself (gitglossary(7), pathspec).
type pathspec struct {
	// pattern is absolute: all files below a folder that it matches are meant.
	pattern              string
	except, fold, verbal bool
}

// readPathspec reads what a pathspec says about its pattern. rest is the pattern as it is
// written, fromTop is set where it begins at the top of the repository.
func readPathspec(text string) (s pathspec, rest string, fromTop bool) {
	if long, ok := strings.CutPrefix(text, ":("); ok {
		magic, rest, _ := strings.Cut(long, ")")
		words := strings.Split(magic, ",")
		s.fold, s.except, s.verbal = slices.Contains(words, "icase"), slices.Contains(words, "exclude"), slices.Contains(words, "literal")
		return s, rest, slices.Contains(words, "top")
	} else if !strings.HasPrefix(text, ":") {
		return s, text, false
	}
	rest = strings.TrimLeft(text, ":/!^")
	magic := text[:len(text)-len(rest)]
	s.except = strings.ContainsAny(magic, "!^")
	return s, rest, strings.Contains(magic, "/")
}

// matches reports whether a file, or a folder above it, is meant.
func (s pathspec) matches(file string) bool {
	pattern := s.pattern
	if s.fold {
		pattern, file = strings.ToLower(pattern), strings.ToLower(file)
	}
	for at := file; at != "/" && at != "."; at = path.Dir(at) {
		if at == pattern || !s.verbal && paths.IsPattern(pattern) && paths.MatchName(pattern, at) {
			return true
		}
	}
	return false
}

// patterns adds the hidden files that the program finds by patterns among its words: what
// no shell expands, or expands only where it finds something itself. A folder is taken as a
// whole only if the program also takes ignored files.
func (r *reader) patterns(p *possibility) {
	if !r.seesRepository() {
		return
	}
	command, kind, force := r.out.Command[1], cardea.Read, r.has([]string{"-f", "--force"})
	if Has(form.ChangesPathspecs, r.out.Command...) {
		kind, force = cardea.Unknown, false // of what it tracks
	} else if !slices.Contains(r.words(form.ReadsPathspecs), command) {
		return
	}
	top := r.topLevel()
	specs, except := r.pathspecs(r.argv[r.behindCommand():], top, force)
	p.found.TooMany = p.found.TooMany || force && r.has(r.words(form.ListsOperandsWith))
	if len(specs) == 0 {
		return
	}
	all := r.matching(p, kind, top, specs, except, func(file string) bool { return !strings.Contains(file+"/", "/.git/") })
	p.found.TooMany = p.found.TooMany || force && !all
}

// matching adds the files below a folder that pathspecs match and that are wanted, and
// reports whether all were seen.
func (r *reader) matching(p *possibility, kind cardea.AccessKind, top string, specs, except []pathspec, wanted func(string) bool) bool {
	found, all := hiddenBelow(top, false, r.paths.Dir, r.world, func(file string) bool {
		named := func(s pathspec) bool { return s.matches(file) }
		return wanted(file) && slices.ContainsFunc(specs, named) && !slices.ContainsFunc(except, named)
	})
	for _, file := range found {
		p.touch(kind, file)
	}
	return all
}

// seesRepository reports a command of a program whose folder can be looked into.
func (r *reader) seesRepository() bool {
	return len(r.out.Command) > 1 && r.paths.Dir != "" && r.world != nil && r.world.Names != nil
}

// behindCommand returns the index of the word after the first subcommand.
func (r *reader) behindCommand() int {
	return 1 + slices.IndexFunc(r.argv, func(f Word) bool { return f.Text == r.out.Command[1] })
}

// topLevel is the top of the repository around the folder of the command, else that folder.
func (r *reader) topLevel() string {
	if r.world.TopLevel == nil {
		return r.paths.Dir
	}
	return cmp.Or(r.world.TopLevel(r.paths.Dir), r.paths.Dir)
}

// pathspecs are the patterns among words, and those for what they leave out. Without
// folders, what names a folder as a whole is left out.
func (r *reader) pathspecs(words []Word, top string, folders bool) (specs, except []pathspec) {
	for _, f := range words {
		_, text, valued := strings.Cut(f.Text, "=")
		if !valued || !strings.HasPrefix(f.Text, "-") {
			text = f.Text
		}
		s, pattern, fromTop := readPathspec(text)
		pattern = cmp.Or(pattern, ".")
		if s.pattern = Absolute(r.paths.Dir, pattern); fromTop {
			s.pattern = Absolute(top, pattern)
		}
		switch whole := s.pattern == top || r.world.IsDir != nil && r.world.IsDir(s.pattern); {
		case !f.Static && !(f.Glob && simpleGlob(text)):
		case s.except:
			except = append(except, s)
		case strings.HasPrefix(text, "-"), whole && !folders:
		case whole || s.fold || paths.IsPattern(text):
			specs = append(specs, s)
		}
	}
	if len(specs) == 0 && folders {
		switch {
		case r.has([]string{"-A", "--all"}):
			specs = append(specs, pathspec{pattern: top})
		case len(except) > 0:
			specs = append(specs, pathspec{pattern: r.paths.Dir})
		}
	}
	return specs, except
}
