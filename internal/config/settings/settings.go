package settings

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/decide/rules"
)

// File is the content of a cardea.yaml, as far as it could be read.
type File struct {
	// Path is the file, Scope the scope of its author.
	Path  string
	Scope cardea.Scope
	// Found is false if there is no file.
	Found bool
	// Counts is set if its settings are in force: always, except for a project's file that the
	// user has not accepted in this form.
	Counts bool
	// Stored is set if the file is broken and this is its last good form.
	Stored bool
	// Values holds the settings read from the file. Keys that the file sets are in Given; all
	// others have their defaults.
	Values Values
	// Switches turns rules off or changes their effects.
	Switches rules.Switches
	// Given holds the keys that the file sets, in order, for people.
	Given []Given
	// Idle holds the names of switches that change nothing. The problems say why.
	Idle []string
	// Problems holds all problems of the file.
	Problems []diagnostic.Diagnostic
}

// Given is a setting of a file.
type Given struct {
	Key, Value string
	// File and Line are its place, Scope the scope of the file.
	File  string
	Line  int
	Scope cardea.Scope
}

// IsEmpty reports whether the file sets nothing: it is missing, or has only comments and
// its version.
func (f *File) IsEmpty() bool {
	return len(f.Problems) == 0 && !slices.ContainsFunc(f.Given, func(g Given) bool { return g.Key != "version" })
}

// Gives returns the file's setting of a key, false if it has none.
func (f *File) Gives(key string) (Given, bool) {
	for _, g := range f.Given {
		if g.Key == key {
			return g, true
		}
	}
	return Given{}, false
}

// Parse parses a cardea.yaml. It never fails: errors are among the problems, and everything
// else in the file applies.
func Parse(path string, scope cardea.Scope, data []byte) File {
	return Read(path, scope, document.Read(path, data))
}

// Read is Parse for an already parsed document.
func Read(path string, scope cardea.Scope, doc *document.Reader) File {
	p := settingsParser{file: File{Path: path, Scope: scope, Found: true, Counts: true, Values: Defaults(), Switches: rules.Switches{By: scope, File: path}},
		doc: doc, maps: map[string]document.Map{}, wrong: map[string]bool{}}
	p.doc.Hints(keysOfOthers)
	p.doc.Shapes(shapes)
	top := p.doc.Top().Map()
	p.maps[""] = top
	if v := top.Get("version"); v.Present() {
		p.give("version", strconv.Itoa(v.Int(1, 1)), v)
	}
	for _, k := range Keys() {
		p.section(sectionOf(k.Name), func() { p.key(k) })
	}
	p.packs(top.Map("packs"))
	p.rules(top.Map("rules"))
	p.unknownKeys()
	if p.wrong["judge"] || p.wrong["confidence"] {
		p.file.Values.Judge.Unreadable = path
	}
	p.file.Problems = p.doc.Problems()
	return p.file
}

// keysOfOthers returns hints for keys of the tools that Cardea imports.
func keysOfOthers() map[string]string {
	return map[string]string{
		"defaultAction":   "write default: {attended: …, unattended: …}; \"cardea import bouncer\" takes the file over",
		"llmFallback":     "write judge: {enabled: true, chain: […]}; \"cardea import bouncer\" takes the file over",
		"providerChain":   "write chain: […]",
		"apiKeyCommand":   "write api_key_command",
		"timeoutSeconds":  "write timeout: 2s",
		"customRules":     "rules have files of their own in rules/; \"cardea import bouncer\" takes the file over",
		"ruleGroups":      "packs are switched by packs: {NAME: off}; \"cardea import bouncer\" takes the file over",
		"routes":          "routes have a file of their own, .claude/tool-routes.yaml, where they work unchanged",
		"protected_paths": "write policies: {protected: […]}; \"cardea import cupcake\" takes the file over",
		"builtins":        "built-in policies are switched under packs; \"cardea import cupcake\" takes the file over",
	}
}

// shapes returns hints for keys with a value of the wrong shape.
func shapes() map[string]string {
	return map[string]string{
		"default": "write default: {attended: ask, unattended: deny}, or with other effects",
		"rules":   "here rules are only switched: rules: {off: [ID]}; rules of your own are files in rules/",
		"packs":   "write packs: {NAME: off}",
	}
}

type settingsParser struct {
	file File
	doc  *document.Reader
	// maps holds the maps that contain keys, by dotted name.
	maps map[string]document.Map
	// wrong holds the top-level keys with errors below them.
	wrong map[string]bool
}

// section calls read for a top-level key, and records whether it added errors.
func (p *settingsParser) section(name string, read func()) {
	before := p.doc.Errors()
	if read(); p.doc.Errors() > before {
		p.wrong[name] = true
	}
}

// sectionOf returns the top-level key of a dotted name.
func sectionOf(name string) string {
	section, _, _ := strings.Cut(name, ".")
	return section
}

// unknownKeys reports unknown keys: as errors in sections where the author may expect
// protection, else as warnings.
func (p *settingsParser) unknownKeys() {
	for name, m := range p.maps {
		section := sectionOf(name)
		if name == "" {
			p.unknownSections(m)
		}
		if slices.Contains(SecuritySections(), section) {
			p.section(section, m.Only)
		} else {
			m.Done()
		}
	}
}

// unknownSections reports unknown top-level keys that resemble those of SecuritySections as
// errors.
func (p *settingsParser) unknownSections(top document.Map) {
	for _, key := range top.Unknown() {
		near := document.Nearest(key, SecuritySections())
		switch {
		case near != "" && keysOfOthers()[key] != "":
			top.Get(key).ReportKey(diagnostic.CodeUnknownKey, keysOfOthers()[key], "unknown key %q", key)
		case near != "":
			top.Get(key).ReportKey(diagnostic.CodeUnknownKey, "did you mean "+strconv.Quote(near)+"?", "unknown key %q", key)
		}
	}
}

// within returns the map that contains a key, and the key's last word.
func (p *settingsParser) within(name string) (document.Map, string) {
	parent, last := "", name
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		parent, last = name[:i], name[i+1:]
	}
	m, known := p.maps[parent]
	if !known {
		above, word := p.within(parent)
		m = above.Map(word)
		p.maps[parent] = m
	}
	return m, last
}

// key reads a key of the table if the file has it.
func (p *settingsParser) key(k Key) {
	m, word := p.within(k.Name)
	v := m.Get(word)
	if !v.Present() {
		return
	}
	before := p.doc.Errors()
	read := Defaults()
	k.read(v, &read)
	if p.doc.Errors() > before && (!k.KeepsGoodEntries || empty(k.At(&read))) {
		return
	}
	switch {
	case k.PersonOnly && p.file.Scope == cardea.ScopeProject:
		v.Report(diagnostic.LevelWarning, diagnostic.CodeWrongScope, "write it into your own settings, or remove it", "%s is the person's to give and has no effect in a project", k.Name)
		return
	case k.AdminOnly && p.file.Scope == cardea.ScopeUser && !empty(k.At(&read)):
		v.Report(diagnostic.LevelWarning, diagnostic.CodeWrongScope, "have it written into the settings of the system or the organisation, or remove it", "%s has no effect in your own settings", k.Name)
		return
	case k.FromStrongest && p.file.Scope == cardea.ScopeOrg:
		v.Report(diagnostic.LevelWarning, diagnostic.CodeWrongScope, "remove it", "%s has no effect in the organisation's own file", k.Name)
		return
	}
	assign(k.At(&p.file.Values), k.At(&read))
	p.give(k.Name, k.Text(&read), v)
}

// empty reports whether a list or map has no entries.
func empty(at any) bool { return reflect.ValueOf(at).Elem().Len() == 0 }

func (p *settingsParser) give(key, value string, at document.Value) {
	p.file.Given = append(p.file.Given, Given{Key: key, Value: value, File: p.file.Path, Line: at.Line(), Scope: p.file.Scope})
}

func (p *settingsParser) packs(m document.Map) {
	for _, name := range m.Keys() {
		v := m.Get(name)
		w := v.Word("on", "off")
		if w == "off" {
			p.file.Switches.Off = append(p.file.Switches.Off, name)
		}
		if w != "" {
			p.give("packs."+name, w, v)
		}
	}
}

// rules reads the section rules, which switches rules off or changes their effects.
func (p *settingsParser) rules(m document.Map) {
	for _, v := range m.Get("off").Items() {
		if id := v.Text(); id != "" {
			p.file.Switches.Off = append(p.file.Switches.Off, id)
			p.give("rules.off", id, v)
		}
	}
	effects := m.Map("effect")
	for _, id := range effects.Keys() {
		v := effects.Get(id)
		w := v.Word("halt", "deny", "ask", "defer", "allow", "abstain")
		e, err := cardea.ParseEffect(w)
		if err != nil {
			continue
		}
		if p.file.Switches.Effect == nil {
			p.file.Switches.Effect = map[string]cardea.Effect{}
		}
		p.file.Switches.Effect[id] = e
		p.give("rules.effect."+id, w, v)
	}
	m.Done()
}

// LineOf returns the line of the setting for a rule or pack.
func (f *File) LineOf(id string) int {
	return f.firstLine(func(g Given) bool {
		return g.Key == "rules.off" && g.Value == id || g.Key == "packs."+id || g.Key == "rules.effect."+id
	})
}

// Commands returns the commands in a settings file, in a fixed order.
func (f *File) Commands() []string {
	out := lists.Of(slices.Sorted(maps.Keys(f.Values.Signals)), func(name string) string { return f.Values.Signals[name].Command })
	a := f.Values.Actions
	all := slices.Concat(a.OnAnyDenial, a.OnHalt, a.OnAsk)
	for _, rule := range slices.Sorted(maps.Keys(a.Violations)) {
		all = append(all, a.Violations[rule]...)
	}
	return append(out, lists.Of(all, func(c Command) string { return c.Command })...)
}

// LineOfCommands returns the first line that configures commands.
func (f *File) LineOfCommands() int {
	return f.firstLine(func(g Given) bool { return g.Key == "signals" || strings.HasPrefix(g.Key, "actions.") })
}

// firstLine returns the line of the first entry for which is returns true, or 1.
func (f *File) firstLine(is func(Given) bool) int {
	if i := slices.IndexFunc(f.Given, is); i >= 0 {
		return f.Given[i].Line
	}
	return 1
}
