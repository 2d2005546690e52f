package policy

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/decide/policy/rego"
	"cardea.dev/internal/document"
)

// Finding is a mistake in a policy.
type Finding struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Level   string `json:"level"` // "error" or "warning"
	Check   string `json:"check"`
	Message string `json:"message"`
}

// Listed is a policy, or a library, as its METADATA describes it.
type Listed struct {
	File        string       `json:"file"`
	Line        int          `json:"line"`
	Package     string       `json:"package"`
	Scope       cardea.Scope `json:"scope"`
	Title       string       `json:"title"`
	Description string       `json:"description,omitempty"`
	Authors     []string     `json:"authors"`
	Events      []string     `json:"required_events"`
	Tools       []string     `json:"required_tools"`
	Signals     []string     `json:"required_signals"`
	Verbs       []string     `json:"verbs"`
	// Library is set for a file that is not asked by itself.
	Library bool `json:"library"`
	// Trusted is false for a file of the project that the person did not accept.
	Trusted bool `json:"trusted"`
	// Broken is why it cannot be parsed.
	Broken string `json:"broken,omitempty"`
}

// List lists the files of a folder.
func (f Folder) List() ([]Listed, []document.Problem) {
	files, problem := f.files(0)
	var problems []document.Problem
	if problem != nil {
		problems = append(problems, *problem)
	}
	out := []Listed{}
	for _, at := range files {
		l := Listed{File: at.path, Scope: f.Scope, Broken: at.wrong}
		if at.wrong == "" {
			text, err := f.read(at.path)
			if err != nil {
				l.Broken = plain(err)
			}
			e, _ := parse(at, text)
			l.fill(e)
			l.Trusted = f.trusts(at.path, text)
		}
		out = append(out, l)
	}
	return out, problems
}

func (l *Listed) fill(e entry) {
	f := e.facts
	l.Line, l.Package, l.Title, l.Description, l.Broken = f.Line, f.Package, f.Title, f.Description, e.broken
	l.Authors, l.Events, l.Tools, l.Signals, l.Verbs = notNil(f.Authors), notNil(f.Events), notNil(f.Tools), notNil(f.Signals), notNil(f.Verbs)
	l.Library = !f.Policy() || !f.Routed
}

func notNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// Sources are files of policies that are looked at together, with their texts.
type Sources struct {
	// Paths are in order; Texts are by path.
	Paths []string
	Texts map[string]string
	// Extra are functions that they may use besides those that are pure.
	Extra []string
	// Tool gives the canonical name for a harness's word for a tool.
	Tool func(string) (string, bool)
	// Signals are the names of signals there are; nil where they are not known.
	Signals func(name string) bool
}

// Sources reads all files of a folder, tests included.
func (f Folder) Sources() (Sources, []Finding) {
	out := Sources{Texts: map[string]string{}, Extra: f.Extra}
	files, problem := f.walk(walk{folder: f, tests: true, seen: map[string]bool{}})
	var found []Finding
	if problem != nil {
		found = append(found, Finding{problem.File, 0, 0, "error", "folder", problem.Text})
	}
	for _, at := range files {
		text, err := "", error(nil)
		if at.wrong == "" {
			text, err = f.read(at.path)
		}
		if err != nil {
			at.wrong = plain(err)
		}
		if at.wrong != "" {
			found = append(found, Finding{at.path, 0, 0, "error", "file", at.wrong})
			continue
		}
		out.Paths = append(out.Paths, at.path)
		out.Texts[at.path] = text
	}
	return out, found
}

// modules parses sources.
func (s Sources) modules() (modules []*rego.Module, found []Finding) {
	for _, path := range s.Paths {
		m, err := rego.Parse(path, s.Texts[path])
		if err != nil {
			found = append(found, findings("parse", err)...)
			continue
		}
		modules = append(modules, m)
	}
	return modules, found
}

// findings are the mistakes in an error.
func findings(check string, err error) []Finding {
	problems, ok := err.(rego.Problems)
	if !ok {
		return []Finding{{Level: "error", Check: check, Message: err.Error()}}
	}
	var out []Finding
	for _, p := range problems {
		out = append(out, Finding{p.File, p.Line, p.Column, "error", check, p.Text})
	}
	return out
}

// Validate finds the mistakes in sources, in the order of files and lines.
func (s Sources) Validate() []Finding {
	modules, found := s.modules()
	_, broken := rego.Compile(modules, rego.Options{Extra: s.Extra})
	for _, problems := range broken {
		found = append(found, findings("compile", problems)...)
	}
	for _, m := range modules {
		for _, r := range m.Look() {
			level := "error"
			if r.Warning {
				level = "warning"
			}
			found = append(found, Finding{r.File, r.Line, r.Column, level, r.Rule, r.Text})
		}
		found = append(found, s.routing(m)...)
	}
	found = append(found, sharedPackages(modules)...)
	found = append(found, missing(modules)...)
	sort.SliceStable(found, func(i, j int) bool {
		if found[i].File != found[j].File {
			return found[i].File < found[j].File
		}
		return found[i].Line < found[j].Line
	})
	return slices.Compact(found)
}

// routing checks the words of METADATA, and whether verbs mean something on the
// events.
func (s Sources) routing(m *rego.Module) []Finding {
	f := &m.Facts
	var out []Finding
	say := func(level, check, format string, args ...any) {
		out = append(out, Finding{m.Path, f.Line, 1, level, check, fmt.Sprintf(format, args...)})
	}
	for _, e := range f.Events {
		if e == "*" {
			continue
		}
		if !slices.Contains(Events(), cardea.Kind(e)) {
			say("error", "event", "there is no event %q%s", e, near(e))
		}
		for _, verb := range f.Verbs {
			if use := Use(cardea.Kind(e), verb); !use.Valid && len(f.Events) == 1 {
				say("error", "verb", "%s means nothing on %s: %s", verb, e, use.Becomes)
			} else if !use.Valid {
				say("warning", "verb", "%s means nothing on %s: %s", verb, e, use.Becomes)
			}
		}
	}
	for _, t := range f.Tools {
		if _, known := s.Tool(t); !known && !strings.HasPrefix(t, "mcp__") && !strings.ContainsAny(t, "*?[") {
			say("warning", "tool", "no tool is known by the name %q", t)
		}
	}
	if len(f.Tools) > 0 && len(f.Events) > 0 && !slices.ContainsFunc(f.Events, aboutTools) {
		say("error", "tool", "none of the events is about a tool, so a policy with required_tools is never asked")
	}
	for _, name := range f.Signals {
		if s.Signals != nil && !s.Signals(name) {
			say("warning", "signal", "there is no signal %q: define it under signals in cardea.yaml, or put a script into signals/", name)
		}
	}
	return out
}

// aboutTools reports whether events of a kind are about a tool.
func aboutTools(e string) bool {
	return slices.Contains([]string{"*", string(cardea.PreToolUse), string(cardea.PermissionRequest), "PermissionDenied", "PostToolUse", "PostToolUseFailure"}, e)
}

// near is the event that somebody may have meant.
func near(word string) string {
	for _, k := range Events() {
		if strings.EqualFold(strings.NewReplacer("_", "", "-", "").Replace(word), string(k)) {
			return fmt.Sprintf("; write %q", k)
		}
	}
	return ""
}

// missing finds references to packages that are not there. What is undefined
// says nothing, so a policy that needs it would never decide.
func missing(modules []*rego.Module) []Finding {
	var out []Finding
	for _, m := range modules {
		for _, ref := range m.Facts.Refs {
			if !slices.ContainsFunc(modules, func(o *rego.Module) bool { return concerns(ref, o.Facts.Package) }) {
				out = append(out, Finding{m.Path, m.Facts.Line, 1, "error", "package", fmt.Sprintf("there is no package for data.%s in this scope, so it is always undefined", ref)})
			}
		}
	}
	return out
}

// sharedPackages finds packages whose files are routed differently: what one is
// routed to, all are.
func sharedPackages(modules []*rego.Module) []Finding {
	first := map[string]*rego.Module{}
	var out []Finding
	for _, m := range modules {
		if !m.Facts.Routed {
			continue
		}
		o, there := first[m.Facts.Package]
		if !there {
			first[m.Facts.Package] = m
			continue
		}
		if !slices.Equal(o.Facts.Events, m.Facts.Events) || !slices.Equal(o.Facts.Tools, m.Facts.Tools) {
			out = append(out, Finding{m.Path, m.Facts.Line, 1, "warning", "routing",
				fmt.Sprintf("package %s is routed differently in %s: its rules are one package, and are asked where either is routed", m.Facts.Package, o.Path)})
		}
	}
	return out
}

// Test runs the tests in sources.
func (s Sources) Test(ctx context.Context) (results []rego.TestResult, coverage []rego.Coverage, found []Finding) {
	modules, found := s.modules()
	results, coverage, broken := rego.Test(ctx, modules, s.Extra)
	for _, problems := range broken {
		found = append(found, findings("compile", problems)...)
	}
	return results, coverage, found
}
