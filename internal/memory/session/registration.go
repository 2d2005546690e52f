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

// This file stores what a person said about sessions: the roles of agents and the disabled
// sessions. The gate trusts it, so each file is signed with the user's key, and concurrent changes
// wait for each other.

const (
	registrationPurpose = "registration of a session"
	// maxRegistration is the largest size of a session's file, in bytes.
	maxRegistration = 256 << 10
	// maxAgents is the largest number of registered agents in a session.
	maxAgents = 256
	// maxTask is the longest description of a task, in bytes.
	maxTask = 4 << 10
	// changeWait is how long a change waits for another one.
	changeWait = 10 * time.Second
	// Expiry is how long a registration stays valid after an event last needed it.
	Expiry = 30 * 24 * time.Hour
	// refreshEvery is the age of the recorded last use at which it is updated.
	refreshEvery = 24 * time.Hour
)

// Registration is the role and task of an agent, as a person or a lead registered them.
type Registration struct {
	// Agent is the harness's id of a subagent, "" for the session itself.
	Agent string `json:"agent,omitempty"`
	Role  string `json:"role"`
	// Task is the agent's task, in the words of the person or lead.
	Task string `json:"task,omitempty"`
	// PromptHash is the SHA-256 of the agent's prompt as given, PromptPath the file with the prompt
	// without its secrets.
	PromptHash string `json:"prompt_hash,omitempty"`
	PromptPath string `json:"prompt_path,omitempty"`
	// RegisteredAt is the time of the registration. RegisteredBy is "person:liam", or "lead:" with
	// the session of the lead.
	RegisteredAt time.Time `json:"registered_at"`
	RegisteredBy string    `json:"registered_by"`
	// Lead is set for a session that may register new sessions of its team.
	Lead bool `json:"lead,omitempty"`
}

// Registered is the record of a session.
type Registered struct {
	// Session is the harness's id.
	Session string `json:"session"`
	// Revision increases with every change of the record.
	Revision int64 `json:"revision,omitempty"`
	// Team is the name of the session's team, or "".
	Team string `json:"team,omitempty"`
	// Disabled is when the person switched the gate off for the session, zero where it is on.
	Disabled time.Time `json:"disabled,omitzero"`
	// DisabledBy is the person who switched it off.
	DisabledBy string         `json:"disabled_by,omitempty"`
	Agents     []Registration `json:"agents,omitempty"`
}

// Agent returns the registration of an agent, "" for the session itself.
func (r Registered) Agent(id string) (Registration, bool) {
	i := slices.IndexFunc(r.Agents, func(a Registration) bool { return a.Agent == id })
	if i < 0 {
		return Registration{}, false
	}
	return r.Agents[i], true
}

// IsDisabled reports whether the person switched the gate off for the session.
func (r Registered) IsDisabled() bool { return !r.Disabled.IsZero() }

// Put adds the registration of an agent, or replaces it.
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

// Registered returns the record of a session. It is empty for a session without a file, or one that
// no event needed for a long time. A file that this user's Cardea did not write is an error and
// ignored. If the session has no file, a forged file of any session is an error: it may be this
// one's under another name or key.
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
			_ = os.Chtimes(path, now, now) // it is still needed; the next event tries again
		}
	}
	return r, nil
}

// anyForged returns an error if any registration is forged.
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

// registrationPath returns the path of a session's file. Its name is a digest, since the id comes
// from the wire.
func (s *Store) registrationPath(key []byte, session string) string {
	return filepath.Join(s.registrations(), hex.EncodeToString(state.Sign(key, registrationPurpose, []byte(session)))[:40]+".signed")
}

// Register changes the record of a session. change gets the current record; its error leaves the
// file as it is. Concurrent changes wait for each other.
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
	r.Revision = max(r.Revision, now.Unix()) // also after a lost record
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

// lockRegistrations waits for the lock on registrations.
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

// AllRegistered returns the valid records of all sessions, newest first. Unreadable files are left
// out and reported as problems.
func (s *Store) AllRegistered(now time.Time) (all []Registered, problems []error) {
	if s == nil {
		return nil, nil
	}
	key, err := state.ReadKey(s.folder)
	if err != nil {
		key = make([]byte, state.KeySize) // a key that signed no file
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

// readAny reads the registration in a file without knowing its session.
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

// when returns the time of the last change to the record.
func (r Registered) when() time.Time {
	last := r.Disabled
	for _, a := range r.Agents {
		if a.RegisteredAt.After(last) {
			last = a.RegisteredAt
		}
	}
	return last
}

// KeepPrompt stores an agent's prompt, without its secrets, for the judge. It returns the path of
// the file.
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
