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

// The commands share these types with the hook, so that try shows the verdict of check.

type (
	place            = hook.Location
	evaluation       = hook.Evaluation
	harnessPaths     = hook.HarnessPaths
	sessionRegistrar = hook.Registrar
	request          = hook.Request
	checkFlags       = hook.CheckFlags
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

// newEvaluation returns the evaluation of a call that is only tried. No judge is asked,
// since that would cost money each time.
func newEvaluation(p Process, ev *cardea.Event) *evaluation {
	p.Judge = nil
	return hook.NewEvaluation(p.Process, ev)
}

func harnessPathsOf(p Process) harnessPaths { return hook.HarnessPathsOf(p.Process) }

func ledgerOf(p Process, pl *place, s settings.Ledger) (*ledger.Ledger, error) {
	return hook.LedgerOf(p.Process, pl, s)
}

// Plain returns text that is safe to show in one line.
func Plain(s string) string { return hook.Plain(s) }

// gather reads the named files, or everything that is in force in the working folder.
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

// The place of inline tests. It is the same on every machine, so that a rule's tests have
// the same result for its author and in a build. Nothing there is looked up.
const (
	testHome    = "/home/user"
	testProject = "/home/user/project"
)

func stand() rules.Stand {
	return rules.Stand{
		Options: rules.Options{Home: testHome, Own: rules.OwnInTests},
		Project: testProject,
		Harness: "claude-code",
		Known:   func(name string) bool { _, ok := harness.Tool(name); return ok },
	}
}

func analyseTest(ev *cardea.Event) *cardea.Event {
	return call.Analyse(ev, knowledge.System{Home: testHome})
}
