package cli

import (
	"path/filepath"
	"slices"

	"cardea.dev"
	"cardea.dev/internal/inforce"
	"cardea.dev/internal/knowledge/files"
	"cardea.dev/internal/paths"
	"cardea.dev/internal/project"
	"cardea.dev/internal/session"
	"cardea.dev/internal/trust"
)

// place is where an event happens: whose folders count, and which project.
type place struct {
	dirs    project.Dirs
	project string
	// start is the folder in which the session began.
	start   string
	session *session.Session
	// store has the sessions of all; nil where nothing is remembered.
	store *session.Store
	// state is the state folder, "" where none can be used.
	state string
	// troubles are what was wrong on the way; they change no verdict.
	troubles cardea.Troubles
}

// locate finds the place of an event. Which variables can be believed depends
// on the project, and the project on what was kept of the session, in a folder
// that a variable names. So it begins with the project around the event's
// folder, and looks again if the session's project is another one.
func locate(p Process, harness, id, cwd string) place {
	if cwd == "" {
		cwd = p.Dir
	}
	start, _ := project.SessionStart(p.Env, cwd)
	doubted := []string{project.Find(start, "")}
	var pl place
	for range 2 {
		pl = p.placeBeside(doubted, harness, id, cwd)
		if pl.project == doubted[0] {
			break
		}
		doubted = append(doubted, pl.project)
	}
	return pl
}

// placeBeside finds the place when variables that point into the doubted
// projects are not believed.
func (p Process) placeBeside(doubted []string, harness, id, cwd string) place {
	var pl place
	pl.dirs, pl.troubles = project.FindDirs(p.Machine, doubted...)
	store, err := session.Open(pl.dirs.State, func(dir string) string {
		return p.Machine.RefuseState(dir, doubted[len(doubted)-1], pl.dirs.Home)
	})
	if err == nil {
		pl.state = pl.dirs.State
	}
	pl.report(err)
	pl.store = store
	pl.session, err = store.Load(harness, id)
	pl.report(err)
	start, problem := project.SessionStart(p.Env, pl.session.First(cwd))
	if problem != "" {
		pl.tell(problem)
	}
	pl.start, pl.project = start, project.Find(start, pl.dirs.Home)
	return pl
}

// where is whose files count in a place, and which of the project's the person
// accepted.
func (p Process) where(pl *place) inforce.Where {
	w := p.whose(pl)
	w.Lists, w.ListsIn = p.lists(pl), listsIn
	return w
}

// whose is the same without the places of the harnesses' lists, which take a look
// at the processes above.
func (p Process) whose(pl *place) inforce.Where {
	w := inforce.Where{Engines: p.Engines, Dirs: pl.dirs, Project: pl.project, State: pl.state, Guarded: p.Machine.Guarded, Program: p.Program,
		Path: p.Env("PATH"), Temp: files.Temporary(), Start: pl.start, Env: p.Env, Tracked: project.Tracked}
	if pl.state == "" {
		return w
	}
	accepted, err := trust.Load(pl.state, paths.Real(pl.project))
	if err != nil {
		pl.tell(err.Error())
	}
	if accepted != nil {
		w.Known = func(path string) bool { return accepted.Knows(inProject(pl.project, path)) }
		w.Accepted = func() []string {
			var out []string
			for name := range accepted.Files {
				out = append(out, filepath.Join(pl.project, filepath.FromSlash(name)))
			}
			slices.Sort(out)
			return out
		}
		w.Trust = func(path string, data []byte) bool { return accepted.Trusts(inProject(pl.project, path), data) }
	}
	return w
}

// inProject is a file's path relative to the project, as manifests have it.
func inProject(project, path string) string {
	rel, err := filepath.Rel(project, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// report keeps an error that changes no verdict.
func (pl *place) report(err error) {
	if err != nil {
		pl.troubles = append(pl.troubles, cardea.Unwritten.Trouble("", cardea.CodeUnwritten, "", err.Error()))
	}
}

// tell keeps texts that a person must learn of.
func (pl *place) tell(texts ...string) {
	for _, t := range texts {
		pl.troubles = append(pl.troubles, cardea.Warning("", cardea.CodeIgnored, "", t))
	}
}
