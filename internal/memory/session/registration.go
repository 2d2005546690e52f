package session

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cardea.dev/internal/base/state"
)

// This file keeps what a person said about sessions: which role an agent has, and
// which sessions are disabled. It is believed, so each file is signed with the user's
// key, and several processes that change it wait for each other.

const (
	registrationPurpose = "registration of a session"
	// maxRegistration bounds the file of a session, in bytes.
	maxRegistration = 256 << 10
	// maxAgents is how many agents of a session can be registered.
	maxAgents = 256
	// maxTask bounds the description of a task, in bytes.
	maxTask = 4 << 10
	// changeWait is how long a change waits for another one.
	changeWait = 10 * time.Second
	// Expiry is how long a registration counts that no event needed.
	Expiry = 30 * 24 * time.Hour
	// refreshEvery is how old the last use of a registration is before it is noted
	// again.
	refreshEvery = 24 * time.Hour
)

// Registration is what a person, or a lead for them, said about an agent.
type Registration struct {
	// Agent is the harness's id of a subagent, "" for the session itself.
	Agent string `json:"agent,omitempty"`
	Role  string `json:"role"`
	// Task is what the agent is to do, in the words of who registered it.
	Task string `json:"task,omitempty"`
	// PromptHash is the SHA-256 of the agent's prompt as it was given, and PromptPath
	// where it is kept without its secrets.
	PromptHash string `json:"prompt_hash,omitempty"`
	PromptPath string `json:"prompt_path,omitempty"`
	// RegisteredAt and RegisteredBy say when, and by whom: "person:liam", or
	// "lead:" with the session of the lead.
	RegisteredAt time.Time `json:"registered_at"`
	RegisteredBy string    `json:"registered_by"`
	// Lead is set for a session that may register new ones of its team.
	Lead bool `json:"lead,omitempty"`
}

// Registered is all that was said about a session.
type Registered struct {
	// Session is the harness's id.
	Session string `json:"session"`
	// Revision counts the changes of the record.
	Revision int64 `json:"revision,omitempty"`
	// Team is the name of its team, "" for none.
	Team string `json:"team,omitempty"`
	// Disabled is when the person switched the gate off for it, zero where it is on.
	Disabled time.Time `json:"disabled,omitzero"`
	// DisabledBy is who did.
	DisabledBy string         `json:"disabled_by,omitempty"`
	Agents     []Registration `json:"agents,omitempty"`
}

// Agent is what was said about an agent, "" for the session itself.
func (r Registered) Agent(id string) (Registration, bool) {
	i := slices.IndexFunc(r.Agents, func(a Registration) bool { return a.Agent == id })
	if i < 0 {
		return Registration{}, false
	}
	return r.Agents[i], true
}

// IsDisabled reports whether the person switched the gate off for the session.
func (r Registered) IsDisabled() bool { return !r.Disabled.IsZero() }

// Put notes what is said about an agent, in the place of what was.
func (r *Registered) Put(reg Registration) error {
	if len(reg.Task) > maxTask {
		return fmt.Errorf("the task is longer than %d bytes; say it in fewer words", maxTask)
	}
	r.Agents = slices.DeleteFunc(slices.Clone(r.Agents), func(a Registration) bool { return a.Agent == reg.Agent })
	if len(r.Agents) >= maxAgents {
		return fmt.Errorf("%d agents of this session are registered already; disable the session and begin a new one", maxAgents)
	}
	r.Agents = append(r.Agents, reg)
	return nil
}

// Registered reads what was said about a session. Nothing was said where there is no
// file, or one that no event needed for a long time. A file that this user's Cardea did
// not write is an error, and counts for nothing. Where the session has no file, that of any
// session is: it may be this one's under another name or key.
func (s *Store) Registered(session string, now time.Time) (Registered, error) {
	none := Registered{Session: session}
	if s == nil || session == "" || !state.Exists(s.registrations()) {
		return none, nil
	}
	key, err := state.ReadKey(s.folder)
	if err != nil {
		return none, s.anyForged(now)
	}
	path := s.registrationPath(key, session)
	r, err := readRegistered(path, key, session)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return none, s.anyForged(now)
	case err != nil:
		return none, fmt.Errorf("read the registration %s: %w; it counts for nothing, and every call of the session asks. Run \"cardea register\" for the session again", path, err)
	}
	if info, err := os.Lstat(path); err == nil {
		switch age := now.Sub(info.ModTime()); {
		case age > Expiry:
			return none, nil
		case age > refreshEvery:
			_ = os.Chtimes(path, now, now) // it is needed still; the next event tries again
		}
	}
	return r, nil
}

// anyForged is an error where a registration of some session is not this user's.
func (s *Store) anyForged(now time.Time) error {
	if _, problems := s.AllRegistered(now); len(problems) > 0 {
		return problems[0]
	}
	return nil
}

func readRegistered(path string, key []byte, session string) (r Registered, err error) {
	if err := state.ReadSignedJSON(path, key, registrationPurpose, session, maxRegistration, &r); err != nil {
		return r, err
	}
	if r.Session != session {
		return r, state.ErrForged
	}
	return r, nil
}

func (s *Store) registrations() string { return filepath.Join(s.folder, "registered") }

// registrationPath is a session's file. Its name is a digest, since an id comes from
// the wire.
func (s *Store) registrationPath(key []byte, session string) string {
	return filepath.Join(s.registrations(), hex.EncodeToString(state.Sign(key, registrationPurpose, []byte(session)))[:40]+".signed")
}

// Register changes what is said about a session. change is given what was said, and
// its error leaves that as it is. Of several processes each sees what the one before
// it wrote.
func (s *Store) Register(session string, now time.Time, change func(*Registered) error) (Registered, error) {
	none := Registered{Session: session}
	if s == nil {
		return none, errors.New("there is no state folder to keep registrations in; set HOME or XDG_STATE_HOME")
	}
	if session == "" || len(session) > 1024 || strings.ContainsFunc(session, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return none, errors.New("this is no id of a session; use the one that the harness shows, or that \"cardea audit search\" lists")
	}
	key, err := state.LoadKey(s.folder)
	if err != nil {
		return none, err
	}
	path := s.registrationPath(key, session)
	unlock, err := s.lockRegistrations()
	if err != nil {
		return none, err
	}
	defer unlock()
	r, err := s.Registered(session, now)
	if err != nil && !errors.Is(err, state.ErrForged) {
		return none, err
	}
	r.Revision = max(r.Revision, now.Unix()) // also behind a record that is lost
	r.Revision++
	if err := change(&r); err != nil {
		return none, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return none, err
	}
	if len(text) > maxRegistration {
		return none, errors.New("too much is said about this session; use shorter tasks")
	}
	if !state.Exists(path) {
		if err := state.Prune(s.registrations(), maxFiles, keepFiles); err != nil {
			return none, err
		}
	}
	if err := state.WriteSigned(path, key, registrationPurpose, session, text); err != nil {
		return none, fmt.Errorf("keep the registration: %w", err)
	}
	return r, nil
}

// lockRegistrations waits until no other process changes registrations.
func (s *Store) lockRegistrations() (unlock func(), err error) {
	path := filepath.Join(s.folder, "registered.lock")
	f, _, err := state.Open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, fmt.Errorf("lock the registrations: %w", err)
	}
	if err := state.Lock(f, changeWait); err != nil {
		return nil, errors.Join(fmt.Errorf("lock the registrations %s: %w; try again", path, err), f.Close())
	}
	return func() { _ = f.Close() }, nil
}

// AllRegistered are the registrations of all sessions that count, newest first. What
// cannot be read is left out, and told.
func (s *Store) AllRegistered(now time.Time) (all []Registered, problems []error) {
	if s == nil {
		return nil, nil
	}
	key, err := state.ReadKey(s.folder)
	if err != nil {
		key = make([]byte, state.KeySize) // which signed nothing
	}
	names, err := state.Names(s.registrations(), maxFiles)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, []error{err}
	}
	for _, name := range names {
		if !strings.HasSuffix(name, ".signed") {
			continue
		}
		path := filepath.Join(s.registrations(), name)
		r, err := readAny(path, key)
		if err == nil && s.registrationPath(key, r.Session) != path {
			err = state.ErrForged
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("read the registration %s: %w; it counts for nothing, and sessions without a registration ask. Remove it, and register its session again", path, err))
			continue
		}
		if info, err := os.Lstat(path); err == nil && now.Sub(info.ModTime()) <= Expiry {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Registered) int { return b.when().Compare(a.when()) })
	return all, problems
}

// readAny reads a registration whose session is not known yet.
func readAny(path string, key []byte) (r Registered, err error) {
	all, err := state.Read(path, state.SignatureSize+maxRegistration)
	if err != nil {
		return r, err
	}
	if len(all) < state.SignatureSize || json.Unmarshal(all[state.SignatureSize:], &r) != nil {
		return r, state.ErrForged
	}
	return readRegistered(path, key, r.Session)
}

// when is when something was said last.
func (r Registered) when() time.Time {
	last := r.Disabled
	for _, a := range r.Agents {
		if a.RegisteredAt.After(last) {
			last = a.RegisteredAt
		}
	}
	return last
}

// KeepPrompt keeps an agent's prompt, without its secrets, for the judge. It gives the
// path of the file.
func (s *Store) KeepPrompt(session, agent, redacted string) (path string, err error) {
	if s == nil {
		return "", errors.New("there is no state folder to keep the prompt in; set HOME or XDG_STATE_HOME")
	}
	key, err := state.LoadKey(s.folder)
	if err != nil {
		return "", err
	}
	name := hex.EncodeToString(state.Sign(key, "prompt of an agent", []byte(session), []byte(agent)))[:40]
	dir := filepath.Join(s.folder, "prompts")
	if err := state.Prune(dir, maxFiles, keepFiles); err != nil {
		return "", err
	}
	path = filepath.Join(dir, name+".txt")
	if err := state.Write(path, []byte(redacted)); err != nil {
		return "", fmt.Errorf("keep the prompt: %w", err)
	}
	return path, nil
}
