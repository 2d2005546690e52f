package hook

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/supervisor/post"
	"cardea.dev/internal/base/person"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/decide/roles"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/memory/ledger"
	"cardea.dev/internal/memory/session"
)

// Registrar registers sessions, for a person at a terminal, a prompt, or a lead.
type Registrar struct {
	Process Process
	Place   *Location
	Loaded  *inforce.Loaded
	// By is the name of the requester in records.
	By string
}

// registrar returns the Registrar of the evaluation's place, for a prompt.
func (j *Evaluation) registrar() Registrar {
	return Registrar{Process: j.process, Place: &j.Place, Loaded: j.Loaded, By: "prompt"}
}

// Request is a request to register an agent.
type Request struct {
	Session, Agent, Role, Task string
	// PromptFile is a file with the agent's prompt, or "".
	PromptFile string
	Lead       bool
	// Supervisor makes the session's agents answer for its team. Harness is then the process
	// of the harness that runs the session.
	Supervisor bool
	Harness    person.Running
}

// maxPrompt is the largest agent prompt, in bytes.
const maxPrompt = 1 << 20

// Register gives an agent a role and returns the text for the person. It fails if the role
// or the prompt file does not exist.
func (d Registrar) Register(r Request) (string, error) {
	if err := d.Knows(r.Role); err != nil {
		return "", err
	}
	reg := session.Registration{Agent: r.Agent, Role: r.Role, Task: redact.New().Show(r.Task), RegisteredAt: d.Process.Now().UTC().Truncate(time.Second),
		RegisteredBy: d.By, Lead: r.Lead}
	if r.PromptFile != "" {
		data, err := state.ReadLinked(r.PromptFile, maxPrompt)
		if err != nil {
			return "", fmt.Errorf("--prompt-file: %w", err)
		}
		sum := sha256.Sum256(data)
		reg.PromptHash = "sha256:" + hex.EncodeToString(sum[:])
		if reg.PromptPath, err = d.Place.Store.KeepPrompt(r.Session, r.Agent, redact.New().Show(string(data))); err != nil {
			return "", err
		}
	}
	before := ""
	all, err := d.Place.Store.Register(r.Session, d.Process.Now(), func(all *session.Registered) error {
		if old, ok := all.Agent(r.Agent); ok {
			before = old.Role
		}
		all.Disabled, all.DisabledBy = time.Time{}, ""
		all.Team = cmp.Or(all.Team, claudecode.TeamOf(d.Place.Dirs.Claude, r.Session, r.Agent))
		return all.Put(reg)
	})
	if err != nil {
		return "", err
	}
	who := "session " + r.Session
	if r.Agent != "" {
		who = "agent " + r.Agent + " of " + who
	}
	text := fmt.Sprintf("Registered %s as %q", who, r.Role)
	if before != "" && before != r.Role {
		text = fmt.Sprintf("Switched %s from %q to %q", who, before, r.Role)
	}
	if r.Lead {
		text += ", as a lead: " + d.mayGive()
	}
	if r.Agent == "" {
		post, err := d.supervises(r, all.Team)
		if err != nil {
			return "", fmt.Errorf("%s, but not as supervisor: %w", text, err)
		}
		text += post
	}
	return text + ".\n" + d.policy(r.Role), nil
}

// supervises makes a session the supervisor of its team, or ends that. It returns the end
// of the sentence that reports it.
func (d Registrar) supervises(r Request, team string) (string, error) {
	posts := post.Posts{State: d.Place.State, Runtime: d.Place.Dirs.Runtime}
	if old, is := posts.OfSession(team, r.Session); is && !r.Supervisor {
		return ", and no longer as the supervisor of " + teamName(team), posts.Dismiss(old)
	}
	if !r.Supervisor {
		return "", nil
	}
	_, err := posts.Appoint(post.Post{Team: team, Session: r.Session, Process: r.Harness, By: d.By, At: d.Process.Now().UTC().Truncate(time.Second)})
	return ", as the supervisor of " + teamName(team), err
}

// teamName returns the name of a team for people.
func teamName(team string) string {
	if team == "" {
		return "the sessions of no team"
	}
	return "team " + team
}

// mayGive returns which roles a lead may give, as text.
func (d Registrar) mayGive() string {
	if may := d.Loaded.Settings.Sessions.LeadMayGive; len(may) > 0 {
		return "it may give new sessions of its team the role " + strings.Join(may, " or ")
	}
	return "it may give no role, since the setting sessions.lead_may_give is empty"
}

// Knows returns an error if there is no such role.
func (d Registrar) Knows(role string) error {
	set := d.Loaded.Roles()
	switch {
	case role == "":
		return errors.New("name a role: " + strings.Join(set.Names(), ", "))
	case !set.Has(role):
		return fmt.Errorf("there is no role %q; use one of %s", Plain(role), strings.Join(set.Names(), ", "))
	}
	return nil
}

// policy returns in one line what a role may write and may not read.
func (d Registrar) policy(role string) string {
	var allow, deny, shut []string
	for _, def := range d.Loaded.Roles().Of(role) {
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

// SwitchTo gives a registered agent another role.
func (d Registrar) SwitchTo(r Request) (string, error) {
	reg, err := d.Place.Store.Registered(r.Session, d.Process.Now())
	if err != nil {
		return "", err
	}
	old, ok := reg.Agent(r.Agent)
	if !ok {
		return "", errors.New("this session is not registered, so there is no role to change; register it")
	}
	r.Task, r.Lead = cmp.Or(r.Task, old.Task), r.Lead || old.Lead
	return d.Register(r)
}

// Disable switches the gate off for a session and returns the text for the person.
func (d Registrar) Disable(id string) (string, error) {
	_, err := d.Place.Store.Register(id, d.Process.Now(), func(all *session.Registered) error {
		all.Disabled, all.DisabledBy = d.Process.Now().UTC().Truncate(time.Second), d.By
		return nil
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Cardea is disabled for session %s: it allows nothing and asks nothing there, and the harness decides alone. "+
		"Denials of system and organisation, and what protects Cardea itself, still count.\nTo enable it again: type /cardea enable as a prompt, or run \"cardea enable\" in a terminal", id), nil
}

// Enable switches the gate on again for a session, and ends a pause of all sessions.
func (d Registrar) Enable(r Request) (string, error) {
	if _, err := d.EndPause(); err != nil {
		return "", err
	}
	all, err := d.Place.Store.Registered(r.Session, d.Process.Now())
	if err != nil {
		return "", err
	}
	old, has := all.Agent(r.Agent)
	if r.Role != "" {
		text, err := d.Register(r)
		return strings.Replace(text, "Registered", "Enabled and registered", 1), err
	}
	if !has && d.Loaded.Settings.Sessions.Required() {
		return "", errors.New("this session has no role, and needs one; " + d.Knows("").Error())
	}
	if all.IsDisabled() {
		if _, err := d.Place.Store.Register(r.Session, d.Process.Now(), func(all *session.Registered) error {
			all.Disabled, all.DisabledBy = time.Time{}, ""
			return nil
		}); err != nil {
			return "", err
		}
	}
	text := fmt.Sprintf("Cardea is enabled for session %s.", r.Session)
	if has {
		text += fmt.Sprintf(" Role: %s.\n%s", old.Role, d.policy(old.Role))
	}
	return text, nil
}

// sessionStatus is the status of a session, for people and programs.
type sessionStatus struct {
	session.Registered
	// Role is the role in force.
	Role   string `json:"role"`
	Policy string `json:"policy,omitempty"`
	// Allow, Deny and Ask are the numbers of calls with that effect.
	Allow int `json:"allow"`
	Deny  int `json:"deny"`
	Ask   int `json:"ask"`
	// Uptime is the number of seconds since the registration, 0 if the session is not registered.
	Uptime int `json:"uptime_seconds"`
}

// StatusOf returns the status of a session.
func (d Registrar) StatusOf(id string) (sessionStatus, error) {
	reg, err := d.Place.Store.Registered(id, d.Process.Now())
	if err != nil {
		return sessionStatus{}, err
	}
	out := sessionStatus{Registered: reg}
	main, has := reg.Agent("")
	if has {
		out.Role, out.Uptime = main.Role, int(d.Process.Now().Sub(main.RegisteredAt).Seconds())
	} else {
		out.Role = d.Loaded.Settings.Sessions.DefaultRole
	}
	if out.Role != "" {
		out.Policy = d.policy(out.Role)
	}
	l, err := LedgerOf(d.Process, d.Place, d.Loaded.Settings.Ledger)
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

// Status returns a session's status as text.
func (d Registrar) Status(id string) (string, error) {
	s, err := d.StatusOf(id)
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
	line("Off", d.Place.Paused(d.Process.Now()))
	if s.IsDisabled() {
		line("Disabled", fmt.Sprintf("since %s by %s", d.when(s.Disabled), s.DisabledBy))
	}
	line("Role", cmp.Or(s.Role, "none"))
	main, _ := s.Agent("")
	line("Task", main.Task)
	line("Team", s.Team)
	if post, is := (post.Posts{State: d.Place.State}).OfSession(s.Team, id); is {
		line("Supervisor", fmt.Sprintf("of %s since %s by %s", teamName(s.Team), d.when(post.At), post.By))
	}
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

func (d Registrar) when(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// menuOf returns the menu of roles for the person.
func menuOf(set roles.Set) string {
	title := map[string]string{"implementation": "Implementation", "knowledge": "Knowledge", "full-access": "Full access", "": "Of this project"}
	var b strings.Builder
	b.WriteString("Cardea: this session has no role, and needs one before it may do more than read.\n\n" +
		"Show the person this menu, word by word, and stop. Do nothing else before they answered. They choose by typing one of the lines as a prompt, " +
		"and running the command that Cardea then shows, in a terminal of their own. You cannot choose for them, and no command that you run can.\n")
	byGroup := map[string][]string{}
	for _, name := range set.Names() {
		group := ""
		defs := set.Of(name)
		if i := slices.IndexFunc(defs, func(r roles.Role) bool { return r.Trusted }); i >= 0 {
			group = defs[i].Group
			if what := FirstSentence(defs[i].Description); what != "" {
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
	return b.String()
}

// FirstSentence returns the first sentence of a text, in one line.
func FirstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if i := strings.Index(text, ". "); i >= 0 {
		return text[:i+1]
	}
	return text
}

// UserName returns the user's name as the system knows it, else the address of the git
// configuration, else a placeholder.
func (p Process) UserName() string {
	if p.Machine.User != nil {
		if name, err := p.Machine.User(); err == nil && name != "" {
			return name
		}
	}
	home, _ := p.Machine.Home()
	for _, file := range []string{".gitconfig", ".config/git/config"} {
		data, err := state.ReadLinked(filepath.Join(home, file), 1<<20)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && strings.TrimSpace(name) == "email" {
				return strings.Trim(strings.TrimSpace(value), `"`)
			}
		}
	}
	return "somebody"
}

// Clock returns a time for people, with the date if it is not today.
func Clock(t, now time.Time) string {
	form := "15:04"
	if t, now = t.Local(), now.Local(); t.Format(time.DateOnly) != now.Format(time.DateOnly) {
		form = "2006-01-02 15:04"
	}
	return t.Format(form)
}

// Pause switches the gate off in all sessions for a time.
func (d Registrar) Pause(length time.Duration) (string, error) {
	now := d.Process.Now().UTC().Truncate(time.Second)
	p := session.Pause{From: now, Until: now.Add(length), By: d.By}
	if err := d.Place.Store.Pause(p); err != nil {
		return "", err
	}
	until := Clock(p.Until, now)
	text := "Cardea is off until " + until + " in all your sessions: it allows nothing and asks nothing, and the harness decides alone. " +
		"Denials of system and organisation, and what protects Cardea itself, still apply.\nTo end it before: cardea enable"
	return text, d.note("GateOff", "Cardea is off until "+until+" in all sessions")
}

// EndPause switches the gate on again in all sessions. ended is false if it was already on.
func (d Registrar) EndPause() (ended bool, err error) {
	if ended, err = d.Place.Store.EndPause(d.Process.Now()); ended && err == nil {
		err = d.note("GateOn", "Cardea is on again in all sessions")
	}
	return ended, err
}

// Paused returns until when the gate is off in all sessions, as "until 14:05 in all
// sessions, by liam", or "".
func (pl *Location) Paused(now time.Time) string {
	if p, err := pl.Store.Paused(now); err == nil && p != nil {
		return "until " + Clock(p.Until, now) + " in all sessions, by " + Plain(strings.TrimPrefix(p.By, "person:"))
	}
	return ""
}

// note records in the ledger, at any level setting, what a person did with the gate.
func (d Registrar) note(kind cardea.Kind, text string) error {
	dir, _ := d.Process.ledgerDir(d.Place, d.Loaded.Settings.Ledger)
	key, err := state.LoadKey(d.Place.State)
	if err != nil {
		return err
	}
	s, r, now := d.Loaded.Settings.Ledger, redact.New(), d.Process.Now()
	l, err := ledger.Open(dir, ledger.Options{Key: key, Redactor: r, Levels: ledger.AllLevels(), KeepDays: s.KeepDays, MaxMB: s.MaxMB, Now: d.Process.Now})
	if err != nil {
		return err
	}
	ev := &cardea.Event{Kind: kind, Cwd: d.Process.Dir, Project: d.Place.Project}
	e := ledger.NewEntry(ev, cardea.Verdict{By: d.By}, ledger.Circumstances{Redactor: r, Key: key, Now: now, Version: ThisVersion()})
	e.Tool, e.Input.Text = e.Event, r.Text(text)
	return l.Append(e)
}
