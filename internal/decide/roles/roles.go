// Package roles reads roles.yaml: which roles agents can have, and which paths
// each may read and write. It also puts the definitions of several scopes together.
//
// A definition is a person's word about a kind of work, such as "coder". What it
// costs a call is the business of internal/decide/rolepaths.
package roles

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/lists"
)

// Role is one definition of a role, in one file.
type Role struct {
	// Name is the role's name, by which people and settings call it.
	Name string
	// Group is how roles are listed for people: "implementation", "knowledge",
	// "full-access", or "" for those of files, which are listed as custom ones.
	Group string
	// Description says in prose what the role is for.
	Description string
	// Paths are what it may read and write.
	Paths Paths
	// Scope is who wrote the definition, Source where it stands ("file:line").
	Scope  cardea.Scope
	Source string
	// Trusted is set where all of the definition counts. Of another one only what
	// it denies does.
	Trusted bool
}

// Paths are the globs of a role, each with the line in which it stands. Those of
// categories ("{{tests}}") are put in when definitions are put together.
type Paths struct{ AllowWrite, DenyWrite, AllowRead, DenyRead []Glob }

// Glob is one path glob of a role.
type Glob struct {
	// Text is the glob as gitignore means it: without a slash the name of a file or
	// folder at any depth, with one from the project's folder on. Outside of the
	// project it begins with "/" or "~/".
	Text string
	// Line is where it stands in the file, 0 for a built-in one.
	Line int
	// Category is the category that it comes from, or "".
	Category string
}

// Shown is the glob for people, with the category that it comes from.
func (g Glob) Shown() string {
	if g.Category == "" {
		return g.Text
	}
	return g.Text + " ({{" + g.Category + "}})"
}

// Texts are globs as their texts.
func Texts(globs []Glob) []string {
	return append([]string{}, lists.Of(globs, func(g Glob) string { return g.Text })...)
}

// Source is a set of definitions of one scope: the built-in ones, or a file's.
type Source struct {
	Scope cardea.Scope
	// Trusted is set where all of it counts.
	Trusted bool
	// Roles are its definitions, Categories its named lists of globs.
	Roles      []Role
	Categories []Category
}

// Category is a named list of globs, which roles use as "{{name}}".
type Category struct {
	Name  string
	Globs []string
	Line  int
}

// Set is what several sources add up to.
type Set struct{ sources []Source }

// NewSet puts sources together, strongest scope first, the built-in one last.
func NewSet(sources ...Source) Set { return Set{sources} }

// Names are the names of all roles, in the order of the built-in ones and then of the
// files. Definitions that are not trusted make no role.
func (s Set) Names() []string {
	var out []string
	for _, builtin := range []bool{true, false} {
		for _, src := range s.sources {
			for _, r := range src.Roles {
				if (src.Scope == cardea.ScopeBuiltin) == builtin && src.Trusted && !slices.Contains(out, r.Name) {
					out = append(out, r.Name)
				}
			}
		}
	}
	return out
}

// Has reports whether there is a role of a name.
func (s Set) Has(name string) bool { return slices.Contains(s.Names(), name) }

// Of are the definitions of a role that count, strongest scope first, with their
// categories put in. Where a trusted file defines the role, the built-in definition
// does not count: the file redefines it. Of files that are not trusted only the
// denials are left.
func (s Set) Of(name string) []Role {
	var out []Role
	redefined := false
	for _, src := range s.sources {
		for _, r := range src.Roles {
			if r.Name != name || src.Scope == cardea.ScopeBuiltin && redefined {
				continue
			}
			redefined = redefined || src.Trusted
			out = append(out, s.filled(src, r))
		}
	}
	return out
}

// filled is a definition with its categories put in.
func (s Set) filled(src Source, r Role) Role {
	r.Scope, r.Trusted = src.Scope, src.Trusted
	for _, list := range []*[]Glob{&r.Paths.AllowWrite, &r.Paths.DenyWrite, &r.Paths.AllowRead, &r.Paths.DenyRead} {
		*list = s.expand(src, *list)
	}
	if !src.Trusted {
		r.Description, r.Group = "", ""
		r.Paths.AllowWrite, r.Paths.AllowRead = nil, nil
	}
	return r
}

// expand puts categories in the place of their names.
func (s Set) expand(src Source, globs []Glob) []Glob {
	var out []Glob
	for _, g := range globs {
		name, is := categoryName(g.Text)
		if !is {
			out = append(out, g)
			continue
		}
		c, _ := s.category(src, name)
		out = append(out, lists.Of(c.Globs, func(text string) Glob { return Glob{Text: text, Line: g.Line, Category: name} })...)
	}
	return out
}

// category finds what a category means to the definitions of a source. A trusted
// project redefines what is built in, but loosens nothing that system, organisation
// or person say.
func (s Set) category(of Source, name string) (found Category, ok bool) {
	if !of.Trusted {
		if c, own := of.category(name); own {
			return c, true // it only denies
		}
	}
	best := -1
	for _, src := range s.sources {
		rank := 2
		switch src.Scope {
		case cardea.ScopeProject:
			rank = 1
		case cardea.ScopeBuiltin:
			rank = 0
		}
		if c, gives := src.category(name); gives && src.Trusted && rank > best {
			found, best = c, rank
		}
	}
	return found, best >= 0
}

func (s Source) category(name string) (Category, bool) {
	i := slices.IndexFunc(s.Categories, func(c Category) bool { return c.Name == name })
	if i < 0 {
		return Category{}, false
	}
	return s.Categories[i], true
}

// categoryName is the name in "{{name}}".
func categoryName(text string) (string, bool) {
	inner, ok := strings.CutPrefix(text, "{{")
	if !ok {
		return "", false
	}
	inner, ok = strings.CutSuffix(inner, "}}")
	return strings.TrimSpace(inner), ok
}
