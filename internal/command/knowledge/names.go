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

// Names are names that a part may print, or patterns that they match: of hidden files, of
// what lies in hidden folders, and of programs. Nil for a part that prints no names.
func Names(p *cardea.Part, world *World) []string {
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
		if world.Names == nil {
			return nil
		}
		return searchedNames(p, world)
	case matches && HasOption(p, names...):
		for _, a := range p.Access {
			if a.MetadataOnly { // it may be a revision, and is no folder that is read
				out = append(out, a.Path)
			} else if a.Kind == cardea.Read && !a.Glob && a.Path != "" {
				out = append(out, a.Path, strings.TrimSuffix(a.Path, "/")+"/*")
			} else if a.Kind == cardea.Read {
				out = append(out, a.Pattern)
			}
		}
	default:
		out = listedNames(p, world)
	}
	if lists {
		out = append(out, "*")
	}
	if lists && HasOption(p, hidden...) && len(p.Operands) == 0 && world.Names != nil {
		all, _ := world.Names(p.Dir)
		out = append(out, slices.DeleteFunc(slices.Clone(all), func(name string) bool { return name[0] != '.' })...)
	}
	return out
}

// listedNames are the files whose names and attributes a part shows: its operands, and not
// what is in them.
func listedNames(p *cardea.Part, world *World) []string {
	var out []string
	for _, a := range p.Access {
		if a.Kind != cardea.Read || !a.MetadataOnly || a.Redirect {
			continue
		}
		for _, name := range []string{a.Path, a.Spelled, a.Pattern} {
			if name != "" && name != p.Dir && (a.Glob && name == a.Pattern || !a.Glob && (world.IsDir == nil || !world.IsDir(name))) {
				out = append(out, name)
			}
		}
	}
	return out
}

// A search looks into so many folders, so deep, and finds so many files.
const (
	mostFolders  = 512
	deepestFound = 3
	mostFound    = 512
)

// hiddenBelow are the files with wanted names that a search of a folder finds now: hidden
// ones, and all that lies in hidden folders. Where inside is set, the folder is itself a
// hidden one. Those of the home folder and of the folder of the work are among them. It
// reports false where it has not seen them all.
func hiddenBelow(top string, inside bool, dir string, world *World, wanted func(file string) bool) (out []string, all bool) {
	type folder struct {
		path   string
		inside bool
		depth  int
	}
	queue := []folder{{top, inside, 0}}
	for _, other := range []string{world.Home, dir} {
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
		list, ok := world.Names(at.path)
		all = all && ok
		for _, name := range list {
			hidden := at.inside || strings.HasPrefix(name, ".")
			file := path.Join(at.path, name)
			if (hidden || at.depth == 0) && wanted(file) {
				out = append(out, file)
			}
			if hidden && at.depth < deepestFound && name != "objects" && (world.IsDir == nil || world.IsDir(file)) {
				queue = append(queue, folder{file, true, at.depth + 1})
			}
		}
	}
	return out, all
}

// searchedNames are the hidden files that a search finds now by their names, and all that
// lies in a hidden folder which it searches.
func searchedNames(p *cardea.Part, world *World) []string {
	at := Paths{Dir: p.Dir, Home: world.Home}
	sought := soughtNames(p)
	var out []string
	for _, a := range p.Access {
		if a.Kind != cardea.Read || a.Path == "" || !a.Recursive {
			continue
		}
		hidden := at.SaysHidden(a.Path, world.Roots)
		if len(sought) == 0 && !hidden {
			continue // nothing is named
		}
		if len(sought) == 0 {
			out = append(out, strings.TrimSuffix(a.Path, "/")+"/*")
		}
		found, _ := hiddenBelow(a.Path, hidden, p.Dir, world, func(file string) bool {
			return len(sought) == 0 || slices.ContainsFunc(sought, func(s *regexp.Regexp) bool { return s.MatchString(file) })
		})
		out = append(out, found...)
	}
	return out
}

// soughtNames are the names and paths that a search is about, as its words say it. A
// pattern that says an ending alone says no name.
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
	pruned := 0 // what stands in front of it is left out
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

// deep reports a search below folders.
func (s *Search) deep() bool {
	return slices.ContainsFunc(s.Places, func(a cardea.Access) bool { return a.Recursive || strings.Contains(a.Pattern, "/**/") })
}

// wild is a pattern of names as a regular expression.
func wild(pattern string) string {
	return strings.NewReplacer(`\*`, ".*", `\?`, ".", `\[`, "[", `\]`, "]").Replace(regexp.QuoteMeta(pattern))
}
