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

// pathspec is a file pattern that a program expands itself (gitglossary(7), pathspec).
type pathspec struct {
	// pattern is absolute. It also selects all files below a folder that it matches.
	pattern              string
	except, fold, verbal bool
}

// readPathspec reads the magic of a pathspec. rest is its pattern as written. fromTop is
// set if the pattern begins at the top of the repository.
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

// matches reports whether the pathspec selects a file, or a folder above it.
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

// patterns adds the hidden files that the program finds by patterns in its words, which
// no shell expands, or only if it finds a match. A folder is selected as a whole only if
// the program also takes ignored files.
func (r *reader) patterns(p *possibility) {
	if !r.seesRepository() {
		return
	}
	command, kind, force := r.out.Command[1], cardea.Read, r.has([]string{"-f", "--force"})
	if Has(form.ChangesPathspecs, r.out.Command...) {
		kind, force = cardea.Unknown, false // of tracked files
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

// matching adds the wanted files below a folder that pathspecs match, and reports
// whether it saw all.
func (r *reader) matching(p *possibility, kind cardea.AccessKind, top string, specs, except []pathspec, wanted func(string) bool) bool {
	found, all := hiddenBelow(top, false, r.paths.Dir, r.system, func(file string) bool {
		named := func(s pathspec) bool { return s.matches(file) }
		return wanted(file) && slices.ContainsFunc(specs, named) && !slices.ContainsFunc(except, named)
	})
	for _, file := range found {
		p.touch(kind, file)
	}
	return all
}

// seesRepository reports whether the command has a subcommand and a folder that can be read.
func (r *reader) seesRepository() bool {
	return len(r.out.Command) > 1 && r.paths.Dir != "" && r.system != nil && r.system.Names != nil
}

// behindCommand returns the index of the word after the first subcommand.
func (r *reader) behindCommand() int {
	return 1 + slices.IndexFunc(r.argv, func(f Word) bool { return f.Text == r.out.Command[1] })
}

// topLevel returns the top of the surrounding repository of the command's folder, else
// that folder.
func (r *reader) topLevel() string {
	if r.system.TopLevel == nil {
		return r.paths.Dir
	}
	return cmp.Or(r.system.TopLevel(r.paths.Dir), r.paths.Dir)
}

// pathspecs returns the patterns among words, and those that exclude files. If folders
// is not set, a word that names a whole folder is skipped.
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
		switch whole := s.pattern == top || r.system.IsDir != nil && r.system.IsDir(s.pattern); {
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
