// Package roles reads roles.yaml: which roles agents can have, and which paths each may
// read and write. It also merges the definitions of several scopes.
//
// A person defines a role for a kind of work, such as "coder". internal/decide/rolepaths
// applies it to calls.
package roles

import (
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/lists"
)

// Role is the definition of a role in one file.
type Role struct {
	// Name is the role's name, as used by people and settings.
	Name string
	// Group is the heading of the role in lists: "implementation", "knowledge" or
	// "full-access". It is "" for roles of files, which are listed as custom.
	Group string
	// Description describes in prose what the role is for.
	Description string
	// Paths are the paths that it may read and write.
	Paths Paths
	// Scope is the scope of the definition's file, Source its position ("file:line").
	Scope  cardea.Scope
	Source string
	// Trusted is set if all of the definition applies. Otherwise only its denials apply.
	Trusted bool
}

// Paths holds the globs of a role, each with its line. [Set.Of] expands categories
// ("{{tests}}").
type Paths struct{ AllowWrite, DenyWrite, AllowRead, DenyRead []Glob }

// Glob is one path glob of a role.
type Glob struct {
	// Text is the glob in the syntax of gitignore. Without a slash it is the name of a file
	// or folder at any depth, with one it is relative to the project. A glob outside the
	// project begins with "/" or "~/".
	Text string
	// Line is its line in the file, 0 for a built-in glob.
	Line int
	// Category is the category that contains it, or "".
	Category string
}

// Shown returns the glob for people, with its category.
func (g Glob) Shown() string {
	if g.Category == "" {
		return g.Text
	}
	return g.Text + " ({{" + g.Category + "}})"
}

// Texts returns the texts of globs.
func Texts(globs []Glob) []string {
	return append([]string{}, lists.Of(globs, func(g Glob) string { return g.Text })...)
}

// Source is the definitions of one scope: built-in ones, or those of a file.
type Source struct {
	Scope cardea.Scope
	// Trusted is set if all of it applies.
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

// Set is the merged definitions of several sources.
type Set struct{ sources []Source }

// NewSet merges sources, given from the strongest scope to the built-in one.
func NewSet(sources ...Source) Set { return Set{sources} }

// Names returns the names of all roles, those of built-in definitions first. A definition
// that is not trusted adds no role.
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

// Has reports whether there is a role with a name.
func (s Set) Has(name string) bool { return slices.Contains(s.Names(), name) }

// Of returns the definitions of a role that apply, strongest scope first, with categories
// expanded. A definition in a trusted file replaces the built-in one. A file that is not
// trusted contributes only denials.
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

// filled returns a definition with its categories expanded.
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

// expand replaces names of categories by their globs.
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

// category returns the category that a name means in a source. A trusted project can
// redefine a built-in category, but not those of system, organisation or person.
func (s Set) category(of Source, name string) (found Category, ok bool) {
	if !of.Trusted {
		if c, own := of.category(name); own {
			return c, true // it only adds denials
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

// categoryName returns the name in "{{name}}", and whether text has this form.
func categoryName(text string) (string, bool) {
	inner, ok := strings.CutPrefix(text, "{{")
	if !ok {
		return "", false
	}
	inner, ok = strings.CutSuffix(inner, "}}")
	return strings.TrimSpace(inner), ok
}
