package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cardea.dev/internal/base/person"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/memory/ledger"
	"cardea.dev/internal/memory/session"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// registrarHere returns the registrar of the working folder.
func registrarHere(p Process) (sessionRegistrar, error) {
	l, pl, err := gather(p, nil)
	if err != nil {
		return sessionRegistrar{}, err
	}
	return sessionRegistrar{Process: p.Process, Place: &pl, Loaded: l, By: "person:" + p.UserName()}, nil
}

// flagSession declares --session-id.
func flagSession(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "session-id", "", "the session, by the harness's id")
}

// flagsOfAgent declares --role, and --agent for a subagent.
func flagsOfAgent(c *cobra.Command, r *request) *pflag.FlagSet {
	fs := c.Flags()
	fs.StringVar(&r.Role, "role", "", "the role; see \"cardea roles list\"")
	fs.StringVar(&r.Agent, "agent", "", "a subagent of the session, by the harness's id")
	return fs
}

// unnamed returns the error for a missing session, with recent sessions.
func unnamed(d sessionRegistrar) error {
	return wrongUsage{errors.New("name the session with --session-id" + prefixed("; recent ones: ", recentSessions(d)))}
}

// recentSessions returns the sessions of the last verdicts, for a person who needs an id.
func recentSessions(d sessionRegistrar) string {
	const most, lines = 5, 2000
	l, err := hook.LedgerOf(d.Process, d.Place, d.Loaded.Settings.Ledger)
	if err != nil {
		return ""
	}
	var out []string
	for line, err := range l.Search(ledger.Query{Limit: lines}) {
		id := line.Entry.Session.String()
		if err != nil || len(out) == most {
			break
		}
		if id != "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return strings.Join(out, ", ")
}

// say prints the result of a registrar.
func (p Process) say(text string) error {
	s := screenOn(p.Stdout, p.Env)
	s.block("", text)
	return s.err
}

// sayOf prints the result of a registrar, or returns its error.
func (p Process) sayOf(text string, err error) error {
	if err != nil {
		return err
	}
	return p.say(text)
}

// atRegistrar completes a command that changes a session, if the person confirms it: the
// session that is named, or the one in whose shell the command runs.
func atRegistrar(p Process, c *cobra.Command, what string, r *request, do func(sessionRegistrar) (string, error)) *cobra.Command {
	flagSession(c, &r.Session)
	c.RunE = runOn(p, registrarHere, func(d sessionRegistrar, _ []string) error {
		if r.Session = cmp.Or(r.Session, p.Env("CLAUDE_CODE_SESSION_ID")); r.Session == "" {
			return unnamed(d)
		}
		if err := p.byPerson(what, func(s *screen) { s.printf("session %s\n", r.Session) }); err != nil {
			return err
		}
		return p.sayOf(do(d))
	})
	return c
}

// roleByFlag accepts no argument. Its error explains that a command has the role as a flag,
// unlike a prompt.
func roleByFlag(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return errorText("in a terminal the role is given with --role, and the session with --session-id: " + c.UseLine())
	}
	return nil
}

// registerCommand returns the command "register".
func registerCommand(p Process) *cobra.Command {
	var r request
	c := &cobra.Command{
		Use:   "register --session-id ID --role ROLE [flags]",
		Short: "give a session, or one of its subagents, a role",
		Long: `Give a session a role. The paths of the role then say what its agent may read and
write; see docs/roles.md. Only a person may do this, at their own terminal. If you
type "/cardea register ROLE" as a prompt in a session, Cardea shows you this command
for that session. A session that is registered with --lead may register new sessions
of its team, with the roles that the setting sessions.lead_may_give lists.`,
		Example: `  cardea register --session-id 0b1c --role coder --task "the login form"
  cardea register --session-id 0b1c --agent a42 --role tester`,
		Args: roleByFlag,
	}
	fs := flagsOfAgent(c, &r)
	flagSession(c, &r.Session)
	fs.StringVar(&r.Task, "task", "", "what the agent is to do")
	fs.StringVar(&r.PromptFile, "prompt-file", "", "a file with the agent's prompt; it is kept on this machine, without secrets")
	fs.BoolVar(&r.Lead, "lead", false, "the session may register new sessions of its team")
	fs.BoolVar(&r.Supervisor, "supervisor", false, "the session's agents answer for its team; needs --process")
	fs.IntVar(&r.Harness.PID, "process", 0, "the number of the process of the harness that runs the session, which \"/cardea register ROLE --supervisor\" shows as a prompt")
	c.RunE = func(*cobra.Command, []string) error { return register(p, r) }
	return c
}

// register gives a session a role, if the person confirms it or a lead may do it.
func register(p Process, r request) error {
	if r.Supervisor != (r.Harness.PID != 0) {
		return wrongUsage{errors.New("--supervisor and --process go together; type \"/cardea register ROLE --supervisor\" as a prompt in the session, which shows the whole command")}
	}
	d, err := registrarHere(p)
	if err != nil {
		return err
	}
	if r.Session == "" {
		return unnamed(d)
	}
	if err := d.Knows(r.Role); err != nil {
		return wrongUsage{err}
	}
	if r.PromptFile != "" {
		r.PromptFile = within(p.Dir, r.PromptFile)
	}
	if lead, is := d.LeadHere(); is && !p.attended() {
		return p.sayOf(d.RegisterByLead(lead, r))
	}
	runs := ""
	if r.Supervisor {
		if r.Harness, runs, err = person.Process(r.Harness.PID); err != nil {
			return wrongUsage{fmt.Errorf("--process: %w", err)}
		}
	}
	show := func(s *screen) {
		s.printf("session %s\nrole    %s\n", r.Session, r.Role)
		s.printIf(r.Supervisor, "its harness, whose agents will answer for the team: process %d, %s\n", r.Harness.PID, Plain(runs))
	}
	if err := p.byPerson("give the session the role "+r.Role, show); err != nil {
		return err
	}
	return p.sayOf(d.Register(r))
}

func prefixed(prefix, text string) string {
	return onlyIf(text != "", prefix+text)
}

func switchCommand(p Process) *cobra.Command {
	var r request
	c := &cobra.Command{Use: "switch --role ROLE [--session-id ID] [--agent ID]", Short: "give a registered session another role",
		Long: "Give a registered session, or one of its subagents, another role. Only a person may do this.", Args: roleByFlag}
	flagsOfAgent(c, &r)
	return atRegistrar(p, c, "give the session another role", &r, func(d sessionRegistrar) (string, error) { return d.SwitchTo(r) })
}

// disableCommand returns the command "disable". It switches the gate off for a session, or
// with --for in all sessions.
func disableCommand(p Process) *cobra.Command {
	var r request
	var length time.Duration
	c := atRegistrar(p, &cobra.Command{Use: "disable --for 1h | --session-id ID", Short: "switch Cardea off for a while, or for a session",
		Long: `Switch Cardea off in all your sessions for a while, at most 24 hours, or in one session.
It then allows nothing and asks nothing there. Denials of system and organisation, and
what protects Cardea itself, still apply. The status line shows until when Cardea is off,
and "cardea enable" ends it before. Only a person may do this.`, Args: noArguments,
		Example: "  cardea disable --for 1h\n  cardea disable --session-id 0b1c"},
		"switch Cardea off for the session", &r, func(d sessionRegistrar) (string, error) { return d.Disable(r.Session) })
	one := c.RunE
	c.Flags().DurationVar(&length, "for", 0, "how long Cardea is off in all sessions: 30m, 8h")
	c.MarkFlagsMutuallyExclusive("for", "session-id")
	c.RunE = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("for") {
			return pause(p, length)
		}
		err := one(c, args)
		if errors.As(err, new(wrongUsage)) {
			return wrongUsage{withHint{err, "or switch Cardea off in all sessions for a while: \"" + c.CommandPath() + " --for 1h\""}}
		}
		return err
	}
	return cautious(c)
}

// pause switches the gate off in all sessions for a time, if the person confirms it.
func pause(p Process, length time.Duration) error {
	if length < time.Second || length > session.LongestPause {
		return wrongUsage{fmt.Errorf("--for is between 1s and %.0fh (got %s)", session.LongestPause.Hours(), length)}
	}
	d, err := registrarHere(p)
	if err != nil {
		return err
	}
	what := "switch Cardea off until " + hook.Clock(p.Now().Add(length), p.Now()) + " in all your sessions"
	if err := p.byPerson(what, func(*screen) {}); err != nil {
		return err
	}
	return p.sayOf(d.Pause(length))
}

// enableCommand returns the command "enable". Ending a pause needs no person, since it
// loosens nothing.
func enableCommand(p Process) *cobra.Command {
	var r request
	c := atRegistrar(p, &cobra.Command{Use: "enable [--session-id ID] [--role ROLE]", Short: "switch Cardea on again",
		Long: `End what "cardea disable --for" began. Switch Cardea on again for a session that was disabled. Where a role is required
and the session has none, name one. Only a person may do this.`, Args: noArguments},
		"switch Cardea on for the session", &r, func(d sessionRegistrar) (string, error) { return enableAsking(d, r) })
	one := c.RunE
	flagsOfAgent(c, &r)
	c.RunE = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("session-id") {
			return one(c, args)
		}
		d, err := registrarHere(p)
		if err != nil {
			return err
		}
		if ended, err := d.EndPause(); ended || err != nil {
			return p.sayOf("Cardea is on again in all your sessions.", err)
		}
		if p.Env("CLAUDE_CODE_SESSION_ID") == "" {
			return p.say("Cardea is on. To switch it on for a session that was disabled, name the session with --session-id.")
		}
		return one(c, args)
	}
	return c
}

// enableAsking enables a session, and asks for a role if it has none.
func enableAsking(d sessionRegistrar, r request) (string, error) {
	all, err := d.Place.Store.Registered(r.Session, d.Process.Now())
	if err != nil {
		return "", err
	}
	if _, has := all.Agent(r.Agent); !has && r.Role == "" && d.Loaded.Settings.Sessions.DefaultRole == "" {
		s := screenOn(d.Process.Stderr, d.Process.Env)
		s.printf("This session has no role. Roles: %s\nrole (none leaves it without one): ", strings.Join(d.Loaded.Roles().Names(), ", "))
		line, err := person.ReadLine(d.Process.Stdin, 256)
		if err != nil {
			return "", fmt.Errorf("read the role: %w", err)
		}
		r.Role = strings.TrimSpace(line)
	}
	return d.Enable(r)
}

// statusCommand returns the command "status".
func statusCommand(p Process) *cobra.Command {
	var id string
	c := jsonOn(p, registrarHere, &cobra.Command{
		Use:   "status [--session-id ID] [--json]",
		Short: "show a session: its role, task, paths and counts",
		Long: `Show what is known of a session: its role and task, what the role may write, how
many calls were allowed, denied and asked about, and since when it is registered.
Without an id it is the session in whose shell the command runs, or, elsewhere,
a list of all registered sessions.`,
		Args: noArguments,
	}, func(d sessionRegistrar, _ []string, asJSON bool) error { return status(p, d, id, asJSON) })
	flagSession(c, &id)
	return c
}

// status shows a session, or all registered sessions.
func status(p Process, d sessionRegistrar, id string, asJSON bool) error {
	if id = cmp.Or(id, p.Env("CLAUDE_CODE_SESSION_ID")); id != "" {
		found, err := d.StatusOf(id)
		if err != nil {
			return err
		}
		text, err := d.Status(id)
		if err != nil {
			return err
		}
		return p.answer(asJSON, found, func(s *screen) { s.block("", text) })
	}
	all, problems := d.Place.Store.AllRegistered(p.Now())
	for _, problem := range problems {
		p.warn(problem.Error())
	}
	return p.answer(asJSON, notNil(all), func(s *screen) {
		if pause := d.Place.Paused(p.Now()); pause != "" {
			s.printf("Cardea is off %s\n", pause)
		}
		s.printIf(len(all) == 0, "no session is registered\n")
		for _, r := range all {
			main, _ := r.Agent("")
			s.printf("%-38s %-18s %-9s %s\n", r.Session, cmp.Or(main.Role, "-"), onlyIf(r.IsDisabled(), "disabled"), main.Task)
		}
	})
}

func sessionCheckCommand(p Process) *cobra.Command {
	return &cobra.Command{
		Use:   "session-check",
		Short: "tell the model of an unregistered session to show the roles (a hook for prompts)",
		Long: `Read a hook message about a prompt from standard input. If the session has no role
and is not disabled, tell the model to show the person the roles and stop. Where
registration is required, "cardea check" does the same by itself.`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return ended(hook.SessionCheck(p.Process)) },
	}
}
