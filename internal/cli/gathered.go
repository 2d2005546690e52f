package cli

import (
	"cardea.dev"
	"cardea.dev/internal/call"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/inforce"
	"cardea.dev/internal/knowledge"
)

// gather reads the files that are named, or everything that is in force where
// the person stands.
func gather(p Process, paths []string) (*inforce.Loaded, place, error) {
	if p.Dir == "" {
		return nil, place{}, errNoFolder
	}
	pl := locate(p, "", "", p.Dir)
	if len(paths) == 0 {
		l := load(p, &pl, nil)
		l.ReadRoutes()
		l.Roles()
		return l, pl, nil
	}
	l, err := inforce.LoadPaths(paths)
	return l, pl, err
}

const errNoFolder = errorText("the working folder is not known; change into one that exists")

// The place where inline tests happen. It is the same on every machine, so
// that a rule's tests say the same to its author and in a build; nothing there
// is looked up.
const (
	testHome    = "/home/user"
	testProject = "/home/user/project"
)

func stand() rules.Stand {
	return rules.Stand{
		Settings: rules.Settings{Home: testHome, Own: rules.OwnInTests},
		Project:  testProject,
		Harness:  "claude-code",
		Known:    func(name string) bool { _, ok := harness.Tool(name); return ok },
	}
}

func analyseTest(ev *cardea.Event) *cardea.Event {
	return call.Analyse(ev, knowledge.World{Home: testHome})
}
