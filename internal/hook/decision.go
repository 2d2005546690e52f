package hook

import "time"

// Decision is what one run of check answered, for who counts.
type Decision struct {
	// Harness and Event are those of the message, "" where it could not be read.
	Harness, Event string
	// Effect is the answer's, and By who made it: a decider, or decider:rule.
	Effect, By string
	// Took is how long it took from the start of the run.
	Took time.Duration
	// Left is why the call was left to another process, "" for one that was answered.
	Left string
}

// tellDecision tells what is answered to who counts.
func (h *Hook) tellDecision() {
	if h.process.Decided == nil {
		return
	}
	d := Decision{Took: h.process.Now().Sub(h.begin), Left: h.process.Elsewhere.Why()}
	p := h.progress.Load()
	if d.Harness, d.Event = p.event.Harness, string(p.event.Kind); p.answer != nil {
		d.Effect, d.By = p.answer.Effect.String(), p.answer.By
	}
	h.process.Decided(d)
}
