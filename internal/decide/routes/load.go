package routes

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
)

// Source is a file of routes.
type Source struct {
	File string
	// Scope is project for the project's own file and for plugins inside of it, user for
	// all other plugins.
	Scope cardea.Scope
	// Root is the folder that must contain the further files that it names.
	Root string
}

// Find returns the existing files of routes, sorted: the project's
// .claude/tool-routes.yaml, and hooks/tool-routes.yaml and .claude-plugin/routes.json of
// each plugin. own is the plugin that Cardea runs in (CLAUDE_PLUGIN_ROOT), or "". As the
// original does, Find adds the hooks/tool-routes.yaml of its siblings. Each path is listed
// once.
func Find(pluginRoots []string, project, own string) []Source {
	var out []Source
	add := func(root string, rel ...string) {
		file := filepath.Join(append([]string{root}, rel...)...)
		if _, err := os.Lstat(file); err != nil {
			return
		}
		scope := cardea.ScopeUser
		if project != "" && paths.Within(paths.Real(project), paths.Real(file)) {
			scope = cardea.ScopeProject
		}
		out = append(out, Source{File: file, Scope: scope, Root: root})
	}
	if project != "" {
		add(project, ".claude", "tool-routes.yaml")
	}
	roots := slices.Clone(pluginRoots)
	if own != "" {
		roots = append(roots, own)
		siblings, _ := filepath.Glob(filepath.Join(literal(filepath.Dir(filepath.Clean(own))), "*", "hooks", "tool-routes.yaml"))
		roots = append(roots, lists.Of(siblings, func(f string) string { return filepath.Dir(filepath.Dir(f)) })...)
	}
	for _, root := range roots {
		add(root, "hooks", "tool-routes.yaml")
		add(root, ".claude-plugin", "routes.json")
	}
	slices.SortFunc(out, func(a, b Source) int { return strings.Compare(a.File, b.File) })
	return slices.CompactFunc(out, func(a, b Source) bool { return a.File == b.File })
}

// literal escapes the characters that filepath.Glob reads as a pattern.
func literal(dir string) string {
	if filepath.Separator == '\\' {
		return dir
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// Load reads files of routes, in order, and the further files that they name. trusted
// reports whether the person accepted a project file with this content; nil accepts none.
// tool is [Origin.Tool]. If exact is set, Load drops and reports every pattern that cannot
// run. That takes milliseconds; otherwise the first matching call finds it. Files without
// any route are also reported.
func Load(sources []Source, trusted func(path string, data []byte) bool, tool func(string) (string, bool), open Opener, exact bool) ([]Route, []diagnostic.Diagnostic) {
	l := loader{trusted: trusted, tool: tool, open: open, read: map[string]bool{}}
	for _, s := range sources {
		l.file(s, s.File, diagnostic.Diagnostic{File: s.File}, true)
	}
	if exact {
		l.routes = slices.DeleteFunc(l.routes, l.cannotRun)
	}
	l.duplicates()
	if len(sources) > 0 && len(l.routes) == 0 {
		l.problems = append(l.problems, diagnostic.Diagnostic{File: sources[0].File, Severity: diagnostic.LevelWarning, Code: diagnostic.CodeNoEffect,
			Text: fmt.Sprintf("no routes were loaded although there are files of routes (%d)", len(sources)),
			Hint: "mend the problems above, or remove the files"})
	}
	return l.routes, l.problems
}

// Opener reads the text of a file as [document.Read] does.
type Opener func(file string, data []byte) *document.Reader

type loader struct {
	trusted  func(path string, data []byte) bool
	tool     func(string) (string, bool)
	open     Opener
	read     map[string]bool
	routes   []Route
	problems []diagnostic.Diagnostic
}

func (l *loader) problem(at diagnostic.Diagnostic, hint, format string, args ...any) {
	at.Code, at.Text, at.Hint = diagnostic.CodeUnreadable, fmt.Sprintf(format, args...), hint
	l.problems = append(l.problems, at)
}

// file reads one file, and the further files that it names if mayName is set.
func (l *loader) file(s Source, name string, at diagnostic.Diagnostic, mayName bool) {
	if l.read[name] {
		return
	}
	l.read[name] = true
	data, err := readFile(name)
	if err != nil {
		l.problem(at, "check that the file is there and can be read", "%v", err)
		return
	}
	trusted := s.Scope == cardea.ScopeProject && l.trusted != nil && l.trusted(name, data)
	list, files, problems := read(name, l.open(name, data), Origin{Scope: s.Scope, Trusted: trusted, Tool: l.tool})
	l.routes = append(l.routes, list...)
	l.problems = append(l.problems, problems...)
	for _, f := range files {
		at := diagnostic.Diagnostic{File: name}
		full := filepath.Join(s.Root, filepath.FromSlash(f))
		switch {
		case !mayName:
			l.problem(at, "write routes: as a map", "a file that another one names cannot name further files: %q", f)
		case !filepath.IsLocal(filepath.FromSlash(f)) || !paths.Within(paths.Real(s.Root), paths.Real(full)):
			l.problem(at, "name files inside of the plugin's folder", "%q lies outside of the plugin", f)
		default:
			l.file(s, full, at, false)
		}
	}
}

// cannotRun reports whether a route's pattern has no form without lookaround, and records
// the problem.
func (l *loader) cannotRun(r Route) bool {
	_, err := r.Expression()
	if err != nil {
		file, line := diagnostic.SplitSource(r.Source)
		l.problems = append(l.problems, diagnostic.Diagnostic{File: file, Line: line, Code: diagnostic.CodeBadPattern,
			Text: fmt.Sprintf("the pattern of route %q cannot be run: %v", r.Name, err), Hint: hint(err)})
	}
	return err != nil
}

// readFile reads a file of at most document.MaxSize bytes. It refuses a device or pipe,
// which could block the hook.
func readFile(name string) ([]byte, error) {
	data, err := state.ReadLinked(name, document.MaxSize)
	if err != nil {
		return nil, fmt.Errorf("read routes: %w", err)
	}
	return data, nil
}

// duplicates reports names that occur twice. Both routes stay.
func (l *loader) duplicates() {
	first := map[string]string{}
	for _, r := range l.routes {
		if at, ok := first[r.Name]; ok {
			l.problems = append(l.problems, diagnostic.Diagnostic{File: r.Source, Severity: diagnostic.LevelWarning, Code: diagnostic.CodeDuplicate,
				Text: fmt.Sprintf("route %q is also in %s; both stay in force", r.Name, at), Hint: "rename one of them"})
			continue
		}
		first[r.Name] = r.Source
	}
}
