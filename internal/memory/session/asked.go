package session

import "slices"

// This file remembers the calls that a person is asked about. The harness reports when such a call
// ran, and the ledger then records the end of the question.

// maxAsked is the largest number of such calls in a session. Older ones are forgotten.
const maxAsked = 16

const askedPurpose = "session asked"

// Asks records that a person is asked about a call.
func (s *Session) Asks(call string) { s.asking, s.dirty = append(s.asking, call), true }

// HasAsked reports whether any call with a question is stored.
func (s *Session) HasAsked() bool { return s.key != nil && len(s.stored.Asked) > 0 }

// EndsQuestion reports whether a person was asked about a call, and forgets the call.
func (s *Session) EndsQuestion(call string) bool {
	if !s.HasAsked() {
		return false
	}
	i := slices.Index(s.stored.Asked, s.askedDigest(call))
	if i < 0 {
		return false
	}
	s.stored.Asked, s.dirty = slices.Delete(s.stored.Asked, i, i+1), true
	return true
}

func (s *Session) askedDigest(call string) string { return s.digest(askedPurpose, call)[:24] }

// fillAsked puts the calls of this event into the file's form.
func (s *Session) fillAsked() {
	for _, call := range s.asking {
		name := s.askedDigest(call)
		s.stored.Asked = append(slices.DeleteFunc(s.stored.Asked, func(old string) bool { return old == name }), name)
	}
	s.asking = nil
	s.stored.Asked = last(s.stored.Asked, maxAsked)
}
