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

// This file follows a call through the harness's own prompt: Cardea left it alone, the
// harness showed it to the person, and it ran. All three must be seen, in this order and
// in one permission mode, before it is said that the person allowed it.
//
// Most calls that are left alone are never heard of again, so that they begin costs a line
// behind the object in the session's file. What comes later takes the lines into the object.

// maxPrompted is how many calls a session follows. Then the oldest are forgotten.
const maxPrompted = 32

const (
	promptedPurpose = "session prompted"
	showedPurpose   = "session prompted and shown"
)

// prompted is a call under way. Call is a digest.
type prompted struct {
	Call string      `json:"call"`
	Mode cardea.Mode `json:"mode"`
	// Shown is a digest that only this program can make, where the harness showed the
	// call to the person.
	Shown string `json:"shown,omitempty"`
}

// Follows reports whether any call is followed.
func (s *Session) Follows() bool { return len(s.kept.Prompted) > 0 || len(s.lines) > 0 }

// CallID is what can be kept of a call of this session, "" where nothing can be kept.
// name tells the session's calls apart, and may hold secrets.
func (s *Session) CallID(name string) string {
	if s.key == nil {
		return ""
	}
	return s.digest(promptedPurpose, s.harness, s.id, name)[:24]
}

// LeftAlone notes that a call begins about which Cardea says nothing.
func (s *Session) LeftAlone(name string, mode cardea.Mode) {
	if s.store == nil {
		return
	}
	s.leaving = append(s.leaving, leaving{name, mode})
}

// leaving is a call that is to be followed; there may be no key to name it yet.
type leaving struct {
	name string
	mode cardea.Mode
}

// Showing notes that the harness shows the person a call, and reports whether it began as
// one that Cardea left alone, in this mode.
func (s *Session) Showing(name string, mode cardea.Mode) bool {
	i := s.promptedAt(name)
	if i < 0 {
		return false
	}
	if s.kept.Prompted[i].Mode != mode {
		s.Forget(name)
		return false
	}
	s.kept.Prompted[i].Shown, s.dirty = s.proofShown(name, mode), true
	return true
}

// Ran notes that a call has ended. It reports whether the person was shown it in this mode,
// or whether it ran in this mode without that.
func (s *Session) Ran(name string, mode cardea.Mode) (shown, unshown bool) {
	i := s.promptedAt(name)
	if i < 0 {
		return false, false
	}
	p := s.kept.Prompted[i]
	s.Forget(name)
	same := p.Mode == mode
	return same && p.Shown == s.proofShown(name, mode), same && p.Shown == ""
}

func (s *Session) proofShown(name string, mode cardea.Mode) string {
	return s.digest(showedPurpose, s.harness, s.id, name, string(mode))[:24]
}

// Forget ends the following of a call.
func (s *Session) Forget(name string) {
	if i := s.promptedAt(name); i >= 0 {
		s.kept.Prompted, s.dirty = slices.Delete(s.kept.Prompted, i, i+1), true
	}
}

func (s *Session) promptedAt(name string) int {
	s.takeLines()
	if len(s.kept.Prompted) == 0 {
		return -1
	}
	id := s.CallID(name)
	return slices.IndexFunc(s.kept.Prompted, func(p prompted) bool { return id != "" && p.Call == id })
}

// takeLines puts the lines behind the object among the calls that are followed. A line
// that is not whole, or not one of these, is left out: its call is not followed.
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

// follow begins to follow a call, which takes the place of an earlier one of its name.
func (s *Session) follow(call string, mode cardea.Mode) {
	s.kept.Prompted = slices.DeleteFunc(s.kept.Prompted, func(p prompted) bool { return p.Call == call })
	s.kept.Prompted = append(s.kept.Prompted, prompted{Call: call, Mode: mode})
}

// appendLines writes the calls that begin behind the object. It reports false where they
// belong into the object: there is no file yet, it has many lines, or one cannot be
// written as a line.
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
		return false, nil // the file is made anew, or that fails, too
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
	s.kept.Prompted = last(s.kept.Prompted, maxPrompted)
}
