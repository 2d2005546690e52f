package holder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/person"
	"cardea.dev/internal/queue"
	"cardea.dev/internal/queue/store"
	"cardea.dev/internal/state"
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

// The hook that asked ends: the process that holds its call ends, too, and the call
// stays.
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

// Who starts the program by hand can put no answer into the queue that they did not sign.
func TestUnsignedAnswers(t *testing.T) {
	ctx, folder := context.Background(), t.TempDir()
	s := open(t, folder)
	e := *call()
	e.Ticket = true
	e, err := s.Add(ctx, e)
	if err != nil {
		t.Fatal(err)
	}
	another, err := state.LoadKey(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_, sealed, err := s.Sealed(ctx, e.ID)
	if err != nil {
		t.Fatal(err)
	}
	answer := queue.Answer{Effect: cardea.Allow, Grant: true, At: time.Now(), Expires: time.Now().Add(time.Hour)}
	text, signature, err := queue.SealAnswer(another, sealed, answer)
	if err != nil {
		t.Fatal(err)
	}
	put := func(signature []byte) queue.Reply {
		return CarryOut(ctx, queue.Request{State: folder, Put: &queue.SignedAnswer{ID: e.ID, Text: text, Signature: signature}}, caller(t), nobody, time.Now)
	}
	for _, bad := range [][]byte{nil, {}, make([]byte, 32), signature} {
		if reply := put(bad); reply.Won || !strings.Contains(reply.Failure, "does not count") {
			t.Errorf("%+v", reply)
		}
	}
	key, err := state.LoadKey(folder)
	if err != nil {
		t.Fatal(err)
	}
	if text, signature, err = queue.SealAnswer(key, sealed, answer); err != nil {
		t.Fatal(err)
	}
	if reply := put(signature); !reply.Won {
		t.Errorf("the person's own answer does not count: %+v", reply)
	}
	if reply := put(signature); reply.Won {
		t.Error("it counts twice")
	}
}

// Failures of the notices are told with the answer.
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
