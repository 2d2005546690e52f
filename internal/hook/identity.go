package hook

import (
	"slices"
	"time"

	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/memory/session"
)

// identity is who the agent of an event is to the gate.
type identity struct {
	// registered is what was said about its session.
	registered session.Registered
	// role is the agent's role, from says where it comes from.
	role, from string
	// disabled is set where the person switched the gate off for the session or for all, missing
	// where it needs a role and has none.
	disabled, missing bool
	// doubt says why what a person said about the session cannot be believed, "" where it
	// can.
	doubt string
}

// Where a role comes from.
const (
	fromFlag         = "--role"
	fromRegistration = "the registration"
	fromAgents       = "sessions.agents"
	fromVariable     = "CARDEA_ROLE"
	fromDefault      = "sessions.default_role"
)

// pollEvery is how often a call looks whether its session is registered by now.
const pollEvery = 200 * time.Millisecond

// identify finds out who the agent of an event is. A call of a team's session waits for
// its registration where one is required: leads register agents a moment after they
// start them.
func (j *Judgement) identify() identity {
	s := j.Loaded.Settings.Sessions
	id := j.lookUp(s)
	if !id.missing || !j.Event.Kind.Begins() || j.process.patience == 0 || s.Wait == 0 || j.teamOfHarness() == "" {
		return id
	}
	end := j.process.Now().Add(min(s.Wait, j.process.patience))
	for id.missing && j.process.Now().Before(end) {
		time.Sleep(pollEvery)
		id = j.lookUp(s)
	}
	return id
}

// lookUp finds the agent's role: what the person said about it, else about its kind,
// else about its session; else the variable, where the person's settings believe it;
// else the default.
func (j *Judgement) lookUp(s settings.Sessions) identity {
	ev := j.Event
	if ev.Role != "" {
		return identity{role: ev.Role, from: fromFlag}
	}
	reg, err := j.Place.Store.Registered(ev.Session, j.process.Now())
	j.Place.report(err)
	id := identity{registered: reg, disabled: reg.IsDisabled()}
	switch {
	case err != nil:
		id.doubt = err.Error()
	case j.Place.Session.Outdated(reg):
		id.disabled, id.doubt = false, "the registration of this session is lost, or an older copy of it was put back; a person registers the session again with \"cardea register\""
	}
	pause, err := j.Place.Store.Paused(j.process.Now())
	j.Place.report(err)
	id.disabled = id.disabled || pause != nil
	own, hasOwn := reg.Agent(ev.Agent)
	main, hasMain := reg.Agent("")
	switch byType := s.Agents[ev.AgentType]; {
	case hasOwn:
		id.role, id.from = own.Role, fromRegistration
	case byType != "" && ev.AgentType != "":
		id.role, id.from = byType, fromAgents
	case hasMain:
		id.role, id.from = main.Role, fromRegistration
	case j.process.Env("CARDEA_ROLE") != "" && slices.Contains(j.Loaded.Settings.FromEnv, "role"):
		id.role, id.from = j.process.Env("CARDEA_ROLE"), fromVariable
	case s.DefaultRole != "":
		id.role, id.from = s.DefaultRole, fromDefault
	}
	id.missing = s.Required() && id.role == "" && !id.disabled
	return id
}

// teamOfHarness is the team of the session by the message or the harness's files.
func (j *Judgement) teamOfHarness() string {
	if j.Event.Sent != nil {
		if name, is := j.Event.Sent.Fields()["team_name"].(string); is && name != "" {
			return name
		}
	}
	return claudecode.TeamOf(j.Place.Dirs.Claude, j.Event.Session, j.Event.Agent)
}
