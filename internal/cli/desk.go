package cli

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/inforce"
	"cardea.dev/internal/ledger"
	"cardea.dev/internal/redact"
	"cardea.dev/internal/roles"
	"cardea.dev/internal/session"
	"cardea.dev/internal/state"
)

// sessionDesk is where sessions are registered, whoever asks for it: a person at a terminal, a
// prompt that they typed, or a lead.
type sessionDesk struct {
	process Process
	place   *place
	loaded  *inforce.Loaded
	// by is who asks, as records say it.
	by string
}

// desk is the one of the judgement's place, for the person who typed a prompt.
func (j *judgement) desk() sessionDesk {
	return sessionDesk{process: j.process, place: &j.place, loaded: j.loaded, by: "person:" + j.process.userName()}
}

// request is what is asked for.
type request struct {
	session, agent, role, task string
	// promptFile is a file with the agent's prompt, "" for none.
	promptFile string
	lead       bool
}

// maxPrompt bounds an agent's prompt, in bytes.
const maxPrompt = 1 << 20

// register gives an agent a role.
func (d sessionDesk) register(r request) (string, error) {
	if err := d.knows(r.role); err != nil {
		return "", err
	}
	reg := session.Registration{Agent: r.agent, Role: r.role, Task: redact.New().Show(r.task), RegisteredAt: d.process.Now().UTC().Truncate(time.Second),
		RegisteredBy: d.by, Lead: r.lead}
	if r.promptFile != "" {
		data, err := state.ReadLinked(r.promptFile, maxPrompt)
		if err != nil {
			return "", fmt.Errorf("--prompt-file: %w", err)
		}
		sum := sha256.Sum256(data)
		reg.PromptHash = "sha256:" + hex.EncodeToString(sum[:])
		if reg.PromptPath, err = d.place.store.KeepPrompt(r.session, r.agent, redact.New().Show(string(data))); err != nil {
			return "", err
		}
	}
	before := ""
	_, err := d.place.store.Register(r.session, d.process.Now(), func(all *session.Registered) error {
		if old, ok := all.Agent(r.agent); ok {
			before = old.Role
		}
		all.Disabled, all.DisabledBy = time.Time{}, ""
		all.Team = cmp.Or(all.Team, claudecode.TeamOf(d.place.dirs.Claude, r.session, r.agent))
		return all.Put(reg)
	})
	if err != nil {
		return "", err
	}
	who := "session " + r.session
	if r.agent != "" {
		who = "agent " + r.agent + " of " + who
	}
	text := fmt.Sprintf("Registered %s as %q", who, r.role)
	if before != "" && before != r.role {
		text = fmt.Sprintf("Switched %s from %q to %q", who, before, r.role)
	}
	if r.lead {
		text += ", as a lead: " + d.mayGive()
	}
	return text + ".\n" + d.policy(r.role), nil
}

// mayGive says which roles a lead may give.
func (d sessionDesk) mayGive() string {
	if may := d.loaded.Settings.Sessions.LeadMayGive; len(may) > 0 {
		return "it may give new sessions of its team the role " + strings.Join(may, " or ")
	}
	return "it may give no role, since the setting sessions.lead_may_give is empty"
}

// knows is an error where there is no such role.
func (d sessionDesk) knows(role string) error {
	set := d.loaded.Roles()
	switch {
	case role == "":
		return errors.New("name a role: " + strings.Join(set.Names(), ", "))
	case !set.Has(role):
		return fmt.Errorf("there is no role %q; use one of %s", Plain(role), strings.Join(set.Names(), ", "))
	}
	return nil
}

// policy is what a role may write, in a line.
func (d sessionDesk) policy(role string) string {
	var allow, deny, shut []string
	for _, def := range d.loaded.Roles().Of(role) {
		allow = append(allow, roles.Texts(def.Paths.AllowWrite)...)
		deny = append(deny, roles.Texts(def.Paths.DenyWrite)...)
		shut = append(shut, roles.Texts(def.Paths.DenyRead)...)
	}
	line := "Path policy: may write " + cmp.Or(strings.Join(allow, ", "), "nothing without a question")
	if len(deny) > 0 {
		line += " | may not write " + strings.Join(deny, ", ")
	}
	if len(shut) > 0 {
		line += " | may not read " + strings.Join(shut, ", ")
	}
	return line
}

// switchTo gives a registered agent another role.
func (d sessionDesk) switchTo(r request) (string, error) {
	reg, err := d.place.store.Registered(r.session, d.process.Now())
	if err != nil {
		return "", err
	}
	old, ok := reg.Agent(r.agent)
	if !ok {
		return "", errors.New("this session is not registered, so there is no role to change; register it")
	}
	r.task, r.lead = cmp.Or(r.task, old.Task), r.lead || old.Lead
	return d.register(r)
}

// disable switches the gate off for a session.
func (d sessionDesk) disable(id string) (string, error) {
	_, err := d.place.store.Register(id, d.process.Now(), func(all *session.Registered) error {
		all.Disabled, all.DisabledBy = d.process.Now().UTC().Truncate(time.Second), d.by
		return nil
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Cardea is disabled for session %s: it allows nothing and asks nothing there, and the harness decides alone. "+
		"Denials of system and organisation, and what protects Cardea itself, still count.\nTo enable it again: /cardea enable", id), nil
}

// enable switches the gate on again.
func (d sessionDesk) enable(r request) (string, error) {
	all, err := d.place.store.Registered(r.session, d.process.Now())
	if err != nil {
		return "", err
	}
	old, has := all.Agent(r.agent)
	if r.role != "" {
		text, err := d.register(r)
		return strings.Replace(text, "Registered", "Enabled and registered", 1), err
	}
	if !has && d.loaded.Settings.Sessions.Required() {
		return "", errors.New("this session has no role, and needs one: type /cardea enable ROLE; " + d.knows("").Error())
	}
	if _, err := d.place.store.Register(r.session, d.process.Now(), func(all *session.Registered) error {
		all.Disabled, all.DisabledBy = time.Time{}, ""
		return nil
	}); err != nil {
		return "", err
	}
	text := fmt.Sprintf("Cardea is enabled for session %s.", r.session)
	if has {
		text += fmt.Sprintf(" Role: %s.\n%s", old.Role, d.policy(old.Role))
	}
	return text, nil
}

// sessionStatus is what is known of a session, for people and programs.
type sessionStatus struct {
	session.Registered
	// Role is the role in force, From where it comes from.
	Role   string `json:"role"`
	Policy string `json:"policy,omitempty"`
	// Allow, Deny and Ask are how many calls were decided so.
	Allow int `json:"allow"`
	Deny  int `json:"deny"`
	Ask   int `json:"ask"`
	// Uptime is how many seconds ago the session was registered, 0 where it is not.
	Uptime int `json:"uptime_seconds"`
}

// statusOf looks at a session.
func (d sessionDesk) statusOf(id string) (sessionStatus, error) {
	reg, err := d.place.store.Registered(id, d.process.Now())
	if err != nil {
		return sessionStatus{}, err
	}
	out := sessionStatus{Registered: reg}
	main, has := reg.Agent("")
	if has {
		out.Role, out.Uptime = main.Role, int(d.process.Now().Sub(main.RegisteredAt).Seconds())
	} else {
		out.Role = d.loaded.Settings.Sessions.DefaultRole
	}
	if out.Role != "" {
		out.Policy = d.policy(out.Role)
	}
	l, err := ledgerOf(d.process, d.place, d.loaded.Settings.Ledger)
	if err != nil {
		return out, err
	}
	for line, err := range l.Search(ledger.Query{Session: id}) {
		if err != nil {
			return out, err
		}
		switch {
		case !cardea.Kind(line.Entry.Event.String()).Answered():
		case line.Entry.Effect == cardea.Allow:
			out.Allow++
		case line.Entry.Effect == cardea.Ask:
			out.Ask++
		case line.Entry.Effect.Stricter(cardea.Ask):
			out.Deny++
		}
	}
	return out, nil
}

// status is a session's status as text.
func (d sessionDesk) status(id string) (string, error) {
	s, err := d.statusOf(id)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-12s %s\n", name+":", value)
		}
	}
	line("Session", id)
	if s.IsDisabled() {
		line("Disabled", fmt.Sprintf("since %s by %s", d.when(s.Disabled), s.DisabledBy))
	}
	line("Role", cmp.Or(s.Role, "none"))
	main, _ := s.Agent("")
	line("Task", main.Task)
	line("Team", s.Team)
	if !main.RegisteredAt.IsZero() {
		line("Registered", d.when(main.RegisteredAt)+" by "+main.RegisteredBy)
		line("Uptime", (time.Duration(s.Uptime) * time.Second).String())
	}
	if s.Policy != "" {
		fmt.Fprintln(&b, s.Policy)
	}
	for _, a := range s.Agents {
		if a.Agent != "" {
			line("Agent", fmt.Sprintf("%s as %s", a.Agent, a.Role))
		}
	}
	line("Calls", fmt.Sprintf("%d allowed, %d denied, %d asked", s.Allow, s.Deny, s.Ask))
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func (d sessionDesk) when(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// menuOf is the menu of roles.
func menuOf(set roles.Set) string {
	title := map[string]string{"implementation": "Implementation", "knowledge": "Knowledge", "full-access": "Full access", "": "Of this project"}
	var b strings.Builder
	b.WriteString("Cardea: this session has no role, and needs one before it may do more than read.\n\n" +
		"Show the person this menu, word by word, and stop. Do nothing else before they answered. They choose by typing one of the lines as a prompt; " +
		"you cannot choose for them, and no command that you run can.\n")
	byGroup := map[string][]string{}
	for _, name := range set.Names() {
		group := ""
		defs := set.Of(name)
		if i := slices.IndexFunc(defs, func(r roles.Role) bool { return r.Trusted }); i >= 0 {
			group = defs[i].Group
			if what := firstSentence(defs[i].Description); what != "" {
				name = fmt.Sprintf("%-18s %s", name, what)
			}
		}
		byGroup[group] = append(byGroup[group], "  /cardea register "+name)
	}
	for _, group := range append(slices.Clone(roles.Groups()), "") {
		if len(byGroup[group]) > 0 {
			fmt.Fprintf(&b, "\n%s:\n%s\n", title[group], strings.Join(byGroup[group], "\n"))
		}
	}
	b.WriteString("\nOr:\n  /cardea disable            switch Cardea off for this session\n")
	return b.String()
}

func firstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		return text[:i+1]
	}
	return text
}
