package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/ask/supervisor"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/hook"
)

// maxEntries is the most queue entries that an agent sees.
const maxEntries = 50

// Face holds what the tools need of the program.
type Face struct {
	// Process is the process in which the server runs.
	Process hook.Process
	// Registrar returns the registrar of the working folder, with the current settings.
	Registrar func() (hook.Registrar, error)
	// Queue opens the queue of a state folder. Its second result closes it.
	Queue func(folder string) (queue.Queue, func() error, error)

	terminal supervisorSession
}

// Tools returns all tools. Those of the supervisor work until ctx ends.
func (f *Face) Tools(ctx context.Context) []supervisor.Tool {
	none := json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)
	return append([]supervisor.Tool{f.prompt(),
		{Name: "status", Input: json.RawMessage(`{"type":"object","properties":{"session_id":{"type":"string"}},"additionalProperties":false}`), Call: f.status,
			Description: "Show the gate that decides about tool calls here: its version, the session's role and what that may write, and what the person can type."},
		{Name: "queue", Input: none, Call: f.queue,
			Description: "List the tool calls of this project that wait for a person. It answers none of them."},
		{Name: "register", Input: json.RawMessage(`{"type":"object","properties":{"session_id":{"type":"string"},"role":{"type":"string"},"agent":{"type":"string"},"task":{"type":"string"}},` +
			`"required":["session_id","role"],"additionalProperties":false}`), Call: f.register,
			Description: "Give a new session of your team its role. Only for a session that the person made a lead, and with the roles that the person lists."},
		{Name: "disable", Input: none, Call: forPerson("switch Cardea off"),
			Description: "Say who can switch Cardea off for this session. It switches nothing off."},
		{Name: "enable", Input: none, Call: forPerson("switch Cardea on again"),
			Description: "Say who can switch Cardea on for this session. It switches nothing on."},
	}, f.terminal.tools(ctx, f)...)
}

// told is a text for the agent.
type told struct {
	Text string `json:"text"`
}

// forPerson returns a tool that says that only the person can do something. The agent does
// not learn how.
func forPerson(what string) func(context.Context, json.RawMessage) (any, error) {
	return func(context.Context, json.RawMessage) (any, error) {
		return told{"Only the person can " + what + " for this session. Tell them why it would help, and stop. No command that you run does it."}, nil
	}
}

// status is the result of the tool status.
type status struct {
	Version string `json:"version"`
	Project string `json:"project"`
	// Hooks lists the harnesses that have a hook of Cardea.
	Hooks   []string     `json:"hooks"`
	Session string       `json:"session,omitempty"`
	Role    string       `json:"role,omitempty"`
	Task    string       `json:"task,omitempty"`
	Team    string       `json:"team,omitempty"`
	Policy  string       `json:"policy,omitempty"`
	Lead    bool         `json:"lead"`
	Off     bool         `json:"disabled"`
	Counts  *decisions   `json:"calls,omitempty"`
	Person  []personWord `json:"the_person_can_type"`
	Note    string       `json:"note,omitempty"`
}

type decisions struct {
	Allow int `json:"allowed"`
	Deny  int `json:"denied"`
	Ask   int `json:"asked"`
}

// personWord is a prompt that a person can type.
type personWord struct {
	Type string `json:"type"`
	Does string `json:"does"`
}

var personWords = []personWord{{"/cardea status", "show this session's role and counts"}, {"/cardea register ROLE", "give this session a role"},
	{"/cardea switch ROLE", "give it another one"}, {"/cardea enable", "switch Cardea on again"},
	{"/cardea approve N", "approve entry N of the queue"}, {"/cardea deny N", "deny it"}}

// session returns the id of the session that the server belongs to, "" if unknown. It
// decides nothing.
func (f *Face) session() string { return f.Process.Env("CLAUDE_CODE_SESSION_ID") }

// status implements the tool status.
func (f *Face) status(_ context.Context, input json.RawMessage) (any, error) {
	var in struct {
		Session string `json:"session_id"`
	}
	if err := read(input, &in); err != nil {
		return nil, err
	}
	d, err := f.Registrar()
	if err != nil {
		return nil, err
	}
	s := status{Version: hook.ThisVersion(), Project: d.Place.Project, Session: cmp.Or(in.Session, f.session()), Hooks: []string{}, Person: personWords}
	at := hook.HarnessPathsOf(f.Process).At
	for _, h := range install.Harnesses() {
		if len(install.Inspect(h, at).Wirings) > 0 {
			s.Hooks = append(s.Hooks, h.Title)
		}
	}
	if len(s.Hooks) == 0 {
		s.Note = "Cardea is no hook of a harness here, so it decides about no call. The person runs \"cardea install\"."
	}
	if s.Session == "" {
		s.Note = strings.TrimSpace(s.Note + " The harness does not tell this server its session; give session_id.")
		return s, nil
	}
	known, err := d.StatusOf(s.Session)
	if err != nil {
		return nil, err
	}
	main, _ := known.Agent("")
	s.Role, s.Task, s.Team, s.Policy, s.Lead, s.Off = known.Role, main.Task, known.Team, known.Policy, main.Lead, known.IsDisabled()
	s.Counts = &decisions{known.Allow, known.Deny, known.Ask}
	return s, nil
}

// waiting is an entry of the queue as an agent sees it.
type waiting struct {
	ID      int64       `json:"id"`
	Session redact.Text `json:"session"`
	Role    string      `json:"role,omitempty"`
	Tool    string      `json:"tool"`
	Call    redact.Text `json:"call"`
	Effect  string      `json:"decided"`
	By      string      `json:"by"`
	Reason  redact.Text `json:"reason"`
	Ticket  bool        `json:"ticket"`
	Since   time.Time   `json:"since"`
	Until   time.Time   `json:"until"`
}

// pending is the result of the tool queue.
type pending struct {
	Waiting []waiting `json:"waiting"`
	// More is the number of further waiting calls of the project.
	More int    `json:"more,omitempty"`
	Note string `json:"note"`
}

// queue implements the tool queue.
func (f *Face) queue(ctx context.Context, _ json.RawMessage) (any, error) {
	d, err := f.Registrar()
	if err != nil {
		return nil, err
	}
	if d.Place.State == "" {
		return nil, errors.New("there is no state folder with a queue; set HOME or XDG_STATE_HOME")
	}
	q, closeQueue, err := f.Queue(d.Place.State)
	if err != nil {
		return nil, err
	}
	all, err := q.Pending(ctx)
	if err := errors.Join(err, closeQueue()); err != nil {
		return nil, err
	}
	out := pending{Waiting: []waiting{}, Note: "Only a person answers these: \"/cardea approve N\" or \"/cardea deny N\" as a prompt, or \"cardea queue\" in a terminal of their own."}
	project := redact.New().Show(d.Place.Project)
	for _, e := range all {
		switch {
		case e.Project.String() != project: // the agent does not see other projects' calls
		case len(out.Waiting) == maxEntries:
			out.More++
		default:
			out.Waiting = append(out.Waiting, waiting{e.ID, e.Session, e.Role, e.Tool, e.Subject, e.Effect.String(), e.By, e.Reason, e.Ticket, e.Created, e.Deadline})
		}
	}
	return out, nil
}

// register implements the tool register.
func (f *Face) register(_ context.Context, input json.RawMessage) (any, error) {
	var in hook.LeadCall
	if err := read(input, &in); err != nil {
		return nil, err
	}
	d, err := f.Registrar()
	if err != nil {
		return nil, err
	}
	text, err := d.RegisterByAnyLead(in)
	if err != nil {
		return nil, fmt.Errorf("%w. A person can: \"cardea register --session-id ID --role ROLE\" in a terminal of their own", err)
	}
	return told{text}, nil
}
