package hook

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/hook/gate"
)

// LeadHere returns the session in whose shell the command runs. is is true if a person
// registered it as a lead.
func (d Registrar) LeadHere() (id string, is bool) {
	id = d.Process.Env("CLAUDE_CODE_SESSION_ID")
	if id == "" {
		return "", false
	}
	reg, err := d.Place.Store.Registered(id, d.Process.Now())
	if err != nil {
		return "", false
	}
	main, ok := reg.Agent("")
	return id, ok && main.Lead && !reg.IsDisabled()
}

// RegisterByLead registers a new session of a lead's team. It needs a grant from the hook,
// which saw that the lead's own call asks for this. The variable with the lead's session
// proves nothing, since every agent can set it.
func (d Registrar) RegisterByLead(lead string, r Request) (string, error) {
	if err := d.leadMay(lead, r); err != nil {
		return "", fmt.Errorf("a lead may not do this: %w", err)
	}
	if !d.Place.Store.TakeGrant(lead, grantOf(r), d.Process.Now()) {
		return "", errors.New("no call of the lead's session asks for this; a lead runs exactly one \"cardea register\" as a command of its own")
	}
	d.By = "lead:" + lead
	return d.Register(r)
}

// LeadCall is the input of the MCP server's tool register.
type LeadCall struct {
	Session string `json:"session_id"`
	Role    string `json:"role"`
	Agent   string `json:"agent"`
	Task    string `json:"task"`
}

// leadTools are the names of that tool, by which the hook recognizes a lead's call of it:
// from the server that a person added as cardea, and from the plugin (Claude Code plugins
// reference, "MCP servers").
var leadTools = [...]string{"mcp__cardea__register", "mcp__plugin_cardea_cardea__register"}

// RegisterByAnyLead registers a session for the lead whose own call asks for exactly this,
// according to the hook's grant. The MCP server cannot tell which session called it.
func (d Registrar) RegisterByAnyLead(c LeadCall) (string, error) {
	r := Request{Session: c.Session, Role: c.Role, Agent: c.Agent, Task: c.Task}
	if err := d.Knows(r.Role); err != nil {
		return "", err
	}
	all, _ := d.Place.Store.AllRegistered(d.Process.Now()) // unreadable registrations are not leads
	refused := errors.New("no session that a person made a lead asks for this")
	for _, reg := range all {
		if main, ok := reg.Agent(""); !ok || !main.Lead || reg.IsDisabled() {
			continue
		}
		text, err := d.RegisterByLead(reg.Session, r)
		if err == nil {
			return text, nil
		}
		refused = err
	}
	return "", refused
}

// grantOf returns the name of the grant that a lead needs for r.
func grantOf(r Request) string {
	return strings.Join([]string{"register", r.Session, r.Agent, r.Role}, "\x00")
}

// leadMay returns why a lead may not register a session, or nil. It may register only a new
// session of its own team, never itself, with a role from the person's settings, and never
// as a lead.
func (d Registrar) leadMay(lead string, r Request) error {
	switch may := d.Loaded.Settings.Sessions.LeadMayGive; {
	case r.Session == "" || r.Session == lead:
		return errors.New("it cannot register itself")
	case r.Lead:
		return errors.New("only a person makes another lead")
	case !slices.Contains(may, r.Role):
		return fmt.Errorf("the role %q is not among those of the person's setting sessions.lead_may_give (%s)", Plain(r.Role), strings.Join(may, ", "))
	}
	reg, err := d.Place.Store.Registered(r.Session, d.Process.Now())
	if err != nil {
		return err
	}
	if _, is := reg.Agent(r.Agent); is || reg.IsDisabled() || r.Agent != "" && len(reg.Agents) > 0 {
		return errors.New("the session is registered already")
	}
	team, own := d.teamOf(r.Session, r.Agent), d.teamOf(lead, "")
	if own == "" || team != own {
		return errors.New("the session is not of the lead's team; a person registers it")
	}
	return nil
}

// teamOf returns the team of a session, according to the harness's files or its registration.
func (d Registrar) teamOf(id, agent string) string {
	if team := claudecode.TeamOf(d.Place.Dirs.Claude, id, agent); team != "" {
		return team
	}
	reg, err := d.Place.Store.Registered(id, d.Process.Now())
	if err != nil {
		return ""
	}
	return reg.Team
}

// gateSession returns what the gate needs of the event's session.
func (j *Evaluation) gateSession() gate.SessionFacts {
	s := gate.SessionFacts{ID: j.Event.Session, Disabled: j.identity.disabled, Missing: j.identity.missing, Doubt: j.identity.doubt, At: j.process.Now(),
		Judge: j.Judge, SendsPermissionRequest: sendsPermissionRequest(j.Event.Harness), NearAtOnce: j.NearAtOnce,
		AsksElsewhere: j.Loaded.Settings.Human.Mode == settings.ByQueue && !j.identity.disabled && (j.process.Queue != nil || j.process.Handover != nil)}
	if main, ok := j.identity.registered.Agent(""); ok && main.Lead && j.Event.Agent == "" && !s.Disabled {
		s.LeadMay = func(ev *cardea.Event) bool { _, may := j.leadRegisters(ev); return may }
	}
	return s
}

// flags maps the name of each flag of register to the field that it sets.
func (r *Request) flags() flags {
	return flags{"session-id": &r.Session, "role": &r.Role, "agent": &r.Agent, "task": &r.Task, "prompt-file": &r.PromptFile, "lead": &r.Lead}
}

// leadRegisters parses a lead's call that consists of exactly one "cardea register". may is
// true if the lead may run it.
func (j *Evaluation) leadRegisters(ev *cardea.Event) (r Request, may bool) {
	if ev.Call != nil && slices.Contains(leadTools[:], ev.Call.Tool) {
		return j.leadCalls(ev)
	}
	if ev.Call == nil || ev.Call.Tool != "Bash" || len(ev.Call.Parts) != 1 || len(ev.Call.Opaque)+len(ev.Faults) > 0 {
		return r, false
	}
	p := &ev.Call.Parts[0]
	plain := len(p.Opaque)+len(p.Wrappers)+len(p.Assigns) == 0 && !slices.ContainsFunc(p.Argv, func(w cardea.Word) bool { return !w.Static })
	if !plain || len(p.Argv) < 2 || p.Argv[0].Text != "cardea" || p.Argv[1].Text != "register" {
		return r, false
	}
	var args []string
	for _, w := range p.Argv[2:] {
		args = append(args, w.Text)
	}
	if parseFlags(args, r.flags()) != nil {
		return r, false
	}
	return r, j.registrar().leadMay(ev.Session, r) == nil
}

// leadCalls parses a lead's call of the tool register. may is false if a field is unknown
// or not a text.
func (j *Evaluation) leadCalls(ev *cardea.Event) (r Request, may bool) {
	if len(ev.Call.Opaque)+len(ev.Faults) > 0 {
		return r, false
	}
	to := map[string]*string{"session_id": &r.Session, "role": &r.Role, "agent": &r.Agent, "task": &r.Task}
	for name, value := range ev.Call.Input {
		text, is := value.(string)
		if to[name] == nil || !is {
			return r, false
		}
		*to[name] = text
	}
	return r, j.registrar().leadMay(ev.Session, r) == nil
}

// grantLead saves a grant for what a lead was allowed to do. The command that follows uses it.
func (j *Evaluation) grantLead(answered cardea.Effect) error {
	s := j.gateSession()
	if j.Event.Kind != cardea.PreToolUse || answered >= cardea.Deny || s.LeadMay == nil {
		return nil
	}
	r, may := j.leadRegisters(j.Event)
	if !may {
		return nil
	}
	return j.Place.Store.Grant(j.Event.Session, grantOf(r), j.process.Now())
}
