package session

import "slices"

// This file remembers the actions that ran when a call was judged. A harness that is
// told to ask sends the call again when it shows the question, and what ran already for
// this question must not run twice.

// maxActed is how many calls a session remembers so. Then the oldest are forgotten.
const maxActed = 16

const (
	callPurpose  = "session call"
	actedPurpose = "session acted"
)

// acted is a call, and the actions that ran when it was last judged. All are digests.
type acted struct {
	Call    string   `json:"call"`
	Actions []string `json:"actions"`
}

// acting is what is to be written of a call.
type acting struct {
	call    string
	actions []string
}

// Acts notes which actions run for a call that is judged for the first time: with none,
// what ran for an earlier one is forgotten.
func (s *Session) Acts(call string, actions []string) {
	if len(actions) > 0 || s.of(call) != nil {
		s.acting, s.dirty = &acting{call, actions}, true
	}
}

// HasActed reports whether actions ran for any call that is remembered.
func (s *Session) HasActed() bool { return len(s.kept.Acted) > 0 }

// of is what is remembered of a call, nil for nothing.
func (s *Session) of(call string) *acted {
	if s.key == nil || !s.HasActed() {
		return nil
	}
	name := s.callDigest(call)
	if i := slices.IndexFunc(s.kept.Acted, func(a acted) bool { return a.Call == name }); i >= 0 {
		return &s.kept.Acted[i]
	}
	return nil
}

func (s *Session) callDigest(call string) string { return s.digest(callPurpose, call)[:24] }

func (s *Session) actedDigest(call, action string) string {
	return s.digest(actedPurpose, call, action)[:24]
}

// Acted reports whether an action ran when a call was last judged for the first time.
func (s *Session) Acted(call, action string) bool {
	a := s.of(call)
	return a != nil && slices.Contains(a.Actions, s.actedDigest(call, action))
}

// fillActed puts the call of this event into the file's form, in the place of what was
// noted of it.
func (s *Session) fillActed() {
	if s.acting == nil {
		return
	}
	a := acted{Call: s.callDigest(s.acting.call)}
	for _, action := range s.acting.actions {
		a.Actions = append(a.Actions, s.actedDigest(s.acting.call, action))
	}
	s.kept.Acted = slices.DeleteFunc(s.kept.Acted, func(old acted) bool { return old.Call == a.Call })
	if len(a.Actions) > 0 {
		s.kept.Acted = append(s.kept.Acted, a)
	}
	s.kept.Acted = last(s.kept.Acted, maxActed)
	s.acting = nil
}
