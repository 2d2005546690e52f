package session

import "slices"

// This file remembers the actions that ran when a call was judged. A harness that asks sends the
// call again when it shows the question, and an action must not run twice for it.

// maxActed is the largest number of calls with actions in a session. Older ones are forgotten.
const maxActed = 16

const (
	callPurpose  = "session call"
	actedPurpose = "session acted"
)

// acted is a call with the actions that ran when it was last judged. All are digests.
type acted struct {
	Call    string   `json:"call"`
	Actions []string `json:"actions"`
}

// acting is the call of this event, before it is saved.
type acting struct {
	call    string
	actions []string
}

// Acts records the actions that run for a call that is judged for the first time. It replaces the
// actions of an earlier call, also by none.
func (s *Session) Acts(call string, actions []string) {
	if len(actions) > 0 || s.of(call) != nil {
		s.acting, s.dirty = &acting{call, actions}, true
	}
}

// HasActed reports whether actions are stored for any call.
func (s *Session) HasActed() bool { return len(s.stored.Acted) > 0 }

// of returns the stored entry of a call, nil for none.
func (s *Session) of(call string) *acted {
	if s.key == nil || !s.HasActed() {
		return nil
	}
	name := s.callDigest(call)
	if i := slices.IndexFunc(s.stored.Acted, func(a acted) bool { return a.Call == name }); i >= 0 {
		return &s.stored.Acted[i]
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

// fillActed puts the call of this event into the file's form, where it replaces an earlier entry.
func (s *Session) fillActed() {
	if s.acting == nil {
		return
	}
	a := acted{Call: s.callDigest(s.acting.call)}
	for _, action := range s.acting.actions {
		a.Actions = append(a.Actions, s.actedDigest(s.acting.call, action))
	}
	s.stored.Acted = slices.DeleteFunc(s.stored.Acted, func(old acted) bool { return old.Call == a.Call })
	if len(a.Actions) > 0 {
		s.stored.Acted = append(s.stored.Acted, a)
	}
	s.stored.Acted = last(s.stored.Acted, maxActed)
	s.acting = nil
}
