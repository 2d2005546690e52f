package hook

import (
	"cmp"
	"path/filepath"
	"slices"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/knowledge/files"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/config/trust"
	"cardea.dev/internal/memory/session"
)

// Place is where an event happens: whose folders count, and which project.
type Place struct {
	Dirs    project.Dirs
	Project string
	// Start is the folder in which the session began.
	Start   string
	Session *session.Session
	// Store has the sessions of all; nil where nothing is remembered.
	Store *session.Store
	// State is the state folder, "" where none can be used.
	State string
	// Troubles are what was wrong on the way; they change no verdict.
	Troubles cardea.Troubles
	// absent and links are what was seen of folders and links on the way.
	absent *state.Absent
	links  *paths.Links
}

// Locate finds the place of an event. Which variables can be believed depends
// on the project, and the project on what was kept of the session, in a folder
// that a variable names. So it begins with the project around the event's
// folder, and looks again if the session's project is another one.
func Locate(p Process, harness, id, cwd string) Place {
	cwd = cmp.Or(cwd, p.Dir)
	start, _ := project.SessionStart(p.Env, cwd)
	p.Machine.Links = &paths.Links{Moment: p.Memory.Moment()}
	doubted := []string{p.around(start)}
	var pl Place
	for range 2 {
		pl = p.placeBeside(doubted, harness, id, cwd)
		if pl.Project == doubted[0] {
			break
		}
		doubted = append(doubted, pl.Project)
	}
	return pl
}

// around is the project around a folder as long as nothing is known of the session. The
// home folder of the password database is none: whoever made a .git there, the folder is
// the person's. HOME may be the project's, since a project can set it.
func (p Process) around(start string) string {
	seen := &state.Absent{Moment: p.Memory.Moment()}
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

// homeVariable is the home folder as the environment has it.
func (p Process) homeVariable() string {
	if p.Machine.OS == "windows" {
		return p.Machine.Env("USERPROFILE")
	}
	return p.Machine.Env("HOME")
}

// placeBeside finds the place when variables that point into the doubted
// projects are not believed.
func (p Process) placeBeside(doubted []string, harness, id, cwd string) Place {
	pl := Place{absent: &state.Absent{Moment: p.Memory.Moment()}, links: p.Machine.Links}
	pl.Dirs, pl.Troubles = project.FindDirs(p.Machine, doubted...)
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
		homes = append(homes, filepath.Clean(home), p.Machine.Links.Real(home)) // it is not believed, and yet no project
	}
	pl.Start, pl.Project = start, project.FindIn(pl.absent, start, homes...)
	return pl
}

// Where is whose files count in a place, and which of the project's the person
// accepted.
func (p Process) Where(pl *Place) inforce.Where {
	w := p.Whose(pl)
	w.Lists, w.ListsIn = p.lists(pl, nil), listsIn
	return w
}

// Whose is the same without the places of the harnesses' lists, which take a look
// at the processes above.
func (p Process) Whose(pl *Place) inforce.Where {
	w := inforce.Where{Engines: p.Engines, Memory: p.Memory, Dirs: pl.Dirs, Project: pl.Project, State: pl.State, Guarded: p.Machine.Guarded, Program: p.Program,
		Path: p.Env("PATH"), Temp: files.Temporary(), Start: pl.Start, Env: p.Env, Tracked: project.Brought{State: pl.State}.Tracked}
	w.Drafts = p.Drafts
	if p.Elsewhere != nil {
		w.FindEngine = p.Elsewhere.findEngine
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

// InProject is a file's path relative to the project, as manifests have it.
func InProject(project, path string) string {
	rel, err := filepath.Rel(project, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// report keeps an error that changes no verdict.
func (pl *Place) report(err error) {
	if err != nil {
		pl.Troubles = append(pl.Troubles, cardea.Unwritten.Trouble("", cardea.CodeUnwritten, "", err.Error()))
	}
}

// tell keeps texts that a person must learn of.
func (pl *Place) tell(texts ...string) {
	for _, t := range texts {
		pl.Troubles = append(pl.Troubles, cardea.Warning("", cardea.CodeIgnored, "", t))
	}
}
