package rego

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/decide/policy/engine"
)

// Types that all engines share.
type (
	// Facts are [engine.Facts].
	Facts = engine.Facts
	// Problems are [engine.Problems].
	Problems = engine.Problems
	// Query is [engine.Query].
	Query = engine.Query
	// Result is [engine.Result].
	Result = engine.Result
)

// Module is a parsed file of policies.
type Module struct {
	// Path is the file's name in messages.
	Path string
	// Facts are the facts for routing.
	Facts  Facts
	parsed *ast.Module
	text   string
	taken  bool // by a compilation
}

// Parse parses a file. An error is a [Problems].
func Parse(path string, src string) (*Module, error) {
	m, err := parseAs(path, src, true)
	if err != nil {
		return nil, err
	}
	m.read()
	if !strings.Contains(src, metadataCalls) {
		// Two files of one package may both have METADATA, which OPA does not accept.
		m.parsed.Annotations = nil
	}
	return m, nil
}

// reparse parses a file without its facts. It reads annotations only for policies that use
// their own.
func reparse(path, src string) (*Module, error) {
	return parseAs(path, src, strings.Contains(src, metadataCalls))
}

// parseAs parses a file, with its annotations or without.
func parseAs(path, src string, annotations bool) (*Module, error) {
	src = unmarked(src)
	m, err := ast.ParseModuleWithOpts(path, src, ast.ParserOptions{RegoVersion: ast.RegoV1, ProcessAnnotation: annotations})
	if err != nil {
		return nil, problemsOf(path, err)
	}
	return &Module{Path: path, parsed: m, text: src}, nil
}

// unmarked removes the byte order mark that some editors write. OPA does not see METADATA
// after it.
func unmarked(src string) string { return strings.TrimPrefix(src, "\uFEFF") }

// blank reports whether a file is empty or has only comments.
func blank(path, src string) bool {
	statements, _, err := ast.ParseStatementsWithOpts(path, unmarked(src), ast.ParserOptions{RegoVersion: ast.RegoV1})
	return err == nil && len(statements) == 0
}

// metadataCalls is a text that all policies contain which read their own METADATA.
const metadataCalls = "rego.metadata."

// Head returns the facts of a file that does not parse, from its text up to the package. If
// there is no routing, it also reads the first METADATA after the package. It reports false
// if even that is not readable.
func Head(path, src string) (Facts, bool) {
	lines := strings.SplitAfter(unmarked(src), "\n")
	at := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "package ") })
	m, err := Parse(path, strings.Join(lines[:at+1], ""))
	if err != nil {
		return Facts{}, false
	}
	behind := lines[at+1:]
	from := slices.IndexFunc(behind, func(line string) bool { return strings.TrimSpace(line) == "# METADATA" })
	if m.Facts.Routed || from < 0 {
		return m.Facts, true
	}
	block := strings.TrimRight(lines[at], "\r\n") + "\n"
	for _, line := range behind[from:] {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "#") {
			break
		}
		if !strings.HasPrefix(line, "# scope:") { // this line may be the mistake
			block += line + "\n"
		}
	}
	if routed, err := Parse(path, block+"x := 1\n"); err == nil && routed.Facts.Routed {
		f := routed.Facts
		m.Facts.Routed, m.Facts.Events, m.Facts.Tools, m.Facts.Signals = true, f.Events, f.Tools, f.Signals
	}
	return m.Facts, true
}

// read reads the facts from the parsed file.
func (m *Module) read() {
	f := &m.Facts
	f.Package = dotted(m.parsed.Package.Path[1:])
	if at := m.parsed.Package.Location; at != nil {
		f.Line = at.Row
	}
	for _, a := range m.parsed.Annotations {
		if a.Scope == "package" {
			m.annotate(a)
		}
	}
	// Without routing before the package, the first routing after it applies to the file,
	// as in Cupcake.
	for _, a := range m.parsed.Annotations {
		switch _, has := a.Custom["routing"]; {
		case a.Scope == "package" || !has:
		case !f.Routed:
			m.route(a)
		default:
			m.mistake(a.Location, engine.CodeMetadata, "a file has one routing, so that in this METADATA of scope %s is not read: move the rule to a file of its own", a.Scope)
		}
	}
	verbs := engine.Verbs()
	for _, r := range m.parsed.Rules {
		if name := headName(r); slices.Contains(verbs, name) {
			if f.VerbLine == 0 && r.Location != nil {
				f.VerbLine = r.Location.Row
			}
			if !slices.Contains(f.Verbs, name) {
				f.Verbs = append(f.Verbs, name)
			}
		}
	}
	f.Refs = refsOf(m.parsed)
}

func (m *Module) mistake(at *ast.Location, code diagnostic.Code, format string, args ...any) {
	p := diagnostic.Diagnostic{File: m.Path, Line: 1, Column: 1, Code: code, Text: fmt.Sprintf(format, args...)}
	if at != nil {
		p.Line, p.Column = at.Row, at.Col
	}
	m.Facts.Mistakes = append(m.Facts.Mistakes, p)
}

// annotate reads the METADATA of the package.
func (m *Module) annotate(a *ast.Annotations) {
	f := &m.Facts
	f.Title, f.Description = a.Title, a.Description
	f.Authors = append(f.Authors, lists.Of(a.Authors, func(who *ast.AuthorAnnotation) string { return strings.TrimSpace(who.String()) })...)
	if _, has := a.Custom["routing"]; !has {
		for _, key := range slices.Sorted(maps.Keys(a.Custom)) {
			if document.NearestName(key, []string{"routing"}) != "" {
				m.mistake(a.Location, diagnostic.CodeUnknownKey, "custom has %q, which is not read; write \"routing\"", key)
			}
		}
		return
	}
	m.route(a)
}

// route reads the routing of a METADATA.
func (m *Module) route(a *ast.Annotations) {
	f := &m.Facts
	routing, ok := a.Custom["routing"].(map[string]any)
	if !ok {
		m.mistake(a.Location, diagnostic.CodeWrongType, "routing is no map; write required_events and required_tools below it")
		return
	}
	f.Routed = true
	lists := map[string]*[]string{"required_events": &f.Events, "required_tools": &f.Tools, "required_signals": &f.Signals}
	for _, key := range slices.Sorted(maps.Keys(routing)) {
		value := routing[key]
		list, known := lists[key]
		if !known {
			hint := "there are required_events, required_tools and required_signals"
			if name := document.NearestName(key, slices.Collect(maps.Keys(lists))); name != "" {
				hint = fmt.Sprintf("write %q", name)
			}
			m.mistake(a.Location, diagnostic.CodeUnknownKey, "routing has no key %q; %s", key, hint)
			continue
		}
		words, ok := texts(value)
		if !ok {
			m.mistake(a.Location, diagnostic.CodeWrongType, "%s is no list of names", key)
			// The intended routing is unknown, so the policy is routed as widely as
			// possible.
			words = []string{"*"}
		}
		*list = words
	}
}

// texts reads a list of strings, or one string.
func texts(v any) ([]string, bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case string:
		return []string{v}, true
	case []any:
		var out []string
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, false
			}
			out = append(out, s)
		}
		return out, true
	}
	return nil, false
}

// headName returns the name of a rule, which is its first word.
func headName(r *ast.Rule) string {
	ref := r.Head.Ref()
	if len(ref) == 0 {
		return ""
	}
	switch v := ref[0].Value.(type) {
	case ast.Var:
		return string(v)
	case ast.String:
		return string(v)
	}
	return ""
}

// dotted joins the constant words at the start of a reference.
func dotted(ref ast.Ref) string {
	var b strings.Builder
	for _, t := range ref {
		s, ok := t.Value.(ast.String)
		if !ok {
			break
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(string(s))
	}
	return b.String()
}

// refsOf returns the paths below data that a module refers to, without its own package.
// Aliases need no resolving, since the import names the path.
func refsOf(m *ast.Module) []string {
	seen := map[string]bool{}
	var out []string
	look := func(r ast.Ref) bool {
		if r.HasPrefix(ast.DefaultRootRef) {
			if p := dotted(r[1:]); !seen[p] {
				seen[p] = true
				out = append(out, p)
			}
		}
		return false
	}
	for _, i := range m.Imports {
		ast.WalkRefs(i, look)
	}
	for _, r := range m.Rules {
		ast.WalkRefs(r, look)
	}
	slices.Sort(out)
	return out
}

// problemsOf returns the mistakes in an error of OPA.
func problemsOf(path string, err error) Problems {
	errs, ok := err.(ast.Errors)
	if !ok {
		if one, is := err.(*ast.Error); is {
			errs = ast.Errors{one}
		} else {
			return Problems{{File: path, Text: oneLine(err.Error())}}
		}
	}
	var out Problems
	for _, e := range errs {
		p := diagnostic.Diagnostic{File: path, Text: oneLine(e.Message)}
		if e.Location != nil {
			p.File, p.Line, p.Column = cmp.Or(e.Location.File, path), e.Location.Row, e.Location.Col
		}
		if hint := hintOf(p.Text); hint != "" {
			p.Text += "; " + hint
		}
		out = append(out, p)
	}
	return out
}

// oneLine returns a message of OPA without the excerpt of the source.
func oneLine(s string) string {
	first, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(strings.TrimPrefix(first, "1 error occurred: "))
}

// hintOf returns what to do about a message of OPA, or "".
func hintOf(text string) string {
	if name, found := strings.CutPrefix(text, "undefined function "); found {
		if slices.Contains(refused(), name) {
			return "policies may not use it unless the settings of system or organisation name it under policies.functions"
		}
		return "look for a typing error, or define it"
	}
	if strings.HasPrefix(text, "annotation scope ") {
		return "write \"# scope: package\" in front of the package, or \"# scope: rule\" in front of a rule"
	}
	if strings.HasPrefix(text, "conflicting rule for data path ") {
		return "a data document defines it, too: remove one of the two"
	}
	return ""
}
