package inforce

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/decide/overrides"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/routes"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/permissionlist"
	"cardea.dev/packs"
)

// Where is the place for which files apply: its folders, project and harness.
type Where struct {
	Dirs project.Dirs
	// Project is the project's folder, "" if none exists.
	Project string
	// Trust reports whether the user accepted a file of the project in this form; nil if the
	// project is not trusted. It is called for every file of the project that is read, with
	// the data that is used, and for nothing else.
	Trust func(path string, data []byte) bool
	// Known reports whether the user accepted a file of the project in any form; nil if the
	// project is not trusted.
	Known func(path string) bool
	// Accepted returns the absolute paths of all accepted files.
	Accepted func() []string
	// Org is an organisation whose permissions apply regardless of the settings and the
	// project's remote, "" for none. It serves to preview an organisation.
	Org string
	// Drafts holds texts by path that replace those of files, to preview a change. They are
	// treated as written by the user.
	Drafts map[string][]byte
	// State is the folder for last good forms, "" for none.
	State string
	// Guarded returns why a path of system scope is not the system's own, "" if it is. If
	// Guarded is nil, all are.
	Guarded func(path string) string
	// Plugins holds the install folders of the harness's plugins. Plugin is the one that runs
	// this process, or "".
	Plugins []string
	Plugin  string
	// PluginFiles returns the files and folders of Cardea's own plugin; nil if none exists.
	PluginFiles func() []string
	// Start is the folder in which the session began. Lists holds the sources of the
	// harnesses' permission lists.
	Start string
	Lists []permissionlist.Source
	// Absent and Links cache folders and links that were already read; nil for none.
	Absent *state.Absent
	Links  *paths.Links
	// ListsIn returns the sources of the lists in a folder near a call; nil for none.
	ListsIn func(dir string) []permissionlist.Source
	// Env returns a variable of the environment; from_env lists those that apply. nil means
	// that none is set.
	Env func(name string) string
	// Tracked reports whether git tracks a file, or did; nil means that it tracks none.
	Tracked func(path string) bool
	// Engines compile and evaluate policies.
	Engines policy.Engines
	// Memory is the cache between calls; nil for none.
	Memory *CallMemory
	// Policies is the cache of policies; nil reads them anew.
	Policies *policy.Library
	// Program is the running program, "" if unknown.
	Program string
	// FindEngine returns the path of cardea-engine for finding lessons by meaning; nil looks
	// next to Program.
	FindEngine func() (string, error)
	// Compiled is set if rules may come from the compiled form of their file, which lacks
	// their tests.
	Compiled bool
	// Path is the PATH with which the harness starts commands. Temp holds the folders for
	// temporary files.
	Path string
	Temp []string
}

// Trusted reports whether the user trusts the project. Each of its files applies only in
// the accepted form.
func (w Where) Trusted() bool { return w.Trust != nil }

// Loaded is everything in force in a place, with all problems.
type Loaded struct {
	Where Where
	// SettingsFiles holds the files of settings, strongest scope first: system, organisations,
	// project, user. Settings is the result of merging them.
	SettingsFiles []settings.File
	Settings      settings.Settings
	// List holds the rules in force: built-in ones, then those of system, org and user, then
	// the project's. OffList holds those that settings switched off.
	List, OffList rules.List
	// ReadonlyOff is set if settings switched off the pack readonly.
	ReadonlyOff bool
	// Files holds the rule files that were read.
	Files []RulesFile
	// Permissions holds the entries of the harnesses' lists, PermissionFiles their files.
	Permissions     []permissionlist.Entry
	PermissionFiles []*PermissionFile
	// Trace receives how the lists were applied to a call, unless it is nil.
	Trace func(line string)
	// Routes holds the routes in force, and RouteFiles their files, after [Loaded.ReadRoutes].
	Routes     []routes.Route
	RouteFiles []routes.Source
	// RouteProblems holds problems of routes. They do not affect decisions: routes are advice
	// on which tool to use.
	RouteProblems []diagnostic.Diagnostic
	routesRead    sync.Once
	// Overrides holds the overrides of all scopes, strongest first.
	Overrides []overrides.Override
	// RolesFiles holds the files of roles, after [Loaded.Roles].
	RolesFiles  []RolesFile
	rolesRead   sync.Once
	lessonsRead lessonsRead
	// role is the agent's role; roleProblem holds its issues.
	role        string
	roleProblem cardea.Issues
	// Callbacks holds what policies need in addition to files.
	Callbacks Callbacks
	index     *state.Indexes
	// compiled caches the rules of files; nil parses their text.
	compiled *state.Indexes
	madeBy   []byte
	cached   project.LastGood
	// orgs holds the folders of organisations, those that apply in full first.
	orgs []folder
	// absent and links cache folders and links during this load.
	absent *state.Absent
	links  *paths.Links
	looked project.Looked
	// nearby caches the surrounding projects of the latest event.
	nearby struct {
		sync.Mutex
		event    *cardea.Event
		projects []string
		complete bool
	}
}

// Given returns the value of a key in the strongest file that applies.
func (l *Loaded) Given(key string) (settings.Given, bool) {
	for i := range l.SettingsFiles {
		if g, gives := l.SettingsFiles[i].Gives(key); gives && l.SettingsFiles[i].Counts {
			return g, true
		}
	}
	return settings.Given{}, false
}

// RulesFile is a rule file that was read.
type RulesFile struct {
	Path  string
	Scope cardea.Scope
	Rules int
	// Counts is set if everything in it applies, not only its deny and ask rules.
	Counts bool
	// Kept is set if the file is broken and its last good form is in force.
	Cached   bool
	Problems []diagnostic.Diagnostic
}

// begin returns a load that has read nothing yet.
func begin(w Where) *Loaded {
	l := &Loaded{Where: w, cached: project.NewLastGood(w.State), absent: w.Absent, links: w.Links}
	l.absent = cmp.Or(l.absent, new(state.Absent))
	l.links = cmp.Or(l.links, new(paths.Links))
	l.looked.Seen = l.absent
	return l
}

// Load reads every file that applies in a place. It never fails: it collects problems, and
// everything else works.
func Load(w Where) *Loaded {
	l := begin(w)
	l.index = w.index()
	l.openCompiled()
	l.readSettings()
	lists := []rules.List{l.exempted(packs.List())}
	for _, f := range l.folders() {
		left := project.MaxOwnRules
		if f.scope == cardea.ScopeProject {
			left = project.MaxProjectRules
		}
		l.readOverrides(f)
		list, files := l.readRules(f, &left)
		lists = append(lists, rules.ListOf(l.generatedRules(f)), list)
		l.Files = append(l.Files, files...)
	}
	l.switchRules(slices.Concat(lists...))
	l.readPermissions(w.Lists)
	return l
}

// Rules returns the rules in force.
func (l *Loaded) Rules() []rules.Rule { return l.List.All() }

// Off returns the rules that settings switched off.
func (l *Loaded) Off() []rules.Rule { return l.OffList.All() }

// Keep stores the last good forms of what was read, unless they are stored already, until
// late returns true. r finds secrets; forms with secrets are not stored. Call it after the
// verdict is final; an error does not change the verdict.
func (l *Loaded) Keep(r *redact.Redactor, late func() bool) error {
	withheld := func(of []byte) bool { return len(r.Find(string(of))) > 0 }
	return errors.Join(l.cached.Write(r, late), l.index.Write(late, withheld), l.compiled.Write(late, withheld))
}

// ReadRoutes reads the files of routes once. It is not part of loading, because route files
// name further files, and a project could make that slow. The gate calls it after all
// deciders.
func (l *Loaded) ReadRoutes() {
	l.routesRead.Do(func() {
		l.RouteFiles = routes.Find(l.Where.Plugins, l.Where.Project, l.Where.Plugin)
		l.Routes, l.RouteProblems = routes.Load(l.RouteFiles, l.Where.Trust, harness.ToolWord, l.document, !l.Where.Compiled)
	})
}

// LoadSettings reads only the settings.
func LoadSettings(w Where) settings.Settings {
	l := begin(w)
	l.openCompiled()
	l.readSettings()
	return l.Settings
}

// folder is a scope's folder.
type folder struct {
	dir   string
	scope cardea.Scope
	// inside is the folder that links must not leave, or "".
	inside string
	// root is the base of relative globs in its rules, "" for the project of each event.
	root string
	// tightens is set if only deny and ask rules apply: for an organisation, or for a folder
	// that may be the project's.
	tightens bool
}

func (l *Loaded) system() folder {
	dir := l.Where.Dirs.System
	return folder{dir: dir, scope: cardea.ScopeSystem, inside: dir}
}

func (l *Loaded) user() folder { return folder{dir: l.Where.Dirs.User, scope: cardea.ScopeUser} }

func (l *Loaded) project() folder {
	return folder{dir: project.Below(l.Where.Project, ".cardea"), scope: cardea.ScopeProject, inside: l.Where.Project}
}

func (l *Loaded) suspicious() []folder {
	// Folders that may not be the user's.
	return lists.Of(l.Where.Dirs.Doubted, func(dir string) folder {
		return folder{dir: dir, scope: cardea.ScopeProject, inside: dir, tightens: true}
	})
}

// folders returns all scopes' folders in the order in which their rules are read. The
// project's is last, since the user does not control the number of its rules.
func (l *Loaded) folders() []folder {
	out := append(make([]folder, 0, 3+len(l.orgs)+len(l.Where.Dirs.Doubted)), l.system())
	out = append(append(out, l.orgs...), l.user())
	return append(append(out, l.suspicious()...), l.project())
}

// readSettings reads and merges the files of settings. It reads the user's first, since
// they name the organisation.
func (l *Loaded) readSettings() {
	system, user := l.loadSettings(l.system()), l.loadSettings(l.user())
	name := user.Values.Org.Name
	if system.Found && system.Values.Org.Name != "" {
		name = system.Values.Org.Name
	}
	l.findOrgs(name)
	l.SettingsFiles = append(make([]settings.File, 0, 3+len(l.orgs)+len(l.Where.Dirs.Doubted)), system)
	l.SettingsFiles = append(l.SettingsFiles, lists.Of(slices.Concat(l.orgs, l.suspicious(), []folder{l.project()}), l.loadSettings)...)
	l.SettingsFiles = append(l.SettingsFiles, user)
	l.Settings = settings.Merge(l.SettingsFiles...)
}

// loadSettings reads the cardea.yaml of a scope's folder.
func (l *Loaded) loadSettings(at folder) settings.File {
	none := settings.File{Scope: at.scope}
	if at.dir == "" {
		return none
	}
	none.Path = filepath.Join(at.dir, "cardea.yaml")
	data, when, problems := l.read(none.Path, at)
	if data == nil && problems == nil {
		return none
	}
	f := settings.Read(none.Path, at.scope, l.document(none.Path, data))
	f.Problems = append(problems, f.Problems...)
	if !diagnostic.HasError(f.Problems) {
		l.note(none.Path, at, data, when)
	} else if old := l.cached.Form(none.Path, at.source()); old != nil {
		// A form that was valid for an earlier version may be invalid now.
		if cached := settings.Read(none.Path, at.scope, l.document(none.Path, old)); !diagnostic.HasError(cached.Problems) {
			problems, data, f = cachedInForce(f.Problems), old, cached
			f.Problems, f.Stored = problems, true
		}
	}
	f.Counts = l.counts(none.Path, at, data)
	return f
}

// note records a form to store.
func (l *Loaded) note(path string, at folder, data []byte, when time.Time) {
	if data != nil {
		l.cached.Note(path, at.source(), data, when)
	}
}

// source returns where last good forms of a folder's files are stored.
func (f folder) source() project.Source { return project.Source(f.scope == cardea.ScopeProject) }

// counts reports whether everything in a file of a folder applies.
func (l *Loaded) counts(path string, at folder, data []byte) bool {
	if at.tightens || at.scope != cardea.ScopeProject {
		return !at.tightens
	}
	if l.Where.Drafts[path] != nil {
		return l.Where.Trusted()
	}
	return l.Where.Trust != nil && l.Where.Trust(path, data)
}

// read reads a file of a scope's folder. It returns nil data if the file is missing, or if
// it cannot be read, which is a problem.
func (l *Loaded) read(path string, at folder) ([]byte, time.Time, []diagnostic.Diagnostic) {
	if data := l.Where.Drafts[path]; data != nil {
		return data, time.Time{}, nil
	}
	if l.absent.File(path) {
		return nil, time.Time{}, nil
	}
	if p := l.doubt(path, at); p != nil {
		return nil, time.Time{}, p
	}
	data, when, err := project.ReadKnown(l.Where.files(), path, at.inside)
	if err != nil {
		return nil, when, []diagnostic.Diagnostic{unread(path, err)}
	}
	return data, when, nil
}

// doubt returns why a file of system scope is not trusted. The file is then ignored without
// affecting decisions: its content is not the system's.
func (l *Loaded) doubt(path string, at folder) []diagnostic.Diagnostic {
	if at.scope != cardea.ScopeSystem || l.Where.Guarded == nil {
		return nil
	}
	for _, p := range []string{at.dir, path} {
		if why := l.Where.Guarded(p); why != "" {
			return []diagnostic.Diagnostic{{File: p, Code: diagnostic.CodeIgnored, Text: "is ignored: it " + why, Severity: diagnostic.LevelWarning}}
		}
	}
	return nil
}
