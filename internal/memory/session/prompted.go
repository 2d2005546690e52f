package session

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"

	"cardea.dev"
	"cardea.dev/internal/base/state"
)

// This file follows a call through the harness's own prompt: Cardea left it alone, the harness
// showed it to the person, and it ran. The person is taken to have allowed it only if all three
// were seen, in this order and in one permission mode.
//
// Most calls that are left alone cause no further event. So their beginning only costs a line after
// the object in the session's file. A later event moves the lines into the object.

// maxPrompted is the largest number of calls that a session follows. Older ones are forgotten.
const maxPrompted = 32

const (
	promptedPurpose = "session prompted"
	showedPurpose   = "session prompted and shown"
)

// prompted is a call that is being followed. Call is a digest.
type prompted struct {
	Call string      `json:"call"`
	Mode cardea.Mode `json:"mode"`
	// Shown is a digest that only this program can make, set once the harness showed the call to
	// the person.
	Shown string `json:"shown,omitempty"`
}

// Follows reports whether any call is followed.
func (s *Session) Follows() bool { return len(s.stored.Prompted) > 0 || len(s.lines) > 0 }

// CallID returns the stored id of a call of this session, "" where nothing can be stored. name
// distinguishes the calls of the session, and may hold secrets.
func (s *Session) CallID(name string) string {
	if s.key == nil {
		return ""
	}
	return s.digest(promptedPurpose, s.harness, s.id, name)[:24]
}

// LeftAlone records the beginning of a call on which Cardea has no opinion.
func (s *Session) LeftAlone(name string, mode cardea.Mode) {
	if s.store == nil {
		return
	}
	s.leaving = append(s.leaving, leaving{name, mode})
}

// leaving is a call to be followed, by its name, since the key for its digest may not exist yet.
type leaving struct {
	name string
	mode cardea.Mode
}

// Showing records that the harness shows the person a call. It reports whether Cardea left the call
// alone in this mode.
func (s *Session) Showing(name string, mode cardea.Mode) bool {
	i := s.promptedAt(name)
	if i < 0 {
		return false
	}
	if s.stored.Prompted[i].Mode != mode {
		s.Forget(name)
		return false
	}
	s.stored.Prompted[i].Shown, s.dirty = s.proofShown(name, mode), true
	return true
}

// Ran records that a call has ended. shown reports whether the harness showed it to the person in
// this mode, unshown whether it ran in this mode without that.
func (s *Session) Ran(name string, mode cardea.Mode) (shown, unshown bool) {
	i := s.promptedAt(name)
	if i < 0 {
		return false, false
	}
	p := s.stored.Prompted[i]
	s.Forget(name)
	same := p.Mode == mode
	return same && p.Shown == s.proofShown(name, mode), same && p.Shown == ""
}

func (s *Session) proofShown(name string, mode cardea.Mode) string {
	return s.digest(showedPurpose, s.harness, s.id, name, string(mode))[:24]
}

// Forget stops following a call.
func (s *Session) Forget(name string) {
	if i := s.promptedAt(name); i >= 0 {
		s.stored.Prompted, s.dirty = slices.Delete(s.stored.Prompted, i, i+1), true
	}
}

func (s *Session) promptedAt(name string) int {
	s.takeLines()
	if len(s.stored.Prompted) == 0 {
		return -1
	}
	id := s.CallID(name)
	return slices.IndexFunc(s.stored.Prompted, func(p prompted) bool { return id != "" && p.Call == id })
}

// takeLines moves the lines after the object into the calls that are followed. It drops incomplete
// and invalid lines: their calls are not followed.
func (s *Session) takeLines() {
	lines := s.lines
	s.lines, s.taken = nil, s.taken || len(lines) > 0
	for line := range bytes.Lines(lines) {
		text, whole := strings.CutSuffix(string(line), "\n")
		call, mode, two := strings.Cut(text, " ")
		if whole && two && call != "" {
			s.follow(call, cardea.Mode(mode))
		}
	}
}

// follow begins to follow a call, and replaces an earlier one of its name.
func (s *Session) follow(call string, mode cardea.Mode) {
	s.stored.Prompted = slices.DeleteFunc(s.stored.Prompted, func(p prompted) bool { return p.Call == call })
	s.stored.Prompted = append(s.stored.Prompted, prompted{Call: call, Mode: mode})
}

// appendLines appends the calls that begin as lines after the object. It returns false where they
// must go into the object: without a file, with too many lines, or with a mode that does not fit
// into a line.
func (s *Session) appendLines() (bool, error) {
	if s.fresh || s.taken || s.key == nil || bytes.Count(s.lines, []byte("\n"))+len(s.leaving) > maxPrompted {
		return false, nil
	}
	var text []byte
	for _, l := range s.leaving {
		if strings.ContainsAny(string(l.mode), " \r\n") {
			return false, nil
		}
		text = append(append(append(append(text, s.CallID(l.name)...), ' '), l.mode...), '\n')
	}
	f, _, err := state.Open(s.path, os.O_WRONLY|os.O_APPEND)
	if err != nil {
		return false, nil // the file is rewritten, or writing it fails as well
	}
	if _, err = f.Write(text); err == nil {
		s.leaving = nil
	}
	return err == nil, errors.Join(err, f.Close())
}

// fillPrompted puts the calls that begin into the file's form.
func (s *Session) fillPrompted() {
	s.takeLines()
	for _, l := range s.leaving {
		s.follow(s.CallID(l.name), l.mode)
	}
	s.leaving = nil
	s.stored.Prompted = last(s.stored.Prompted, maxPrompted)
}
