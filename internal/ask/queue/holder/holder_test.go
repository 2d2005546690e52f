package holder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/ask/queue/store"
	"cardea.dev/internal/base/person"
)

func nobody(context.Context, queue.Notices, queue.Entry) []error { return nil }

func request(t *testing.T, r queue.Request) *bytes.Buffer {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewBuffer(text)
}

func open(t *testing.T, folder string) *store.Store {
	t.Helper()
	s, err := store.Open(folder, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func caller(t *testing.T) Caller {
	t.Helper()
	this, err := person.This()
	if err != nil {
		t.Fatal(err)
	}
	return Caller{Process: this, Gone: make(chan struct{})}
}

func call() *queue.Entry {
	return &queue.Entry{Digest: "d", Tool: "Bash", Created: time.Now(), Deadline: time.Now().Add(time.Minute), Validity: time.Minute}
}

// When the hook that asked ends, the process that holds its call also ends, and the call stays.
func TestOrphan(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder)
	c := caller(t)
	gone := make(chan struct{})
	c.Gone = gone
	ended := make(chan error, 1)
	var out bytes.Buffer
	in := request(t, queue.Request{State: folder, Hold: call(), Left: time.Minute})
	go func() { ended <- Serve(in, &out, c, nobody, time.Now) }()
	for {
		if all, err := s.Pending(context.Background()); err != nil {
			t.Fatal(err)
		} else if len(all) == 1 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	close(gone)
	if err := <-ended; !errors.Is(err, ErrOrphan) || out.Len() > 0 {
		t.Errorf("%v, %s", err, out.String())
	}
	if all, _ := s.Pending(context.Background()); len(all) != 1 {
		t.Error("the entry is gone")
	}
}

// Failures of notices are reported with the answer.
func TestNoticesAreTold(t *testing.T) {
	fails := func(context.Context, queue.Notices, queue.Entry) []error { return []error{errors.New("no desktop")} }
	e := call()
	e.Ticket = true
	reply := CarryOut(context.Background(), queue.Request{State: t.TempDir(), Hold: e}, caller(t), fails, time.Now)
	if len(reply.Told) != 1 || reply.Entry == nil || reply.Entry.ID == 0 {
		t.Errorf("%+v", reply)
	}
}

// A session that asks again and again does not send as many notices.
func TestFewNotices(t *testing.T) {
	folder, sent := t.TempDir(), 0
	tell := func(_ context.Context, n queue.Notices, _ queue.Entry) []error {
		if n.Desktop {
			sent++
		}
		return nil
	}
	for i := range 3 * maxNotices {
		e := call()
		e.Ticket, e.Digest = true, string(rune('a'+i))
		CarryOut(context.Background(), queue.Request{State: folder, Hold: e, Notices: queue.Notices{Desktop: true}}, caller(t), tell, time.Now)
	}
	if sent != maxNotices {
		t.Errorf("%d notices", sent)
	}
}
