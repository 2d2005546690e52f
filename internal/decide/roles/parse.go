package roles

import (
	"fmt"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/command/pathglob"
)

// Read reads a roles.yaml. If one of the diagnostics is an error, the caller must ignore
// the file.
//
// known are the categories of other files, which this file may use.
func Read(path string, scope cardea.Scope, doc *document.Reader, known ...Category) (Source, []diagnostic.Diagnostic) {
	doc.KeysIn("docs/roles.md")
	doc.Hints(keysOfOthers)
	p := parser{path: path, source: Source{Scope: scope}, known: known}
	top := doc.Top().Map()
	if v := top.Get("version"); v.Present() {
		v.Int(1, 1)
	}
	categories := top.Map("categories")
	for _, name := range categories.Keys() {
		p.category(name, categories.Get(name))
	}
	list := top.Map("roles")
	for _, name := range list.Keys() {
		p.role(name, list.Get(name))
	}
	top.Only()
	return p.source, doc.Problems()
}

// keysOfOthers returns hints for keys that people often put in the wrong place.
func keysOfOthers() map[string]string {
	return map[string]string{
		"allow_write": "write paths: {allow_write: […]}", "deny_write": "write paths: {deny_write: […]}",
		"allow_read": "write paths: {allow_read: […]}", "deny_read": "write paths: {deny_read: […]}",
		"sensitive_paths": "write sensitive: {ask_write: […]} in cardea.yaml",
	}
}

type parser struct {
	path   string
	source Source
	known  []Category
}

// category reads the category with a name and adds it to the source.
func (p *parser) category(name string, v document.Value) {
	c := Category{Name: name, Line: v.KeyLine()}
	if !IsName(name) {
		v.ReportKey(diagnostic.CodeBadValue, nameHint, "%q is no name of a category", name)
	}
	for _, e := range v.Items() {
		text := e.Text()
		if _, is := categoryName(text); is {
			e.Problem(diagnostic.CodeBadPattern, "write its globs", "a category cannot hold another one: %q", text)
			continue
		}
		p.checkGlob(e, text)
		c.Globs = append(c.Globs, text)
	}
	p.source.Categories = append(p.source.Categories, c)
}

// role reads the role with a name and adds it to the source.
func (p *parser) role(name string, v document.Value) {
	r := Role{Name: name, Scope: p.source.Scope, Source: fmt.Sprintf("%s:%d", p.path, v.KeyLine())}
	if !IsName(name) {
		v.ReportKey(diagnostic.CodeBadValue, nameHint, "%q is no name of a role", name)
	}
	m := v.Map()
	r.Description = strings.TrimSpace(m.Text("description"))
	if g := m.Get("group"); g.Present() {
		r.Group = g.Word(Groups()...)
	}
	paths := m.Map("paths")
	for _, list := range []struct {
		key string
		to  *[]Glob
	}{{"allow_write", &r.Paths.AllowWrite}, {"deny_write", &r.Paths.DenyWrite}, {"allow_read", &r.Paths.AllowRead}, {"deny_read", &r.Paths.DenyRead}} {
		*list.to = p.globs(paths.Get(list.key))
	}
	paths.Only()
	m.Only()
	p.source.Roles = append(p.source.Roles, r)
}

// Groups returns the groups of the built-in roles, in the order of listing.
func Groups() []string { return []string{"implementation", "knowledge", "full-access"} }

// globs reads a list of globs and names of categories.
func (p *parser) globs(v document.Value) []Glob {
	var out []Glob
	for _, e := range v.Items() {
		text := e.Text()
		switch name, is := categoryName(text); {
		case is && !slices.Contains(p.categories(), name):
			e.Problem(diagnostic.CodeUnknownName, p.categoryHint(name), "there is no category %q", name)
		case !is:
			p.checkGlob(e, text)
		}
		out = append(out, Glob{Text: text, Line: e.Line()})
	}
	return out
}

func (p *parser) checkGlob(at document.Value, text string) {
	if text == "" {
		at.Problem(diagnostic.CodeMissing, "give it a value or remove it", "an empty glob names nothing")
		return
	}
	pathglob.Check(at, text)
}

// categories returns the names of categories that a role may use.
func (p *parser) categories() (names []string) {
	return lists.Of(slices.Concat(p.source.Categories, p.known), func(c Category) string { return c.Name })
}

func (p *parser) categoryHint(name string) string {
	names := p.categories()
	if near := document.Nearest(name, names); near != "" {
		return "did you mean {{" + near + "}}?"
	}
	return "define it under categories, or use one of " + strings.Join(names, ", ")
}

const nameHint = "use lower-case letters, digits and -, at most 40"

// IsName reports whether a text can be the name of a role or category. Messages for the
// model contain names, so a name cannot hold a sentence.
func IsName(s string) bool {
	return s != "" && len(s) <= 40 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
