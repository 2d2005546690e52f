// Package holder holds calls back until a person answers, in the process of cardea-engine that the
// hook starts for it.
package holder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/ask/queue/store"
	"cardea.dev/internal/base/lists"
	"cardea.dev/internal/base/person"
)

// maxRequest is the largest size of a request, in bytes.
const maxRequest = 8 << 20

// maxNotices is the number of waiting calls of a session up to which notices are sent.
const maxNotices = 10

// Caller is the parent of the process.
type Caller struct {
	// Process is the hook.
	Process person.Running
	// Gone is closed when it has ended.
	Gone <-chan struct{}
}

// Tell notifies a person of a new entry, and returns the failures.
type Tell func(ctx context.Context, n queue.Notices, e queue.Entry) []error

// ErrOrphan is the error if the hook ended while its call waited. The entry stays.
var ErrOrphan = errors.New("the hook has ended; its call is shown as one that nobody waits for")

// Serve reads one request and carries it out. The error is that of reading and writing; a queue
// that cannot be used is part of the reply.
func Serve(in io.Reader, out io.Writer, c Caller, tell Tell, now func() time.Time) error {
	var r queue.Request
	if err := json.NewDecoder(io.LimitReader(in, maxRequest)).Decode(&r); err != nil {
		return fmt.Errorf("read a request: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.Left)
	replies := make(chan queue.Reply, 1)
	go func() {
		// Not called when the hook has ended: a cancelled wait would end its entry.
		defer cancel()
		replies <- CarryOut(ctx, r, c, tell, now)
	}()
	select {
	case reply := <-replies:
		return json.NewEncoder(out).Encode(reply)
	case <-c.Gone:
		return ErrOrphan
	}
}

// CarryOut carries out one request in this process.
func CarryOut(ctx context.Context, r queue.Request, c Caller, tell Tell, now func() time.Time) (reply queue.Reply) {
	s, err := store.Open(r.State, now)
	if err != nil {
		return queue.Reply{Failure: err.Error()}
	}
	defer s.Close()
	if moved := s.Moved(); moved != "" {
		// The waiting calls in it are lost, and denied. This call is denied with them, so that a
		// person learns of it.
		return queue.Reply{Failure: "the queue was damaged; it was moved to " + moved + ", and a new one was made; try the call again"}
	}
	if r.Hold == nil {
		return queue.Reply{Failure: "the request asks for nothing"}
	}
	if err := hold(ctx, s, r, c, tell, &reply); err != nil {
		reply.Failure = err.Error()
	}
	return reply
}

// hold uses up an earlier approval, else puts the call into the queue. It waits for the answer
// unless the call gets a ticket.
func hold(ctx context.Context, s *store.Store, r queue.Request, c Caller, tell Tell, reply *queue.Reply) error {
	e, found, err := s.TakeGrant(ctx, r.Hold.Digest)
	if err != nil {
		return err
	}
	if found {
		reply.Entry, reply.Answer, reply.Granted = &e, e.Answer, true
		return nil
	}
	r.Hold.Waiter = c.Process
	if many, err := s.Crowded(ctx, *r.Hold, maxNotices); err != nil || many {
		r.Notices = queue.Notices{} // after so many notices, the person looks at the queue
	}
	added, err := s.Add(ctx, *r.Hold)
	if err != nil {
		return err
	}
	reply.Entry = &added
	if r.Hold.Ticket {
		if added.Created.Equal(r.Hold.Created) { // not an older ticket of the same call
			report(reply, tell(ctx, r.Notices, added))
		}
		return nil
	}
	told := make(chan []error, 1)
	go func() { told <- tell(ctx, r.Notices, added) }()
	a, err := s.Wait(ctx, added)
	select {
	case errs := <-told:
		report(reply, errs)
	default: // the person who answered knows of it
	}
	if errors.Is(err, queue.ErrTimedOut) {
		reply.TimedOut = true
		return nil
	}
	if err == nil {
		reply.Answer = &a
	}
	return err
}

// report adds issues that a person must learn of.
func report(reply *queue.Reply, errs []error) {
	reply.Told = append(reply.Told, lists.Of(errs, func(err error) string { return err.Error() })...)
}
