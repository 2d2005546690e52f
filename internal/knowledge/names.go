package knowledge

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/knowledge/form"
	"cardea.dev/internal/paths"
)

// Names are names that a part may print, or patterns that they match: of hidden files, of
// what lies in hidden folders, and of programs. Nil for a part that prints no names.
func Names(p *cardea.Part, world *World) []string {
	names, matches := WordsOf(form.NamesMatchesWith, p.Program())
	_, lists := WordsOf(form.ListsHiddenWith, p.Program())
	var out []string
	switch {
	case Has(form.FindsPrograms, p.Program()):
		for _, w := range p.Argv[1:] {
			if w.Static && !strings.HasPrefix(w.Text, "-") {
				out = append(out, w.Text)
			}
		}
	case StartsOnFound(p.Program()) && world.Names != nil:
		return searchedNames(p, world)
	case lists, matches && HasOption(p, names...):
		for _, a := range p.Access {
			switch {
			case a.Kind != cardea.Read:
			case a.Glob:
				out = append(out, a.Pattern)
			case a.Path != "" && !lists:
				out = append(out, a.Path, strings.TrimSuffix(a.Path, "/")+"/*")
			}
		}
		if lists {
			out = append(out, "*")
		}
	}
	return out
}

// A search looks into so many folders, so deep.
const (
	mostFolders  = 64
	deepestFound = 3
)

// searchedNames are the hidden files that a search finds now by their names, and all that
// lies in a hidden folder which it searches.
func searchedNames(p *cardea.Part, world *World) []string {
	at := Paths{Dir: p.Dir, Home: world.Home}
	sought := soughtNames(p)
	var out []string
	folders := 0
	var look func(dir string, inside bool, depth int)
	look = func(dir string, inside bool, depth int) {
		if folders++; folders > mostFolders || depth > deepestFound {
			return
		}
		list, _ := world.Names(dir)
		for _, name := range list {
			file := path.Join(dir, name)
			if !inside && !strings.HasPrefix(name, ".") {
				continue
			}
			if len(sought) == 0 || slices.ContainsFunc(sought, func(s *regexp.Regexp) bool { return s.MatchString(file) }) {
				out = append(out, file)
			}
			if name != "objects" && (world.IsDir == nil || world.IsDir(file)) {
				look(file, true, depth+1)
			}
		}
	}
	for _, a := range p.Access {
		if a.Kind != cardea.Read || a.Path == "" || !a.Recursive {
			continue
		}
		hidden := at.saysHidden(a.Path, world.Roots)
		if len(sought) == 0 && !hidden {
			continue // nothing is named
		}
		look(a.Path, hidden, 0)
		for _, dir := range []string{world.Home, p.Dir} {
			if dir != "" && dir != a.Path && (a.Path == "/" || paths.Within(dir, a.Path)) {
				folders = 0
				look(dir, false, 0)
			}
		}
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
	if _, fd := WordsOf(form.FindsWith, p.Program()); fd {
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
		if o.Word < pruned || !o.Static || o.Value == "" || o.Word > 0 && slices.Contains([]string{"!", "-not"}, p.Argv[o.Word-1].Text) {
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
