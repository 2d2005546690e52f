package cli

import (
	"cardea.dev"
	"cardea.dev/internal/config"
	"cardea.dev/internal/session"
)

// place is where an event happens: whose folders count, and which project.
type place struct {
	dirs    config.Dirs
	project string
	session *session.Session
	// troubles are what was wrong on the way; they change no verdict.
	troubles []cardea.Trouble
}

// locate finds the place of an event. Which variables can be believed depends
// on the project, and the project on what was kept of the session, in a folder
// that a variable names. So it begins with the project around the event's
// folder, and looks again if the session's project is another one.
func locate(p Process, harness, id, cwd string) place {
	if cwd == "" {
		cwd = p.Dir
	}
	start, _ := config.SessionStart(p.Env, cwd)
	doubted := []string{config.FindProject(start, "")}
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
	pl.dirs, pl.troubles = config.FindDirs(p.Machine, doubted...)
	store, err := session.Open(pl.dirs.State, func(dir string) string {
		return p.Machine.RefuseState(dir, doubted[len(doubted)-1], pl.dirs.Home)
	})
	pl.report(err)
	pl.session, err = store.Load(harness, id)
	pl.report(err)
	start, told := config.SessionStart(p.Env, pl.session.First(cwd))
	if told != "" {
		pl.tell(told)
	}
	pl.project = config.FindProject(start, pl.dirs.Home)
	return pl
}

// report keeps an error that changes no verdict.
func (pl *place) report(err error) {
	if err != nil {
		pl.troubles = append(pl.troubles, cardea.Trouble{Failure: cardea.Unwritten, Text: err.Error()})
	}
}

// tell keeps texts that a person must learn of.
func (pl *place) tell(texts ...string) {
	for _, t := range texts {
		pl.troubles = append(pl.troubles, cardea.Trouble{Text: t})
	}
}
