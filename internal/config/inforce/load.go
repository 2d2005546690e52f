package inforce

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"cardea.dev"
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

// Where is whose files count.
type Where struct {
	Dirs project.Dirs
	// Project is the project's folder, or "".
	Project string
	// Trust reports whether the person accepted a file of the project as it
	// is; nil where the project is not trusted. It is asked for every file of
	// the project that is read, with what is read, and with nothing else.
	Trust func(path string, data []byte) bool
	// Known reports whether the person accepted a file of the project, in
	// whatever form; nil where the project is not trusted.
	Known func(path string) bool
	// Accepted are the absolute paths of all files that they accepted.
	Accepted func() []string
	// Org is the organisation whose allows count whatever settings and the
	// project's remote say, "" for none: who looks at what one would bring.
	Org string
	// Drafts are texts that are read in the place of those that files have, by their paths,
	// to see what a change would do. They are treated as written by a person.
	Drafts map[string][]byte
	// State is the folder in which last good forms are kept, "" for none.
	State string
	// Guarded says what keeps a path of system scope from being the system's
	// own, or ""; nil believes all.
	Guarded func(path string) string
	// Plugins are the install folders of the harness's plugins, Plugin the
	// one that this process runs in, or "".
	Plugins []string
	Plugin  string
	// PluginFiles are the files and folders of Cardea's own plugin; nil: there is none.
	PluginFiles func() []string
	// Start is the folder in which the session began, Lists are the places of
	// the harnesses' permission lists.
	Start string
	Lists []permissionlist.Source
	// Absent and Links are what was seen of folders and links already; nil for nothing.
	Absent *state.Absent
	Links  *paths.Links
	// ListsIn are the places of the lists that a folder around a call may have;
	// nil: none.
	ListsIn func(dir string) []permissionlist.Source
	// Env is the environment, of which from_env says what counts; nil: nothing is
	// set.
	Env func(name string) string
	// Tracked reports whether git tracks a file, or did; nil: it tracks none.
	Tracked func(path string) bool
	// Engines compile and evaluate policies.
	Engines policy.Engines
	// Memory is what is kept between calls; nil: nothing is.
	Memory *Call
	// Policies is what is known of policies; nil reads them anew.
	Policies *policy.Library
	// Program is the running program, "" where it cannot be told.
	Program string
	// FindEngine finds cardea-engine for what starts it to find lessons by their
	// meaning; nil looks beside Program.
	FindEngine func() (string, error)
	// Compiled is set where rules may be taken from the compiled form of their file,
	// which has all but their tests.
	Compiled bool
	// Path is the PATH with which the harness starts commands, Temp the
	// folders for temporary files.
	Path string
	Temp []string
}

// Trusted reports whether the person trusts the project. Each of its files
// counts only as it was accepted.
func (w Where) Trusted() bool { return w.Trust != nil }

// Loaded is everything that is in force in a place, and everything that is
// wrong with it.
type Loaded struct {
	Where Where
	// SettingsFiles are the files of settings, strongest scope first: system,
	// those of organisations, project, user. Settings are what they add up to.
	SettingsFiles []settings.File
	Settings      settings.Settings
	// List are the rules in force, built-in ones first, then those of system,
	// org and user, then the project's. OffList are those that settings switched off.
	List, OffList rules.List
	// ReadonlyOff is set where settings switched the pack readonly off.
	ReadonlyOff bool
	// Files are the files of rules that were read.
	Files []RulesFile
	// Permissions are the entries of the harnesses' lists, PermissionFiles
	// where they stand.
	Permissions     []permissionlist.Entry
	PermissionFiles []*PermissionFile
	// Trace is told how the lists were applied to a call; nil tells nobody.
	Trace func(line string)
	// Routes are those in force, RouteFiles where they come from, after
	// [Loaded.ReadRoutes].
	Routes     []routes.Route
	RouteFiles []routes.Source
	// RouteProblems are what is wrong with routes. They cost nothing: routes
	// are advice on which tool to use.
	RouteProblems []cardea.Diagnostic
	routesRead    sync.Once
	// Overrides are those of all scopes, strongest first.
	Overrides []overrides.Override
	// RolesFiles are the files of roles, after [Loaded.Roles].
	RolesFiles  []RolesFile
	rolesRead   sync.Once
	lessonsRead lessonsRead
	// role is the agent's role, roleProblem what is wrong with it.
	role        string
	roleProblem cardea.Troubles
	// Callbacks are what policies need besides files.
	Callbacks Callbacks
	index     *state.Indexes
	// compiled are the rules of files, nil where they are read from their text.
	compiled *state.Indexes
	madeBy   []byte
	kept     project.LastGood
	// orgs are the folders of organisations, those that count in full first.
	orgs []folder
	// absent and links are what was seen of folders and links in the time of this
	// one load, nil for nothing.
	absent *state.Absent
	links  *paths.Links
	looked project.Looked
	// around are the projects around the event that was asked about last.
	around struct {
		sync.Mutex
		event    *cardea.Event
		projects []string
		complete bool
	}
}

// Given is what the strongest file that counts says about a key.
func (l *Loaded) Given(key string) (settings.Given, bool) {
	for i := range l.SettingsFiles {
		if g, gives := l.SettingsFiles[i].Gives(key); gives && l.SettingsFiles[i].Counts {
			return g, true
		}
	}
	return settings.Given{}, false
}

// RulesFile is a file of rules that was read.
type RulesFile struct {
	Path  string
	Scope cardea.Scope
	Rules int
	// Counts is set where everything in it counts, not only its denies and
	// asks.
	Counts bool
	// Kept is set where the file is broken and its last good form is in force.
	Kept     bool
	Problems []cardea.Diagnostic
}

// begin is a load that has read nothing yet.
func begin(w Where) *Loaded {
	l := &Loaded{Where: w, kept: project.NewLastGood(w.State), absent: w.Absent, links: w.Links}
	l.absent = cmp.Or(l.absent, new(state.Absent))
	l.links = cmp.Or(l.links, new(paths.Links))
	l.looked.Seen = l.absent
	return l
}

// Load reads every file that counts in a place. It never fails: what is wrong
// is kept as problems, and everything else works.
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

// Rules are the rules in force.
func (l *Loaded) Rules() []rules.Rule { return l.List.All() }

// Off are the rules that settings switched off.
func (l *Loaded) Off() []rules.Rule { return l.OffList.All() }

// Keep writes down the last good forms of what was read, where they are not
// kept yet, until it is late. r tells what holds a secret, and is not kept. It
// is for when the verdict stands, and an error does not change it.
func (l *Loaded) Keep(r *redact.Redactor, late func() bool) error {
	withheld := func(of []byte) bool { return len(r.Find(string(of))) > 0 }
	return errors.Join(l.kept.Write(r, late), l.index.Write(late, withheld), l.compiled.Write(late, withheld))
}

// ReadRoutes finds and reads the files of routes, once. It is not part of
// loading, because files of routes name further files, and a project could
// make that slow: the gate reads them when all others have spoken.
func (l *Loaded) ReadRoutes() {
	l.routesRead.Do(func() {
		l.RouteFiles = routes.Find(l.Where.Plugins, l.Where.Project, l.Where.Plugin)
		l.Routes, l.RouteProblems = routes.Load(l.RouteFiles, l.Where.Trust, harness.ToolWord, l.document, !l.Where.Compiled)
	})
}

// LoadSettings reads the settings alone.
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
	// root is what relative globs of its rules are relative to, "" for the
	// project of each event.
	root string
	// tightens is set for an organisation, or a folder that may be the project's, of which
	// only denies and asks count here.
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

// doubted are folders of which it is not known whether they are the person's.
func (l *Loaded) doubted() []folder {
	return lists.Of(l.Where.Dirs.Doubted, func(dir string) folder {
		return folder{dir: dir, scope: cardea.ScopeProject, inside: dir, tightens: true}
	})
}

// folders are all scopes' folders in the order in which their rules are read:
// the project's last, since how many they are is not the person's doing.
func (l *Loaded) folders() []folder {
	out := append(make([]folder, 0, 3+len(l.orgs)+len(l.Where.Dirs.Doubted)), l.system())
	out = append(append(out, l.orgs...), l.user())
	return append(append(out, l.doubted()...), l.project())
}

// readSettings reads the files of settings and merges them. The person's come
// first, since they name the organisation.
func (l *Loaded) readSettings() {
	system, user := l.loadSettings(l.system()), l.loadSettings(l.user())
	name := user.Values.Org.Name
	if system.Found && system.Values.Org.Name != "" {
		name = system.Values.Org.Name
	}
	l.findOrgs(name)
	l.SettingsFiles = append(make([]settings.File, 0, 3+len(l.orgs)+len(l.Where.Dirs.Doubted)), system)
	l.SettingsFiles = append(l.SettingsFiles, lists.Of(slices.Concat(l.orgs, l.doubted(), []folder{l.project()}), l.loadSettings)...)
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
	if !cardea.HasError(f.Problems) {
		l.note(none.Path, at, data, when)
	} else if old := l.kept.Form(none.Path, at.source()); old != nil {
		// A form that was good for an earlier version may not be for this one.
		if kept := settings.Read(none.Path, at.scope, l.document(none.Path, old)); !cardea.HasError(kept.Problems) {
			problems, data, f = keptInForce(f.Problems), old, kept
			f.Problems, f.Kept = problems, true
		}
	}
	f.Counts = l.counts(none.Path, at, data)
	return f
}

// note remembers a form that is to be kept.
func (l *Loaded) note(path string, at folder, data []byte, when time.Time) {
	if data != nil {
		l.kept.Note(path, at.source(), data, when)
	}
}

// source is where last good forms of a folder's files are kept.
func (f folder) source() project.Source { return project.Source(f.scope == cardea.ScopeProject) }

// counts reports whether everything in a file of a folder counts.
func (l *Loaded) counts(path string, at folder, data []byte) bool {
	if at.tightens || at.scope != cardea.ScopeProject {
		return !at.tightens
	}
	if l.Where.Drafts[path] != nil {
		return l.Where.Trusted()
	}
	return l.Where.Trust != nil && l.Where.Trust(path, data)
}

// read reads a file of a scope's folder. Data is nil where there is none, or
// where it cannot be read, which is a problem then.
func (l *Loaded) read(path string, at folder) ([]byte, time.Time, []cardea.Diagnostic) {
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
		return nil, when, []cardea.Diagnostic{unread(path, err)}
	}
	return data, when, nil
}

// doubt says why a file of system scope is not believed. It is ignored then,
// which costs nothing: what is written there is not the system's word.
func (l *Loaded) doubt(path string, at folder) []cardea.Diagnostic {
	if at.scope != cardea.ScopeSystem || l.Where.Guarded == nil {
		return nil
	}
	for _, p := range []string{at.dir, path} {
		if why := l.Where.Guarded(p); why != "" {
			return []cardea.Diagnostic{{File: p, Code: cardea.CodeIgnored, Text: "is ignored: it " + why, Severity: cardea.LevelWarning}}
		}
	}
	return nil
}
