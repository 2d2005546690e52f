package config

import (
	"sort"
	"strconv"

	"cardea.dev"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/document"
)

// SettingsFile is one cardea.yaml, as far as it could be read. A key that is
// not there is nil or empty, so that merging can tell silence from a default.
type SettingsFile struct {
	// Path is the file, Scope who wrote it.
	Path  string
	Scope cardea.Scope
	// Found is false where there is no file.
	Found bool
	// Attended, Unattended and OnError are security values.
	Attended, Unattended *cardea.Effect
	OnError              *cardea.OnError
	// Switches turn rules off or change what they want.
	Switches rules.Switches
	// Given are the keys that the file gives, in order, for people.
	Given []Given
	// Problems are all that is wrong with the file. Later are warnings about
	// keys of later versions, which are no mistake of the author.
	Problems, Later []document.Problem
}

// Given is one setting of a file.
type Given struct {
	Key, Value string
	Line       int
}

// later are the keys of DESIGN.md section 5 that this version knows by name
// only.
func later() []string {
	return []string{"from_env", "permissions", "sensitive", "sessions", "near", "learn", "judge",
		"confidence", "human", "signals", "actions", "ledger", "org"}
}

// ParseSettings reads a cardea.yaml. It never fails: what is wrong is among the
// problems, and everything else of the file counts.
func ParseSettings(path string, scope cardea.Scope, data []byte) SettingsFile {
	f := SettingsFile{Path: path, Scope: scope, Found: true, Switches: rules.Switches{By: scope}}
	r := document.Read(path, data)
	top := r.Top().Map()
	if v := top.Get("version"); v.Present() {
		f.give("version", strconv.Itoa(v.Int(1, 1)), v)
	}
	f.readDefault(top.Map("default"))
	if v := top.Get("on_error"); v.Present() {
		if w := v.Word("defer", "deny", "allow"); w != "" {
			e, err := cardea.ParseOnError(w)
			if err == nil {
				f.OnError = &e
			}
			f.give("on_error", w, v)
		}
	}
	f.readPacks(top.Map("packs"))
	f.readRules(top.Map("rules"))
	for _, key := range later() {
		if v := top.Get(key); v.Present() {
			f.Later = append(f.Later, document.Problem{File: path, Line: v.Line(), Column: v.Column(), Warning: true,
				Text: strconv.Quote(key) + " is not supported by this version, so it has no effect", Hint: "remove it until then"})
		}
	}
	top.Done()
	f.Problems = r.Problems()
	return f
}

func (f *SettingsFile) give(key, value string, at document.Value) {
	f.Given = append(f.Given, Given{Key: key, Value: value, Line: at.Line()})
}

func (f *SettingsFile) readDefault(m document.Map) {
	for _, d := range []struct {
		key string
		to  **cardea.Effect
	}{{"attended", &f.Attended}, {"unattended", &f.Unattended}} {
		v := m.Get(d.key)
		if w := v.Word("abstain", "allow", "defer", "ask", "deny"); w != "" {
			if e, err := cardea.ParseEffect(w); err == nil {
				*d.to = &e
			}
			f.give("default."+d.key, w, v)
		}
	}
	m.Done()
}

func (f *SettingsFile) readPacks(m document.Map) {
	for _, name := range m.Keys() {
		v := m.Get(name)
		w := v.Word("on", "off")
		if w == "off" {
			f.Switches.Off = append(f.Switches.Off, name)
		}
		if w != "" {
			f.give("packs."+name, w, v)
		}
	}
}

func (f *SettingsFile) readRules(m document.Map) {
	off := m.Get("off")
	for _, id := range off.Texts() {
		f.Switches.Off = append(f.Switches.Off, id)
		f.give("rules.off", id, off)
	}
	effects := m.Map("effect")
	for _, id := range effects.Keys() {
		v := effects.Get(id)
		w := v.Word("halt", "deny", "ask", "defer", "allow", "abstain")
		if w == "" {
			continue
		}
		if f.Switches.Effect == nil {
			f.Switches.Effect = map[string]cardea.Effect{}
		}
		if e, err := cardea.ParseEffect(w); err == nil {
			f.Switches.Effect[id] = e
		}
		f.give("rules.effect."+id, w, v)
	}
	m.Done()
}

// Settings are what several files add up to.
type Settings struct {
	Default cardea.Defaults
	OnError cardea.OnError
	// User switches built-in and user rules, Project the project's own.
	User, Project rules.Switches
}

// Merge joins the files of the person and of the project. A project counts
// only when it is trusted, and then may only tighten: of security values the
// strictest counts, defaults included, and its switches reach no rules but its
// own.
func Merge(user, project SettingsFile, trusted bool) Settings {
	s := Settings{
		Default: cardea.Defaults{Attended: cardea.Abstain, Unattended: cardea.Abstain},
		OnError: cardea.OnErrorDefer,
		User:    user.Switches,
	}
	replace(&s.Default.Attended, user.Attended)
	replace(&s.Default.Unattended, user.Unattended)
	replace(&s.OnError, user.OnError)
	if !trusted {
		return s
	}
	s.Project = project.Switches
	tighten(&s.Default.Attended, project.Attended)
	tighten(&s.Default.Unattended, project.Unattended)
	if project.OnError != nil {
		s.OnError = max(s.OnError, *project.OnError)
	}
	return s
}

func replace[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

func tighten(to, from *cardea.Effect) {
	if from != nil && from.Stricter(*to) {
		*to = *from
	}
}

// Effective lists the settings in force with who set them, for people.
func (s Settings) Effective(user, project SettingsFile, trusted bool) []Effective {
	out := []Effective{
		{Key: "default.attended", Value: s.Default.Attended.String()},
		{Key: "default.unattended", Value: s.Default.Unattended.String()},
		{Key: "on_error", Value: s.OnError.String()},
	}
	files := []SettingsFile{user}
	if trusted {
		files = append(files, project)
	}
	for i := range out {
		out[i].Source = "default"
		for _, f := range files {
			for _, g := range f.Given {
				if g.Key == out[i].Key && g.Value == out[i].Value {
					out[i].Source, out[i].Scope = f.Path+":"+strconv.Itoa(g.Line), f.Scope.String()
				}
			}
		}
	}
	for _, f := range files {
		for _, g := range f.Given {
			if g.Key != "version" && !listed(out[:3], g.Key) {
				out = append(out, Effective{g.Key, g.Value, f.Path + ":" + strconv.Itoa(g.Line), f.Scope.String()})
			}
		}
	}
	sort.SliceStable(out[3:], func(i, j int) bool { return out[3+i].Key < out[3+j].Key })
	return out
}

// Effective is a setting in force.
type Effective struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"`
	Scope  string `json:"scope,omitempty"`
}

func listed(es []Effective, key string) bool {
	for _, e := range es {
		if e.Key == key {
			return true
		}
	}
	return false
}

// Keys are the keys that this version reads, dotted.
func Keys() []string {
	return []string{"version", "default.attended", "default.unattended", "on_error", "packs", "rules.off", "rules.effect"}
}

// LaterKeys are those that it knows by name only.
func LaterKeys() []string { return later() }
