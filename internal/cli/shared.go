package cli

import (
	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/call"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/memory/ledger"
)

// What the commands share with the hook, by the names that they use: so that try says
// what check does, nothing of it is written twice.
type (
	place       = hook.Place
	judgement   = hook.Judgement
	site        = hook.Site
	sessionDesk = hook.Desk
	request     = hook.Request
	checkFlags  = hook.CheckFlags
)

const (
	exitOK    = hook.ExitOK
	exitError = hook.ExitError
	exitDeny  = hook.ExitDeny
)

func locate(p Process, harness, id, cwd string) place {
	return hook.Locate(p.Process, harness, id, cwd)
}

func load(p Process, pl *place, ev *cardea.Event) *inforce.Loaded {
	return hook.Load(p.Process, pl, ev)
}

// newJudgement judges a call that nobody makes, so no judge is asked: that would cost money
// each time.
func newJudgement(p Process, ev *cardea.Event) *judgement {
	p.Judge = nil
	return hook.NewJudgement(p.Process, ev)
}

func siteOf(p Process) site { return hook.SiteOf(p.Process) }

func ledgerOf(p Process, pl *place, s settings.Ledger) (*ledger.Ledger, error) {
	return hook.LedgerOf(p.Process, pl, s)
}

// Plain is text as a person can be shown it in one line.
func Plain(s string) string { return hook.Plain(s) }

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
