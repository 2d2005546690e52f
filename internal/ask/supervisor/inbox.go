package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"

	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/command/redact"
)

// Inbox holds questions until an agent takes and answers them, by two tools.
type Inbox struct {
	mu      sync.Mutex
	last    int
	waiting []*entry
	taken   map[string]*entry
	// come is closed and replaced when a question arrives.
	come chan struct{}
}

type entry struct {
	asked Asked
	reply chan Reply
}

// NewInbox returns an empty inbox.
func NewInbox() *Inbox { return &Inbox{taken: map[string]*entry{}, come: make(chan struct{})} }

// Handle is a [Handler]: it puts a question into the inbox, and waits for its answer.
func (d *Inbox) Handle(ctx context.Context, q Asked) (Reply, error) {
	e := &entry{asked: q, reply: make(chan Reply, 1)}
	d.mu.Lock()
	d.last++
	e.asked.ID = "q" + strconv.Itoa(d.last) // short, since a model repeats it
	d.waiting = append(d.waiting, e)
	close(d.come)
	d.come = make(chan struct{})
	d.mu.Unlock()
	defer d.drop(e)
	select {
	case r := <-e.reply:
		return r, nil
	case <-ctx.Done():
		return Reply{}, errors.New("the supervisor did not answer in time")
	}
}

func (d *Inbox) drop(e *entry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.taken, e.asked.ID)
	d.waiting = slices.DeleteFunc(d.waiting, func(w *entry) bool { return w == e })
}

// Next takes the question that has waited longest, and waits for one while the inbox is empty. It
// returns false when ctx ends.
func (d *Inbox) Next(ctx context.Context) (Asked, bool) {
	for {
		d.mu.Lock()
		if len(d.waiting) > 0 {
			e := d.waiting[0]
			d.waiting = d.waiting[1:]
			d.taken[e.asked.ID] = e
			d.mu.Unlock()
			return e.asked, true
		}
		come := d.come
		d.mu.Unlock()
		select {
		case <-come:
		case <-ctx.Done():
			return Asked{}, false
		}
	}
}

// Answer answers a question that was taken. An answer in another form is an error, and the question
// still waits for one. A late or second answer is also an error.
func (d *Inbox) Answer(id string, answer json.RawMessage, model string) error {
	if _, err := judge.ParseAnswer(answer, redact.New()); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	e, ok := d.taken[id]
	if !ok {
		return errors.New("no question " + strconv.Quote(id) + " waits for an answer: it was answered, or its time is up. Take the next one")
	}
	delete(d.taken, id)
	e.reply <- Reply{Answer: answer, Model: model}
	return nil
}
