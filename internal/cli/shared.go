package cli

import (
	"cardea.dev"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/inforce"
	"cardea.dev/internal/ledger"
	"cardea.dev/internal/settings"
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
