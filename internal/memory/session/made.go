package session

import (
	"slices"
	"strconv"
	"time"

	"cardea.dev/internal/base/state"
)

// This file remembers the files that the lines of a session have made, so that a line
// that is run again may write its own output again. A path alone says little: it may be a
// link by then, or another file. So the file is identified where it is seen first, and
// from then on no other one counts.

// maxMade is how many files a session remembers. Then the oldest are forgotten.
const maxMade = 64

const (
	madePathPurpose = "session made"
	madePurpose     = "session made signed"
)

// made is a file that a line of the session was allowed to make.
type made struct {
	// Path is a digest. Begin is a time before the line began, in nanoseconds.
	Path  string `json:"path"`
	Begin int64  `json:"begin"`
	// File is what state.CreatedSince calls the file, "" until it was seen.
	File string `json:"file,omitempty"`
	// Signed is a signature of all of it.
	Signed string `json:"signed"`
}

// making is a file that the line of this event is about to make.
type making struct {
	path  string
	begin time.Time
}

func (s *Session) signMade(m *made) string {
	return s.digest(madePurpose, s.harness, s.id, m.Path, strconv.FormatInt(m.Begin, 10), m.File)
}

// coarse is how far the times of a file system may lie behind the clock: Linux counts
// them in ticks of up to 10 ms.
const coarse = 10 * time.Millisecond

// Makes notes that a line which is allowed makes a file that was not there at a time.
func (s *Session) Makes(path string, begin time.Time) {
	if s.store != nil && len(s.making) < maxMade {
		s.making, s.dirty = append(s.making, making{path, begin.Add(-coarse)}), true
	}
}

// Made reports whether the file under a path is one that an earlier line of this session
// has made.
func (s *Session) Made(path string) bool {
	if s.key == nil || len(s.kept.Made) == 0 {
		return false
	}
	name := s.digest(madePathPurpose, path)
	i := slices.IndexFunc(s.kept.Made, func(m made) bool { return m.Path == name })
	if i < 0 {
		return false
	}
	m := &s.kept.Made[i]
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

// fillMade puts the files that are about to be made into the file's form, in the place
// of earlier ones of the same path.
func (s *Session) fillMade() {
	for _, f := range s.making {
		m := made{Path: s.digest(madePathPurpose, f.path), Begin: f.begin.UnixNano()}
		m.Signed = s.signMade(&m)
		s.kept.Made = append(slices.DeleteFunc(s.kept.Made, func(old made) bool { return old.Path == m.Path }), m)
	}
	s.making = nil
	s.kept.Made = last(s.kept.Made, maxMade)
}
