package hook

import (
	"context"

	"cardea.dev"
	"cardea.dev/internal/base/limit"
)

// SessionCheck answers a prompt's message like check, and adds the menu to a session
// without a role, even if none is required. It never blocks a prompt.
func SessionCheck(p Process) int {
	h := New(p, CheckFlags{Limit: limit.Hook})
	h.Decide = (*Evaluation).checkSession
	h.Run()
	return ExitOK
}

// checkSession returns the verdict of session-check.
func (j *Evaluation) checkSession(context.Context) cardea.Verdict {
	v := cardea.Verdict{Effect: cardea.Abstain}
	if j.identity.role == "" && !j.identity.disabled && j.Event.Agent == "" && j.Event.Session != "" {
		v.Context = []string{menuOf(j.Loaded.Roles())}
	}
	return v
}
