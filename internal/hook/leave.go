package hook

import (
	"errors"
	"sync/atomic"
)

// Handover records why a process of the caller's own must answer a call. Such a process has
// the caller's variables, limits and parent processes. It uses a nil Handover, which
// records nothing. If a reason is recorded before the verdict is final, [Hook.Run] writes
// no answer and no record.
type Handover struct{ why atomic.Pointer[string] }

// Note records a reason. Only the first one is stored.
func (e *Handover) Note(why string) {
	if e != nil {
		e.why.CompareAndSwap(nil, &why)
	}
}

// Why returns the recorded reason, or "".
func (e *Handover) Why() string {
	if e == nil || e.why.Load() == nil {
		return ""
	}
	return *e.why.Load()
}

// findEngine records that a program would have to be started, and always returns an error.
func (e *Handover) findEngine() (string, error) {
	e.Note("lessons are to be found by their meaning")
	return "", errors.New("the call is answered elsewhere")
}

// leave reports whether another process must answer the call.
func (h *Hook) leave() bool { return h.process.Handover.Why() != "" }

// noteTyped leaves a prompt that is a command for Cardea: only a child process of the harness
// can tell which process the harness is.
func (h *Hook) noteTyped(j *Evaluation) {
	if h.process.Handover != nil && typedWords(j.Event) != nil {
		h.process.Handover.Note("it was typed for Cardea itself")
	}
}

// leaveActions leaves a verdict after which commands run.
func (a *answering) leaveActions() {
	if len(a.actions) > 0 {
		a.process.Handover.Note("commands are to run after the answer")
	}
}
