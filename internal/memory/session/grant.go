package session

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"cardea.dev/internal/base/state"
)

// This file stores grants: the hook saw a session ask for something that the following command may
// do once. The command itself cannot find out which session runs it, since every agent can set the
// variable that names it.

const (
	grantPurpose = "grant"
	// grantLasts is how long a grant may wait for its command: a harness may ask its person before
	// it runs the command.
	grantLasts = 10 * time.Minute
	maxGrants  = 256
)

func (s *Store) grantPath(key []byte, session, what string) string {
	return filepath.Join(s.folder, "grants", hex.EncodeToString(state.Sign(key, grantPurpose, []byte(session), []byte(what)))[:40])
}

// Grant records that a session may do something once.
func (s *Store) Grant(session, what string, now time.Time) error {
	if s == nil {
		return errors.New("there is no state folder to keep a grant in; set HOME or XDG_STATE_HOME")
	}
	key, err := state.LoadKey(s.folder)
	if err != nil {
		return err
	}
	if err := state.Prune(filepath.Join(s.folder, "grants"), maxGrants, maxGrants/2); err != nil {
		return fmt.Errorf("keep a grant: %w", err)
	}
	text := []byte(now.UTC().Format(time.RFC3339))
	return state.WriteSigned(s.grantPath(key, session, what), key, grantPurpose, session+"\x00"+what, text)
}

// TakeGrant removes a grant, and reports whether there was a valid one.
func (s *Store) TakeGrant(session, what string, now time.Time) bool {
	if s == nil {
		return false
	}
	key, err := state.ReadKey(s.folder)
	if err != nil {
		return false
	}
	unlock, err := s.lockRegistrations()
	if err != nil {
		return false
	}
	defer unlock()
	path := s.grantPath(key, session, what)
	text, err := state.ReadSigned(path, key, grantPurpose, session+"\x00"+what, 64)
	if err != nil || os.Remove(path) != nil {
		return false
	}
	when, err := time.Parse(time.RFC3339, string(text))
	age := now.Sub(when)
	return err == nil && age > -time.Minute && age < grantLasts
}
