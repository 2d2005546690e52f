package cli

import (
	"context"
	"fmt"
	"time"

	"cardea.dev"
	"cardea.dev/internal/install"
	"cardea.dev/internal/limit"
)

// queueReport is what doctor says about the queue.
type queueReport struct {
	Mode    string `json:"mode"`
	Waiting int    `json:"waiting"`
	// Works is set where it could be opened and read.
	Works bool `json:"works"`
}

// checkQueue opens the queue where calls wait in it, and looks whether the hooks have time
// enough.
func (c *checkup) checkQueue(p Process) {
	l, _, err := gather(p, nil)
	if err != nil || !l.Settings.Human.Queues() {
		return
	}
	human := l.Settings.Human
	c.Queue = &queueReport{Mode: human.Mode}
	if _, s, err := queueHere(p); err != nil {
		c.add(cardea.LevelError, cardea.CodeUnwritten, "calls that a person must answer are denied until it works", "the queue cannot be used: "+err.Error())
	} else {
		all, err := s.Pending(context.Background())
		c.Queue.Works, c.Queue.Waiting = err == nil, len(all)
		if err != nil {
			c.add(cardea.LevelError, cardea.CodeUnwritten, "", "the queue cannot be read: "+err.Error())
		}
		_ = s.Close() // it was only read
	}
	for i := range c.Harnesses {
		r := &c.Harnesses[i]
		for _, w := range r.Wirings {
			if most := limit.QueueWait(w.Limit); w.Limit > 0 && most < human.Timeout && (w.Event == string(cardea.PreToolUse) || w.Event == string(cardea.PermissionRequest)) {
				hint := "run \"cardea install\" again"
				if w.Scope == install.Plugin { // whose limit is the same for all
					hint = fmt.Sprintf("set human.timeout to %s at most, or take \"cardea install\" in place of the plugin", most.Truncate(time.Second))
				}
				r.add(cardea.LevelWarning, cardea.CodeIgnored, hint,
					fmt.Sprintf("a call waits for a person for %s at most on %s, and not for %s as human.timeout says: the hook has no more time", most, w.Event, human.Timeout))
			}
		}
	}
}

// showQueue shows whether the queue works.
func (c checkup) showQueue(s *screen) {
	if c.Queue == nil {
		return
	}
	state := painted{green, "works"}
	if !c.Queue.Works {
		state = painted{red, "does not work"}
	}
	s.printf("\n%s (human.mode: %s): %s, %s\n", painted{bold, "the queue"}, c.Queue.Mode, state, waitingCalls(c.Queue.Waiting))
}
