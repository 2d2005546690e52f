package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"cardea.dev/internal/base/state"
)

// This file records that a person switched the gate off in all sessions for a while. The gate obeys
// it, so the file is signed, and ignored if its times cannot be right.

const (
	pausePurpose = "pause of the gate"
	maxPause     = 4 << 10 // bytes
	// clockSkew is the largest difference between the clocks of a file system and a process.
	clockSkew = 10 * time.Second
	// LongestPause is the longest time that the gate can be off in all sessions.
	LongestPause = 24 * time.Hour
)

// Pause is a period in which the gate is off in all sessions.
type Pause struct {
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
	// By is the person who switched it off, as in [Registration].
	By string `json:"by"`
}

func (s *Store) pausePath() string { return filepath.Join(s.folder, "pause.signed") }

// Pause switches the gate off until the pause ends. It replaces an earlier one.
func (s *Store) Pause(p Pause) error {
	if s == nil {
		return errors.New("there is no state folder; set HOME or XDG_STATE_HOME")
	}
	if length := p.Until.Sub(p.From); length <= 0 || length > LongestPause {
		return fmt.Errorf("the gate can be off for at most %s", LongestPause)
	}
	key, err := state.LoadKey(s.folder)
	if err != nil {
		return err
	}
	return state.WriteSignedJSON(s.pausePath(), key, pausePurpose, "", p)
}

// Paused returns the pause that applies now, nil for none. An error names a file that is
// ignored because it is forged, copied, open to others, or has times that cannot be right.
func (s *Store) Paused(now time.Time) (*Pause, error) {
	if s == nil || !state.Exists(s.pausePath()) {
		return nil, nil
	}
	var p Pause
	key, err := state.ReadKey(s.folder)
	if err == nil {
		err = state.PrivateFile(s.pausePath())
	}
	if err == nil {
		err = state.ReadSignedJSON(s.pausePath(), key, pausePurpose, "", maxPause, &p)
	}
	switch length := p.Until.Sub(p.From); {
	case err != nil:
	case length <= 0 || length > LongestPause, p.From.After(now.Add(clockSkew)):
		err = errors.New("its times cannot be right")
	case writtenAt(s.pausePath()).After(p.From.Add(clockSkew)):
		err = errors.New("it was written later than it says")
	case now.Before(p.Until):
		return &p, nil
	default:
		return nil, nil
	}
	return nil, fmt.Errorf("%s is ignored, so Cardea is on: %w; remove the file", s.pausePath(), err)
}

// writtenAt returns when a file was last written, renamed or linked. On Unix no program can
// set that time.
func writtenAt(path string) (at time.Time) {
	if info, err := os.Lstat(path); err == nil {
		at = info.ModTime()
	}
	stamp := state.Stamp(path)
	if n, err := strconv.ParseInt(stamp[strings.LastIndexByte(stamp, '.')+1:], 10, 64); err == nil && n > at.UnixNano() {
		at = time.Unix(0, n)
	}
	return at
}

// EndPause switches the gate on again. ended is false if there was neither a pause nor an ignored
// file.
func (s *Store) EndPause(now time.Time) (ended bool, err error) {
	if s == nil || !state.Exists(s.pausePath()) {
		return false, nil
	}
	p, ignored := s.Paused(now)
	return p != nil || ignored != nil, os.Remove(s.pausePath())
}
