package hook

import (
	"slices"
	"time"

	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/memory/session"
)

// identity is the role and registration of the agent of an event.
type identity struct {
	// registered is the registration of its session.
	registered session.Registered
	// role is the agent's role, from is its source.
	role, from string
	// disabled is set if the person switched the gate off for the session or for all. missing
	// is set if the session needs a role and has none.
	disabled, missing bool
	// doubt is the reason why the registration cannot be trusted, or "".
	doubt string
}

// The sources of a role.
const (
	fromFlag         = "--role"
	fromRegistration = "the registration"
	fromAgents       = "sessions.agents"
	fromVariable     = "CARDEA_ROLE"
	fromDefault      = "sessions.default_role"
)

// pollEvery is the interval at which a call checks whether its session is registered by now.
const pollEvery = 200 * time.Millisecond

// identify returns the identity of an event's agent. A call of a team's session waits for its
// registration if one is required, since leads register agents a moment after they start them.
func (j *Evaluation) identify() identity {
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

// lookUp finds the agent's role. It uses the first of these: the agent's registration, the
// setting for the agent's type, the session's registration, CARDEA_ROLE if the settings
// trust it, the default.
func (j *Evaluation) lookUp(s settings.Sessions) identity {
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

// teamOfHarness returns the session's team according to the message or the harness's files.
func (j *Evaluation) teamOfHarness() string {
	if j.Event.Sent != nil {
		if name, is := j.Event.Sent.Fields()["team_name"].(string); is && name != "" {
			return name
		}
	}
	return claudecode.TeamOf(j.Place.Dirs.Claude, j.Event.Session, j.Event.Agent)
}
