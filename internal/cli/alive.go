package cli

import (
	"time"

	"cardea.dev/internal/session"
)

// heartbeats are where it is kept when each harness's last event came.
func (pl *place) heartbeats() *session.Store {
	store, err := session.Open(pl.state, nil)
	if err != nil {
		return nil // locate has told why there is no state folder
	}
	return store
}

// beat notes that a real event came. One that names no session is a probe's.
func (j *judgement) beat(now time.Time) error {
	if !j.event.Kind.Answered() || j.event.Session == "" {
		return nil
	}
	return j.place.heartbeats().RecordEvent(j.event.Harness, now)
}
