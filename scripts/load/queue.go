//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/ask/queue/store"
	"cardea.dev/internal/command/redact"
)

// This file damages the database of the queue while calls wait in it. The gate's own
// decisions must not change. A call that waits for a person is denied unless a person
// allowed it. When the damage ends, the queue works again.

// approved is the waiting line that a person always allows.
const approved = "git add . && git commit -m x"

// permissionRequest is the event at which calls of Claude Code wait in the queue.
const permissionRequest = "PermissionRequest"

// held is how long a call waits for a person.
const held = 500 * time.Millisecond

// right reports whether an answer to a line is correct. A call that a person allowed may be
// denied if the damage destroyed their answer.
func (s *testbed) right(line, got string) bool {
	want := s.want[line]
	if s.event != permissionRequest || want == "allow" || want == "deny" {
		return got == want
	}
	return got == "deny" || got == "allow" && line == approved
}

// queues makes calls wait in the queue until end is called.
func (s *testbed) queues() (end func() error, err error) {
	settings := s.dir + "/home/.config/cardea/cardea.yaml"
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		return nil, err
	}
	text := fmt.Sprintf("human: {mode: queue, timeout: %s, notify: false}\n", held)
	s.event = permissionRequest
	return func() error { s.event = ""; return os.Remove(settings) }, os.WriteFile(settings, []byte(text), 0o600)
}

// person allows the approved line if it waits.
func (s *testbed) person(done *atomic.Int64) error {
	q, err := store.Open(s.dir+"/home/.local/state/cardea", time.Now)
	if err != nil {
		return nil // damaged, or held by another process: the next call tries again
	}
	defer q.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	waiting, err := q.Pending(ctx)
	if err != nil {
		return nil
	}
	for _, e := range waiting {
		if e.Subject.String() != approved {
			continue
		}
		won, err := q.Answer(ctx, e.ID, queue.Resolution{Effect: cardea.Allow, Who: redact.New().Text("load"), Via: "test"})
		if err == nil && won {
			done.Add(1)
		}
	}
	return nil
}

// damageQueue breaks the database in one of many ways.
func (s *testbed) damageQueue(n int) error {
	path := store.Path(s.dir + "/home/.local/state/cardea")
	write := func(path string, at int64, text string) error {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteAt([]byte(text), at)
		return errors.Join(err, f.Close())
	}
	var err error
	switch n % 7 {
	case 0:
		err = write(path, 0, "this is no database, and never was one")
	case 1:
		err = write(path, 4096+100, "\x00\xff\x13 between two cells \xff\xff")
	case 2:
		err = os.Truncate(path, 5000)
	case 3:
		err = write(path+"-wal", 40, "no frame of anybody's")
	case 4:
		err = os.Truncate(path, 0)
	case 5:
		err = os.Remove(path)
	case 6:
		err = write(path+"-wal", 0, "no log")
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// whole checks that the queue works once nothing damages it: a person's answer applies, and
// without one the call is denied after its time.
func (s *testbed) whole(ask ask, done *atomic.Int64) error {
	const tries = 8 // the first finds the last damage, and is denied
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				_ = s.person(done)
			}
		}
	}()
	for line, want := range map[string]string{approved: "allow", "npm test": "deny"} {
		var out []byte
		for try := range tries + 1 {
			if try == tries {
				return fmt.Errorf("the queue does not work when the damage has ended: %s: %s", line, out)
			}
			var err error
			if out, _, err = ask("after", s.dir+"/work", line); err != nil {
				return err
			}
			if got := effectOf(out); got == want && (want == "allow" || waitedInVain(out)) {
				break
			} else if !s.right(line, got) {
				return fmt.Errorf("%s: %s", line, out)
			}
		}
	}
	return nil
}
