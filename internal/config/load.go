package config

import (
	"fmt"
	"path/filepath"
	"sync"

	"cardea.dev"
	"cardea.dev/internal/decide/routes"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/document"
	"cardea.dev/internal/harness"
	"cardea.dev/packs"
)

// Where is whose files count.
type Where struct {
	Dirs Dirs
	// Project is the project's folder, or "".
	Project string
	// Trusted is set where the person trusts the project.
	Trusted bool
	// Plugins are the install folders of the harness's plugins, Plugin the
	// one that this process runs in, or "".
	Plugins []string
	Plugin  string
}

// Loaded is everything that is in force in a place, and everything that is
// wrong with it.
type Loaded struct {
	Where Where
	// UserFile and ProjectFile are the two cardea.yaml, Settings what they add
	// up to.
	UserFile, ProjectFile SettingsFile
	Settings              Settings
	// Rules are those in force, built-in ones first, then the person's, then
	// the project's.
	Rules []rules.Rule
	// Off are those that settings switched off.
	Off []rules.Rule
	// Files are the files of rules that were read.
	Files []RulesFile
	// Routes are those in force, RouteFiles where they come from, after
	// [Loaded.ReadRoutes].
	Routes     []routes.Route
	RouteFiles []routes.Source
	// RouteProblems are what is wrong with routes. They cost nothing: routes
	// are advice on which tool to use.
	RouteProblems []document.Problem
	routesRead    sync.Once
}

// RulesFile is a file of rules that was read.
type RulesFile struct {
	Path     string
	Scope    cardea.Scope
	Rules    int
	Problems []document.Problem
}

// Load reads every file that counts in a place. It never fails: what is wrong
// is kept as problems, and everything else works.
func Load(w Where) *Loaded {
	l := &Loaded{Where: w}
	l.UserFile, l.ProjectFile = settingsFiles(w)
	l.Settings = Merge(l.UserFile, l.ProjectFile, w.Trusted)
	all := packs.Rules()
	all = append(all[:len(all):len(all)], l.rulesOf(w.Dirs.User, origin(cardea.ScopeUser, true), "")...)
	if w.Project != "" {
		all = append(all, l.rulesOf(below(w.Project, ".cardea"), origin(cardea.ScopeProject, w.Trusted), w.Project)...)
	}
	l.switchRules(all)
	return l
}

// ReadRoutes finds and reads the files of routes, once. It is not part of
// loading, because files of routes name further files, and a project could
// make that slow: the gate reads them when all others have spoken.
func (l *Loaded) ReadRoutes() {
	l.routesRead.Do(func() {
		l.RouteFiles = routes.Find(l.Where.Plugins, l.Where.Project, l.Where.Plugin)
		l.Routes, l.RouteProblems = routes.Load(l.RouteFiles, l.Where.Trusted, harness.ToolWord)
	})
}

// LoadSettings reads the settings alone.
func LoadSettings(w Where) Settings {
	user, project := settingsFiles(w)
	return Merge(user, project, w.Trusted)
}

func settingsFiles(w Where) (user, project SettingsFile) {
	return loadSettings(w.Dirs.User, cardea.ScopeUser, ""),
		loadSettings(below(w.Project, ".cardea"), cardea.ScopeProject, w.Project)
}

// loadSettings reads the cardea.yaml of a scope's folder.
func loadSettings(dir string, scope cardea.Scope, inside string) SettingsFile {
	if dir == "" {
		return SettingsFile{Scope: scope}
	}
	path := filepath.Join(dir, "cardea.yaml")
	data, err := readFile(path, inside)
	if err != nil {
		return SettingsFile{Path: path, Scope: scope, Found: true, Problems: []document.Problem{unread(path, err)}}
	}
	if data == nil {
		return SettingsFile{Path: path, Scope: scope}
	}
	return ParseSettings(path, scope, data)
}

// unread is a file that cannot be read at all.
func unread(path string, err error) document.Problem {
	return document.Problem{File: path, Text: "cannot be read: " + err.Error(), Hint: "mend or remove it"}
}

// rulesOf reads the rules of a scope's folder, file by file in the order of
// their names.
func (l *Loaded) rulesOf(dir string, from rules.Origin, inside string) []rules.Rule {
	left := maxOwnRules
	if from.Scope == cardea.ScopeProject {
		left = maxProjectRules
	}
	list, files := readRules(dir, from, inside, &left)
	l.Files = append(l.Files, files...)
	return list
}

// origin says where rules come from. The names that harnesses give their tools
// are folded into the canonical ones.
func origin(scope cardea.Scope, trusted bool) rules.Origin {
	return rules.Origin{Scope: scope, Trusted: trusted, Tool: harness.ToolWord}
}

// readRules reads the rules of a scope's folder. left is how many bytes may
// still be read.
func readRules(dir string, from rules.Origin, inside string, left *int) (list []rules.Rule, files []RulesFile) {
	if dir == "" {
		return nil, nil
	}
	folder := filepath.Join(dir, "rules")
	paths, err := ruleFiles(folder)
	if err != nil {
		return nil, []RulesFile{{Path: folder, Scope: from.Scope, Problems: []document.Problem{unread(folder, err)}}}
	}
	for _, path := range paths {
		f, found := readRulesFile(path, from, inside, left)
		list = append(list, found...)
		files = append(files, f)
	}
	return list, files
}

func readRulesFile(path string, from rules.Origin, inside string, left *int) (f RulesFile, list []rules.Rule) {
	f = RulesFile{Path: path, Scope: from.Scope}
	data, err := readFile(path, inside)
	*left -= len(data)
	switch {
	case err == nil && *left < 0:
		f.Problems = []document.Problem{{File: path, Text: "is not read: the files of rules before it are too large together", Hint: "remove what is not needed"}}
	case err != nil:
		f.Problems = []document.Problem{unread(path, err)}
	case data != nil:
		list, f.Problems = rules.Parse(path, data, from)
		f.Rules = len(list)
	}
	return f, list
}

// switchRules applies what the settings switch off or change. Switches of the
// person reach built-in rules and their own; those of a trusted project its
// own. What no rule answers to is a warning: a typing error there leaves a rule
// on that its author believes to be off.
func (l *Loaded) switchRules(all []rules.Rule) {
	left := all
	for _, s := range []struct {
		by   rules.Switches
		file *SettingsFile
	}{{l.Settings.User, &l.UserFile}, {l.Settings.Project, &l.ProjectFile}} {
		if len(s.by.Off) == 0 && len(s.by.Effect) == 0 {
			continue
		}
		var unused []string
		left, unused = s.by.Apply(left)
		for _, id := range unused {
			s.file.Problems = append(s.file.Problems, document.Problem{File: s.file.Path, Line: s.file.lineOf(id), Column: 1, Warning: true,
				Text: fmt.Sprintf("no rule that these settings may switch is called %q", id), Hint: "look at cardea list"})
		}
	}
	l.Rules = left
	l.Off = without(all, left)
}

// without are the rules that were left out.
func without(all, left []rules.Rule) []rules.Rule {
	type key struct{ id, source string }
	in := make(map[key]bool, len(left))
	if len(all) == len(left) {
		return nil
	}
	for _, r := range left {
		in[key{r.ID, r.Source}] = true
	}
	var out []rules.Rule
	for _, r := range all {
		if !in[key{r.ID, r.Source}] {
			out = append(out, r)
		}
	}
	return out
}

// lineOf is the line of the setting about a rule or pack.
func (f SettingsFile) lineOf(id string) int {
	for _, g := range f.Given {
		if g.Key == "rules.off" && g.Value == id || g.Key == "packs."+id || g.Key == "rules.effect."+id {
			return g.Line
		}
	}
	return 1
}

// Problems are all that is wrong with settings and rules, file by file.
func (l *Loaded) Problems() []document.Problem {
	out := append(l.UserFile.Problems[:len(l.UserFile.Problems):len(l.UserFile.Problems)], l.ProjectFile.Problems...)
	for _, f := range l.Files {
		out = append(out, f.Problems...)
	}
	return out
}

// Troubles are the problems as the gate counts them: a broken file of settings
// or rules is a failure, a warning is only told.
// An untrusted project's settings do not count, so neither does what is wrong
// with them.
func (l *Loaded) Troubles() []cardea.Trouble {
	var out []cardea.Trouble
	add := func(scope cardea.Scope, costs bool, ps []document.Problem) {
		for _, p := range ps {
			out = append(out, troubleOf(p, scope == cardea.ScopeUser || l.Where.Trusted, costs))
		}
	}
	add(cardea.ScopeUser, true, l.UserFile.Problems)
	add(cardea.ScopeUser, false, l.UserFile.Later)
	add(cardea.ScopeProject, l.Where.Trusted, l.ProjectFile.Problems)
	if l.Where.Trusted {
		add(cardea.ScopeProject, false, l.ProjectFile.Later)
	}
	for _, f := range l.Files {
		add(f.Scope, true, f.Problems)
	}
	return few(out)
}

// maxTroubles is how many troubles a person is told of at once.
const maxTroubles = 20

// few are the first troubles, and that there are more.
func few(all []cardea.Trouble) []cardea.Trouble {
	if len(all) <= maxTroubles {
		return all
	}
	more := cardea.Trouble{Text: fmt.Sprintf("and %d more; run \"cardea lint\" to see them", len(all)-maxTroubles)}
	for _, t := range all[maxTroubles:] {
		more.Failure = max(more.Failure, t.Failure)
	}
	return append(all[:maxTroubles:maxTroubles], more)
}

// troubleOf is a problem as the gate counts it. What is wrong with a file
// quotes the file, and a failure is told to the model too; so of a file that
// is not trusted only the place is told. "cardea lint" tells the rest.
func troubleOf(p document.Problem, trusted, costs bool) cardea.Trouble {
	t := cardea.Trouble{Text: p.String(), Source: p.File}
	if !trusted {
		p.Text, p.Hint = "has mistakes", `run "cardea lint" in the project to see them`
		t.Text = p.String()
	}
	if costs && !p.Warning {
		t.Failure = cardea.BrokenFile
	}
	return t
}

// Uncounted says which settings and rules of the project do not count, because
// the person has not trusted it.
func (l *Loaded) Uncounted() []string {
	if l.Where.Trusted {
		return nil
	}
	var out []string
	if l.ProjectFile.Found {
		out = append(out, l.ProjectFile.Path+": settings of a project that is not trusted do not count")
	}
	for _, r := range l.Rules {
		if r.Scope != cardea.ScopeProject {
			continue
		}
		switch {
		case r.Effect == cardea.Halt:
			out = append(out, fmt.Sprintf("%s: the halt of rule %s counts as deny, since the project is not trusted", r.Source, r.ID))
		case r.Effect != cardea.Deny && r.Effect != cardea.Ask:
			out = append(out, fmt.Sprintf("%s: rule %s does not count, since the project is not trusted and may only deny and ask", r.Source, r.ID))
		}
	}
	return out
}
