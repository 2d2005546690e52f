package session

import (
	"slices"
	"strconv"
	"time"

	"cardea.dev/internal/base/state"
)

// This file remembers the files that the lines of a session have created, so that a line that is
// run again may write its own output again. A path alone is not enough: it may be a link by then,
// or another file. So the file is identified when it is first seen, and no other one is accepted.

// maxMade is the largest number of files that a session remembers.
const maxMade = 64

const (
	madePathPurpose = "session made"
	madePurpose     = "session made signed"
)

// made is a file that a line of the session was allowed to create.
type made struct {
	// Path is a digest. Begin is a time before the line began, in nanoseconds.
	Path  string `json:"path"`
	Begin int64  `json:"begin"`
	// File is the identity from state.CreatedSince, "" until the file was seen.
	File string `json:"file,omitempty"`
	// Signed is a signature of all fields.
	Signed string `json:"signed"`
}

// making is a file that the line of this event is about to create.
type making struct {
	path  string
	begin time.Time
}

func (s *Session) signMade(m *made) string {
	return s.digest(madePurpose, s.harness, s.id, m.Path, strconv.FormatInt(m.Begin, 10), m.File)
}

// coarse is the largest delay of a file system's times after the clock: Linux counts them in ticks
// of up to 10 ms.
const coarse = 10 * time.Millisecond

// Makes records that an allowed line creates a file that did not exist at the time begin.
func (s *Session) Makes(path string, begin time.Time) {
	if s.store != nil && len(s.making) < maxMade {
		s.making, s.dirty = append(s.making, making{path, begin.Add(-coarse)}), true
	}
}

// Made reports whether an earlier line of this session created the file at a path.
func (s *Session) Made(path string) bool {
	if s.key == nil || len(s.stored.Made) == 0 {
		return false
	}
	name := s.digest(madePathPurpose, path)
	i := slices.IndexFunc(s.stored.Made, func(m made) bool { return m.Path == name })
	if i < 0 {
		return false
	}
	m := &s.stored.Made[i]
	file := state.CreatedSince(path, time.Unix(0, m.Begin))
	if file == "" || m.Signed != s.signMade(m) {
		return false
	}
	if m.File == "" {
		m.File = file
		m.Signed, s.dirty = s.signMade(m), true
	}
	return m.File == file
}

// fillMade puts the files that are about to be created into the file's form, where they replace
// earlier ones with the same path.
func (s *Session) fillMade() {
	for _, f := range s.making {
		m := made{Path: s.digest(madePathPurpose, f.path), Begin: f.begin.UnixNano()}
		m.Signed = s.signMade(&m)
		s.stored.Made = append(slices.DeleteFunc(s.stored.Made, func(old made) bool { return old.Path == m.Path }), m)
	}
	s.making = nil
	s.stored.Made = last(s.stored.Made, maxMade)
}
