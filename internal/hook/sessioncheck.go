package hook

import (
	"context"

	"cardea.dev"
	"cardea.dev/internal/base/limit"
)

// SessionCheck answers a prompt's message as check does, and with the menu whether a
// role is required or not. It never keeps a prompt back.
func SessionCheck(p Process) int {
	h := New(p, CheckFlags{Limit: limit.Hook})
	h.Decide = (*Judgement).checkSession
	h.Run()
	return ExitOK
}

// checkSession is the verdict of session-check.
func (j *Judgement) checkSession(context.Context) cardea.Verdict {
	v := cardea.Verdict{Effect: cardea.Abstain}
	if j.identity.role == "" && !j.identity.disabled && j.Event.Agent == "" && j.Event.Session != "" {
		v.Context = []string{menuOf(j.Loaded.Roles())}
	}
	return v
}
