package hook

import (
	"errors"
	"sync/atomic"
)

// Elsewhere notes why a call must be answered by a process of the caller's own, which has
// the caller's variables, limits and place among the processes. Nil notes nothing, and is
// for such a process. Where it is noted before the verdict stands, [Hook.Run] answers
// nothing and writes nothing down.
type Elsewhere struct{ why atomic.Pointer[string] }

// Note notes a reason. The first one stands.
func (e *Elsewhere) Note(why string) {
	if e != nil {
		e.why.CompareAndSwap(nil, &why)
	}
}

// Why is the reason, "" for none.
func (e *Elsewhere) Why() string {
	if e == nil || e.why.Load() == nil {
		return ""
	}
	return *e.why.Load()
}

// findEngine notes that a program is to be started, and finds none.
func (e *Elsewhere) findEngine() (string, error) {
	e.Note("lessons are to be found by their meaning")
	return "", errors.New("the call is answered elsewhere")
}

// leave reports whether the call must be answered elsewhere.
func (h *Hook) leave() bool { return h.process.Elsewhere.Why() != "" }

// leaveTyped reports the same of a prompt that is a command for Cardea: which process the
// harness is can be seen below it alone.
func (h *Hook) leaveTyped(j *Judgement) bool {
	if h.process.Elsewhere != nil && typedWords(j.Event) != nil {
		h.process.Elsewhere.Note("it was typed for Cardea itself")
	}
	return h.leave()
}

// leaveActions reports the same of a verdict after which commands run.
func (h *Hook) leaveActions(p *progress) bool {
	if len(p.actions) > 0 {
		h.process.Elsewhere.Note("commands are to run after the answer")
	}
	return h.leave()
}
