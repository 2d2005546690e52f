package hook

import "time"

// Decision is the result of one run of check, for metrics.
type Decision struct {
	// Harness and Event are those of the message, "" if it could not be read.
	Harness, Event string
	// Effect is the answer's effect. By is its origin: a decider, or decider:rule.
	Effect, By string
	// Took is the time from the start of the run.
	Took time.Duration
	// Left is the reason why the call was left to another process, "" if it was answered.
	Left string
}

// tellDecision passes the decision to Process.Decided.
func (h *Hook) tellDecision() {
	if h.process.Decided == nil {
		return
	}
	d := Decision{Took: h.process.Now().Sub(h.begin), Left: h.process.Handover.Why()}
	p := h.progress.Load()
	if d.Harness, d.Event = p.event.Harness, string(p.event.Kind); p.answer != nil {
		d.Effect, d.By = p.answer.Effect.String(), p.answer.By
	}
	h.process.Decided(d)
}
