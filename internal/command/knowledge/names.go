package knowledge

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge/form"
)

// Names returns names that a part may print, or patterns that they match: of hidden files, of
// files in hidden folders, and of programs. It returns nil for a part that prints no names.
func Names(p *cardea.Part, system *System) []string {
	names, matches := WordsOf(form.NamesMatchesWith, p.Command...)
	hidden, lists := WordsOf(form.ListsHiddenWith, p.Program())
	var out []string
	switch {
	case Has(form.FindsPrograms, p.Program()):
		for _, w := range p.Argv[1:] {
			if w.Static && !strings.HasPrefix(w.Text, "-") {
				out = append(out, w.Text)
			}
		}
	case StartsOnFound(p.Program()):
		if system.Names == nil {
			return nil
		}
		return searchedNames(p, system)
	case matches && HasOption(p, names...):
		for _, a := range p.Access {
			if a.MetadataOnly { // it may be a revision, and does not name a folder that is read
				out = append(out, a.Path)
			} else if a.Kind == cardea.Read && !a.Glob && a.Path != "" {
				out = append(out, a.Path, strings.TrimSuffix(a.Path, "/")+"/*")
			} else if a.Kind == cardea.Read {
				out = append(out, a.Pattern)
			}
		}
	default:
		out = listedNames(p, system)
	}
	if lists {
		out = append(out, "*")
	}
	if lists && HasOption(p, hidden...) && len(p.Operands) == 0 && system.Names != nil {
		all, _ := system.Names(p.Dir)
		out = append(out, slices.DeleteFunc(slices.Clone(all), func(name string) bool { return name[0] != '.' })...)
	}
	return out
}

// listedNames returns the files whose names and attributes a part shows: its operands,
// but not their contents.
func listedNames(p *cardea.Part, system *System) []string {
	var out []string
	for _, a := range p.Access {
		if a.Kind != cardea.Read || !a.MetadataOnly || a.Redirect {
			continue
		}
		for _, name := range []string{a.Path, a.Spelled, a.Pattern} {
			if name != "" && name != p.Dir && (a.Glob && name == a.Pattern || !a.Glob && (system.IsDir == nil || !system.IsDir(name))) {
				out = append(out, name)
			}
		}
	}
	return out
}

// The limits of a search: folders, depth and files found.
const (
	mostFolders  = 512
	deepestFound = 3
	mostFound    = 512
)

// hiddenBelow returns the files with wanted names that a search of a folder finds now:
// hidden files, and all files in hidden folders. inside is set if the folder itself is
// in a hidden one. Files of the home folder and of the working folder are included. It
// returns false if it has not seen all.
func hiddenBelow(top string, inside bool, dir string, system *System, wanted func(file string) bool) (out []string, all bool) {
	type folder struct {
		path   string
		inside bool
		depth  int
	}
	queue := []folder{{top, inside, 0}}
	for _, other := range []string{system.Home, dir} {
		if other != "" && other != top && paths.Within(top, other) {
			queue = append(queue, folder{other, false, 0})
		}
	}
	all = true
	for n := 0; n < len(queue); n++ {
		if n == mostFolders || len(out) > mostFound {
			return out, false
		}
		at := queue[n]
		list, ok := system.Names(at.path)
		all = all && ok
		for _, name := range list {
			hidden := at.inside || strings.HasPrefix(name, ".")
			file := path.Join(at.path, name)
			if (hidden || at.depth == 0) && wanted(file) {
				out = append(out, file)
			}
			if hidden && at.depth < deepestFound && name != "objects" && (system.IsDir == nil || system.IsDir(file)) {
				queue = append(queue, folder{file, true, at.depth + 1})
			}
		}
	}
	return out, all
}

// searchedNames returns the hidden files that a search finds now by their names, and all
// files in a hidden folder that it searches.
func searchedNames(p *cardea.Part, system *System) []string {
	at := Paths{Dir: p.Dir, Home: system.Home}
	sought := soughtNames(p)
	var out []string
	for _, a := range p.Access {
		if a.Kind != cardea.Read || a.Path == "" || !a.Recursive {
			continue
		}
		hidden := at.SaysHidden(a.Path, system.Roots)
		if len(sought) == 0 && !hidden {
			continue // no name is given
		}
		if len(sought) == 0 {
			out = append(out, strings.TrimSuffix(a.Path, "/")+"/*")
		}
		found, _ := hiddenBelow(a.Path, hidden, p.Dir, system, func(file string) bool {
			return len(sought) == 0 || slices.ContainsFunc(sought, func(s *regexp.Regexp) bool { return s.MatchString(file) })
		})
		out = append(out, found...)
	}
	return out
}

// soughtNames returns the names and paths for which the words of a search ask. A pattern
// with only an ending names nothing.
func soughtNames(p *cardea.Part) []*regexp.Regexp {
	var out []*regexp.Regexp
	add := func(begin, expression, end string) {
		if r, err := regexp.Compile(begin + expression + end); err == nil {
			out = append(out, r)
		}
	}
	if _, fd := WordsOf(form.FindsWith, p.Command...); fd {
		if len(p.Operands) == 0 || !HasOption(p, "-H", "--hidden", "-u", "--unrestricted") || strings.Trim(p.Argv[p.Operands[0]].Text, ".*^") == "" {
			return nil
		}
		word := p.Argv[p.Operands[0]].Text
		if HasOption(p, "-g", "--glob") {
			add("(?i)/", wild(word), "$")
		} else {
			add("(?i)/[^/]*", strings.ReplaceAll("("+strings.TrimPrefix(word, "^")+")", "$)", ")$"), "")
		}
		return out
	}
	pruned := 0 // the words before it are left out
	for i, word := range p.Argv {
		if word.Text == "-prune" {
			pruned = i
		}
	}
	for _, o := range p.Options {
		name := o.Name
		if o.Word < pruned || !o.Static && !FindsNoAction(o.Value) || o.Value == "" || o.Word > 0 && slices.Contains([]string{"!", "-not"}, p.Argv[o.Word-1].Text) {
			continue
		}
		begin := "/"
		if rest, ok := strings.CutPrefix(name, "-i"); ok {
			begin, name = "(?i)/", "-"+rest
		}
		switch name {
		case "-name":
			if !strings.HasPrefix(o.Value, "*.") && strings.Trim(o.Value, "*?.") != "" {
				add(begin, wild(o.Value), "$")
			}
		case "-path", "-wholename":
			if strings.Trim(o.Value, "*?./") != "" {
				add(strings.TrimSuffix(begin, "/"), "(.*/)?"+wild(strings.TrimPrefix(o.Value, "./")), "$")
			}
		case "-regex":
			add(strings.TrimSuffix(begin, "/"), "(.*/)?"+strings.TrimPrefix(o.Value, "./"), "$")
		}
	}
	return out
}

// deep reports whether the search goes below folders.
func (s *Search) deep() bool {
	return slices.ContainsFunc(s.Places, func(a cardea.Access) bool { return a.Recursive || strings.Contains(a.Pattern, "/**/") })
}

// wild returns a pattern of names as a regular expression.
func wild(pattern string) string {
	return strings.NewReplacer(`\*`, ".*", `\?`, ".", `\[`, "[", `\]`, "]").Replace(regexp.QuoteMeta(pattern))
}
