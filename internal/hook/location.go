package hook

import (
	"cmp"
	"path/filepath"
	"slices"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/knowledge/files"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/config/trust"
	"cardea.dev/internal/memory/session"
)

// Location is where an event happens: the folders that apply, the project, and the session.
type Location struct {
	Dirs    project.Dirs
	Project string
	// Start is the folder in which the session began.
	Start   string
	Session *session.Session
	// Store holds all sessions. It is nil where nothing is remembered.
	Store *session.Store
	// State is the state folder, "" where none can be used.
	State string
	// Issues are the problems found while the place was located. They change no verdict.
	Issues cardea.Issues
	// absent and links hold what was seen of folders and links while the place was located.
	absent *state.Absent
	links  *paths.Links
}

// Locate returns the place of an event. The project decides which variables are trusted,
// and the saved session decides the project. But a variable names the folder of the saved
// session. So Locate starts with the project that surrounds the event's folder, and looks
// again if the session belongs to another project.
func Locate(p Process, harness, id, cwd string) Location {
	cwd = cmp.Or(cwd, p.Dir)
	start, _ := project.SessionStart(p.Env, cwd)
	p.Machine.Links = &paths.Links{Stats: p.Memory.Stats()}
	doubted := []string{p.projectOf(start)}
	var pl Location
	for range 2 {
		pl = p.placeBeside(doubted, harness, id, cwd)
		if pl.Project == doubted[0] {
			break
		}
		doubted = append(doubted, pl.Project)
	}
	return pl
}

// projectOf returns the project that surrounds a folder, before the session is known. HOME is
// not trusted, since a project can set it. The home folder of the password database is
// never a project, even if it contains a .git.
func (p Process) projectOf(start string) string {
	seen := &state.Absent{Stats: p.Memory.Stats()}
	found := project.FindIn(seen, start)
	if found == start || !paths.Within(found, p.Machine.Links.Real(p.homeVariable())) {
		return found
	}
	home, err := p.Machine.Home()
	if err != nil {
		return found
	}
	return project.FindIn(seen, start, home, p.Machine.Links.Real(home))
}

// homeVariable returns the home folder that the environment names.
func (p Process) homeVariable() string {
	if p.Machine.OS == "windows" {
		return p.Machine.Env("USERPROFILE")
	}
	return p.Machine.Env("HOME")
}

// placeBeside locates the place, and ignores variables that point into the suspicious projects.
func (p Process) placeBeside(doubted []string, harness, id, cwd string) Location {
	pl := Location{absent: &state.Absent{Stats: p.Memory.Stats()}, links: p.Machine.Links}
	pl.Dirs, pl.Issues = project.FindDirs(p.Machine, doubted...)
	store, err := session.Open(pl.Dirs.State, func(dir string) string {
		return p.Machine.RefuseState(dir, doubted[len(doubted)-1], pl.Dirs.Home)
	})
	if err == nil {
		pl.State = pl.Dirs.State
	}
	pl.report(err)
	pl.Store = store
	pl.Session, err = store.Load(harness, id)
	pl.report(err)
	start, problem := project.SessionStart(p.Env, pl.Session.First(cwd))
	if problem != "" {
		pl.tell(problem)
	}
	homes := []string{pl.Dirs.Home}
	if home := p.homeVariable(); filepath.IsAbs(home) && filepath.Clean(home) != pl.Dirs.Home {
		homes = append(homes, filepath.Clean(home), p.Machine.Links.Real(home)) // not trusted, but never a project either
	}
	pl.Start, pl.Project = start, project.FindIn(pl.absent, start, homes...)
	return pl
}

// Where returns the folders that apply in a place, the harnesses' permission lists, and the
// project's files that the person accepted.
func (p Process) Where(pl *Location) inforce.Where {
	w := p.Whose(pl)
	w.Lists, w.ListsIn = p.lists(pl, nil), listsIn
	return w
}

// Whose returns the same as [Process.Where] without the permission lists, which need a look
// at the parent processes.
func (p Process) Whose(pl *Location) inforce.Where {
	w := inforce.Where{Engines: p.Engines, Memory: p.Memory, Dirs: pl.Dirs, Project: pl.Project, State: pl.State, Guarded: p.Machine.Guarded, Program: p.Program,
		Path: p.Env("PATH"), Temp: files.Temporary(), Start: pl.Start, Env: p.Env, Tracked: project.Checked{State: pl.State}.Tracked}
	w.Drafts = p.Drafts
	if p.Handover != nil {
		w.FindEngine = p.Handover.findEngine
	}
	if pl.State == "" {
		return w
	}
	real := pl.links.Real(pl.Project)
	if real == "" || pl.absent.File(trust.PathOf(pl.State, real)) {
		return w
	}
	accepted, err := trust.Load(pl.State, real)
	if err != nil {
		pl.tell(err.Error())
	}
	if accepted != nil {
		w.Known = func(path string) bool { return accepted.Knows(InProject(pl.Project, path)) }
		w.Accepted = func() []string {
			var out []string
			for name := range accepted.Files {
				out = append(out, filepath.Join(pl.Project, filepath.FromSlash(name)))
			}
			slices.Sort(out)
			return out
		}
		w.Trust = func(path string, data []byte) bool { return accepted.Trusts(InProject(pl.Project, path), data) }
	}
	return w
}

// InProject returns a file's path relative to the project, with slashes, as manifests have it.
func InProject(project, path string) string {
	rel, err := filepath.Rel(project, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// report adds an error that changes no verdict to the place.
func (pl *Location) report(err error) {
	if err != nil {
		pl.Issues = append(pl.Issues, cardea.Unwritten.Issue("", diagnostic.CodeUnwritten, "", err.Error()))
	}
}

// tell adds warnings for the person to the place.
func (pl *Location) tell(texts ...string) {
	for _, t := range texts {
		pl.Issues = append(pl.Issues, cardea.Warning("", diagnostic.CodeIgnored, "", t))
	}
}
