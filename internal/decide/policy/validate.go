package policy

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/decide/policy/engine"
)

// Listed is the description of a policy or library by its METADATA.
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
	// Data are the paths below data that a data document defines.
	Data []string `json:"data,omitempty"`
	// Library is set for a file that does not run by itself.
	Library bool `json:"library"`
	// Trusted is false for a file of the project that the person did not accept.
	Trusted bool `json:"trusted"`
	// Broken is the reason why it cannot be parsed, or "".
	Broken string `json:"broken,omitempty"`
}

// List lists the files of a folder. The error is the engine's.
func (f Folder) List(e engine.Engine) ([]Listed, []diagnostic.Diagnostic, error) {
	files, problem := f.files(0)
	files = slices.DeleteFunc(files, func(at file) bool { return isTest(at.path) })
	var problems []diagnostic.Diagnostic
	if problem != nil {
		problems = append(problems, *problem)
	}
	out := []Listed{}
	var sources []engine.Source
	var at []int // the index of each source in out
	for _, file := range files {
		l := Listed{File: file.path, Scope: f.Scope, Broken: file.wrong}
		if file.wrong == "" {
			text, err := f.read(file.path)
			if err != nil {
				l.Broken = plain(err)
			}
			l.Trusted = f.trusts(file.path, text)
			sources, at = append(sources, f.source(file.path, text)), append(at, len(out))
		}
		out = append(out, l)
	}
	if len(sources) == 0 {
		return out, problems, nil
	}
	parsed, err := e.Parse(context.Background(), sources)
	for i, p := range parsed {
		l := &out[at[i]]
		l.fill(entryOf(file{path: l.File}, p))
	}
	if err != nil {
		for _, i := range at {
			out[i].Broken = cmp.Or(out[i].Broken, err.Error())
		}
	}
	return out, problems, err
}

func (l *Listed) fill(e entry) {
	f := e.facts
	l.Line, l.Package, l.Title, l.Description = f.Line, f.Package, f.Title, f.Description
	if l.Broken == "" && e.broken != nil {
		l.Broken = e.broken.String()
	}
	l.Authors, l.Events, l.Tools, l.Signals, l.Verbs = notNil(f.Authors), notNil(f.Events), notNil(f.Tools), notNil(f.Signals), notNil(f.Verbs)
	l.Data, l.Library = f.Data, f.Data == nil && (!f.Policy() || !f.Routed)
}

func notNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// Sources are files of policies that are checked together, with their texts.
type Sources struct {
	// Engine is the engine that checks them.
	Engine engine.Engine
	// Paths are in order; Texts are by path.
	Paths []string
	Texts map[string]string
	// Data holds the paths of data documents below data, by file path.
	Data map[string]string
	// Extra are functions that they may use in addition to the pure ones.
	Extra []string
	// Tool returns the canonical name of a harness's tool.
	Tool func(string) (string, bool)
	// Fields are the documented fields of the inputs of tools, by canonical name.
	Fields map[string][]string
	// Settings are input.cardea.settings, nil for any.
	Settings map[string]any
	// Signals reports whether there is a signal with a name. It is nil if the signals are
	// unknown.
	Signals func(name string) bool
}

// Sources reads all files of a folder, including tests.
func (f Folder) Sources() (Sources, []diagnostic.Diagnostic) {
	out := Sources{Texts: map[string]string{}, Data: map[string]string{}, Extra: f.Extra}
	var ignored []string
	files, problem := f.walk(walk{folder: f, seen: map[string]bool{}, ignored: &ignored})
	var found []diagnostic.Diagnostic
	for _, path := range ignored {
		why := "its name does not end in .rego"
		switch {
		case IsFile(filepath.Base(path)):
			why = "its name, or that of a folder above it, begins with a dot"
		case !strings.EqualFold(filepath.Ext(path), ".rego"):
			why = "data is read from files named data.json and data.yaml"
		}
		found = append(found, diagnostic.Diagnostic{Severity: diagnostic.LevelNote, File: path, Code: diagnostic.CodeIgnored, Text: "it is not read: " + why})
	}
	if problem != nil {
		found = append(found, diagnostic.Diagnostic{File: problem.File, Code: diagnostic.CodeUnreadable, Text: problem.Text})
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
			found = append(found, diagnostic.Diagnostic{File: at.path, Code: diagnostic.CodeUnreadable, Text: at.wrong})
			continue
		}
		out.Paths = append(out.Paths, at.path)
		out.Texts[at.path] = text
		if below := f.mount(at.path); below != "" {
			out.Data[at.path] = below
		}
	}
	return out, found
}

// files returns the sources in the form for the engine.
func (s Sources) files() []engine.Source {
	return lists.Of(s.Paths, func(path string) engine.Source {
		return engine.Source{Path: path, Text: s.Texts[path], Data: s.Data[path]}
	})
}

// module is a parsed source.
type module struct {
	engine.Source
	facts engine.Facts
}

// modules parses sources. It reports those with mistakes, except data documents: their
// paths are known, and compiling finds their mistakes.
func (s Sources) modules(ctx context.Context) (modules []module, found []diagnostic.Diagnostic, err error) {
	files := s.files()
	if len(files) == 0 {
		return nil, nil, nil
	}
	all, err := s.Engine.Parse(ctx, files)
	for i, p := range all {
		if len(p.Problems) > 0 && files[i].Data == "" {
			found = append(found, coded(engine.CodeParse, p.Problems)...)
			continue
		}
		if p.Facts.Package == "" && files[i].Data == "" {
			found = append(found, diagnostic.Diagnostic{Severity: diagnostic.LevelNote, File: files[i].Path, Line: 1, Column: 1, Code: engine.CodeEmpty, Text: "nothing is written in it, so it decides nothing"})
			continue
		}
		modules = append(modules, module{files[i], p.Facts})
	}
	return modules, found, err
}

func sourcesOf(modules []module) []engine.Source {
	return lists.Of(modules, func(m module) engine.Source { return m.Source })
}

// coded returns mistakes, with the given code if they have none.
func coded(code diagnostic.Code, problems engine.Problems) []diagnostic.Diagnostic {
	out := slices.Clone(problems)
	for i := range out {
		out[i].Code = cmp.Or(out[i].Code, code)
	}
	return out
}

// Validate returns the mistakes in sources, in the order of files and lines. The error is
// the engine's.
func (s Sources) Validate(ctx context.Context) ([]diagnostic.Diagnostic, error) {
	modules, found, err := s.modules(ctx)
	if err != nil || len(s.Paths) == 0 {
		return found, err
	}
	files := sourcesOf(modules)
	broken, err := s.Engine.Compile(files, engine.Options{Extra: s.Extra}).Broken(ctx)
	if err != nil {
		return found, err
	}
	for _, problems := range broken {
		found = append(found, coded(engine.CodeCompile, problems)...)
	}
	strict, err := s.strict(ctx, modules, broken)
	if err != nil {
		return found, err
	}
	found = append(found, strict...)
	remarks, err := s.Engine.Look(ctx, files)
	if err != nil {
		return found, err
	}
	found = append(found, remarks...)
	fields, err := s.fields(ctx, modules)
	if err != nil {
		return found, err
	}
	found = append(found, fields...)
	found = slices.Concat(found, slices.Concat(lists.Of(modules, s.routing)...), sharedPackages(modules), missing(modules))
	slices.SortStableFunc(found, func(a, b diagnostic.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return slices.Compact(found), nil
}

// NoFields returns the input fields that policies read and no event has. The error is the
// engine's.
func (s Sources) NoFields(ctx context.Context) ([]diagnostic.Diagnostic, error) {
	modules, _, err := s.modules(ctx)
	if err != nil || len(modules) == 0 {
		return nil, err
	}
	return s.fields(ctx, modules)
}

func (s Sources) fields(ctx context.Context, modules []module) ([]diagnostic.Diagnostic, error) {
	return s.Engine.Fields(ctx, sourcesOf(modules), engine.Options{Extra: s.Extra}, s.shapes(modules))
}

// strict returns what OPA's strict mode rejects in files that compile without it: unused
// imports, variables and arguments. They do not change decisions. Policies of Cupcake were
// written without strict mode, so they only get warnings.
func (s Sources) strict(ctx context.Context, modules []module, broken map[string]engine.Problems) ([]diagnostic.Diagnostic, error) {
	sound := slices.DeleteFunc(slices.Clone(modules), func(m module) bool { return broken[m.Path] != nil })
	rejected, err := s.Engine.Compile(sourcesOf(sound), engine.Options{Extra: s.Extra, Strict: true}).Broken(ctx)
	var out []diagnostic.Diagnostic
	for _, m := range sound {
		// A problem without a position would be repeated for every file.
		problems := slices.DeleteFunc(coded(engine.CodeStrict, rejected[m.Path]), func(d diagnostic.Diagnostic) bool { return d.File != m.Path })
		for i := range problems {
			problems[i].Text += " (OPA's strict mode)"
			if strings.HasPrefix(m.facts.Package, "cupcake.") {
				problems[i].Severity = diagnostic.LevelWarning
			}
		}
		out = append(out, problems...)
	}
	return out, err
}

// routing checks the names in METADATA, and whether verbs have a meaning on the events.
func (s Sources) routing(m module) []diagnostic.Diagnostic {
	f := &m.facts
	var out []diagnostic.Diagnostic
	say := func(severity diagnostic.Level, code diagnostic.Code, format string, args ...any) {
		out = append(out, diagnostic.Diagnostic{Severity: severity, File: m.Path, Line: f.Line, Column: 1, Code: code, Text: fmt.Sprintf(format, args...)})
	}
	if Misplaced(m.Path, f) {
		out = append(out, *misplaced(m.Path, f.Line))
	}
	for _, e := range f.Events {
		if e == "*" {
			continue
		}
		if !slices.Contains(Events(), cardea.Kind(e)) {
			say(diagnostic.LevelError, engine.CodeEvent, "there is no event %q%s", e, near(e))
		}
		for _, verb := range f.Verbs {
			use := Use(cardea.Kind(e), verb, "")
			switch {
			case use.Valid:
			case Use(cardea.Kind(e), verb, copilot).Valid:
				say(diagnostic.LevelWarning, engine.CodeVerb, "%s means nothing on %s, but in Copilot CLI: %s", verb, e, use.Becomes)
			case len(f.Events) == 1:
				say(diagnostic.LevelError, engine.CodeVerb, "%s means nothing on %s: %s", verb, e, use.Becomes)
			default:
				say(diagnostic.LevelWarning, engine.CodeVerb, "%s means nothing on %s: %s", verb, e, use.Becomes)
			}
		}
	}
	for _, t := range f.Tools {
		if _, known := s.Tool(t); !known && !strings.HasPrefix(t, "mcp__") && !strings.ContainsAny(t, "*?[") {
			say(diagnostic.LevelWarning, engine.CodeTool, "no tool is known by the name %q", t)
		}
	}
	if len(f.Tools) > 0 && len(f.Events) > 0 && !slices.ContainsFunc(f.Events, aboutTools) {
		say(diagnostic.LevelError, engine.CodeTool, "none of the events is about a tool, so a policy with required_tools is never asked")
	}
	for _, name := range f.Signals {
		if s.Signals != nil && !s.Signals(name) {
			say(diagnostic.LevelWarning, engine.CodeSignal, "there is no signal %q: define it under signals in cardea.yaml, or put a script into signals/", name)
		}
	}
	return out
}

// aboutTools reports whether events of a kind are about a tool.
func aboutTools(e string) bool {
	return slices.Contains([]string{"*", string(cardea.PreToolUse), string(cardea.PermissionRequest), string(cardea.PreSkillShellCommand), "PermissionDenied", "PostToolUse", "PostToolUseFailure"}, e)
}

// near returns a hint with the event that the author may have meant, or "".
func near(word string) string {
	if name := document.NearestName(word, EventNames()); name != "" {
		return fmt.Sprintf("; write %q", name)
	}
	return ""
}

// missing returns references to packages that do not exist. They are undefined, so a policy
// that needs one never decides.
func missing(modules []module) []diagnostic.Diagnostic {
	var out []diagnostic.Diagnostic
	for _, m := range modules {
		for _, ref := range m.facts.Refs {
			if !slices.ContainsFunc(modules, func(o module) bool { return mayDefine(&o.facts, ref) }) {
				out = append(out, diagnostic.Diagnostic{File: m.Path, Line: m.facts.Line, Column: 1, Code: engine.CodePackage, Text: fmt.Sprintf("there is no package for data.%s in this scope, nor a data document, so it is always undefined", ref)})
			}
		}
	}
	return out
}

// sharedPackages returns packages whose files are routed differently. All files of a
// package run if one is routed.
func sharedPackages(modules []module) []diagnostic.Diagnostic {
	first := map[string]module{}
	var out []diagnostic.Diagnostic
	for _, m := range modules {
		if !m.facts.Routed {
			continue
		}
		o, there := first[m.facts.Package]
		if !there {
			first[m.facts.Package] = m
			continue
		}
		if !slices.Equal(o.facts.Events, m.facts.Events) || !slices.Equal(o.facts.Tools, m.facts.Tools) {
			out = append(out, diagnostic.Diagnostic{Severity: diagnostic.LevelWarning, File: m.Path, Line: m.facts.Line, Column: 1, Code: engine.CodeRouting,
				Text: fmt.Sprintf("package %s is routed differently in %s: its rules are one package, and are asked where either is routed", m.facts.Package, o.Path)})
		}
	}
	return out
}

// Test runs the tests in sources whose names match an expression, "" for all. The error is
// the engine's.
func (s Sources) Test(ctx context.Context, e engine.Engine, run string) (engine.Tested, []diagnostic.Diagnostic, error) {
	if len(s.Paths) == 0 {
		return engine.Tested{}, nil, nil
	}
	tested, err := e.Test(ctx, s.files(), engine.TestOptions{Extra: s.Extra, Run: run})
	var found []diagnostic.Diagnostic
	for _, path := range slices.Sorted(maps.Keys(tested.Broken)) {
		found = append(found, coded(engine.CodeCompile, tested.Broken[path])...)
	}
	return tested, found, err
}
