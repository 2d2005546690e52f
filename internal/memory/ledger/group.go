package ledger

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/state"
)

// Group has the entries of a process that answers many calls at a time: those that come
// while one is written are written together, after it. Each Append returns when its entry
// is in the file, or in the spool, as it does without a group. Nil writes each by itself.
type Group struct {
	mu      sync.Mutex
	waiting map[string]*queue
}

// NewGroup has no entry yet.
func NewGroup() *Group { return &Group{waiting: map[string]*queue{}} }

// queue are the entries that wait for one ledger. While there is one, somebody writes.
type queue struct{ all []*waiter }

// waiter is an entry, and who waits for it.
type waiter struct {
	ledger *Ledger
	id     string
	body   []byte
	err    error
	// done is told that the entry is written, or that it is this one's turn to write.
	done chan bool
}

// The bounds of what is written at once: a crash between lines and head must leave no more
// than is read again.
const (
	maxTogether      = 64
	maxTogetherBytes = maxRecover / 4
)

// name tells ledgers apart that may not be written together.
func (l *Ledger) name() string {
	return fmt.Sprintf("%s\x00%x\x00%d\x00%d", l.dir, l.opt.Key, l.opt.KeepDays, l.opt.MaxMB)
}

// append writes an entry, alone or with others.
func (g *Group) append(l *Ledger, id string, body []byte) error {
	w := &waiter{ledger: l, id: id, body: body, done: make(chan bool, 1)}
	if g == nil {
		writeTogether([]*waiter{w})
		return w.err
	}
	name := l.name()
	if g.join(name, w) {
		if written := <-w.done; written {
			return w.err
		}
	} else {
		runtime.Gosched() // those that are about to write come along
	}
	g.lead(name)
	return w.err
}

// join adds an entry. It reports whether somebody else writes.
func (g *Group) join(name string, w *waiter) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	q := g.waiting[name]
	if q == nil {
		g.waiting[name] = &queue{all: []*waiter{w}}
		return false
	}
	q.all = append(q.all, w)
	return true
}

// lead writes what waits, the caller's own entry first, and gives the turn to the next.
func (g *Group) lead(name string) {
	g.mu.Lock()
	q := g.waiting[name]
	n, size := 0, 0
	for n < len(q.all) && n < maxTogether && (n == 0 || size+len(q.all[n].body) <= maxTogetherBytes) {
		size += len(q.all[n].body)
		n++
	}
	now := q.all[:n:n]
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, w := range now[1:] {
			w.done <- true
		}
		if q.all = q.all[n:]; len(q.all) > 0 {
			q.all[0].done <- false
		} else {
			delete(g.waiting, name)
		}
	}()
	writeTogether(now)
}

// errUnwritten is what an entry is told whose writing was broken off.
var errUnwritten = errors.New("the call is not recorded: writing was broken off")

// writeTogether writes entries that may be written together, each with its own result.
func writeTogether(all []*waiter) {
	l := all[0].ledger
	for _, w := range all {
		w.err = unwritten(l.dir, "", "%v", errUnwritten)
	}
	w, err := l.lock(limit.LedgerWrite, os.O_RDWR|os.O_CREATE)
	if err != nil {
		if errors.Is(err, state.ErrBusy) {
			err = nil // the next writer takes it from the spool
		}
		for _, e := range all {
			e.err = e.spooled(err)
		}
		return
	}
	defer w.close()
	l.locked()
	bodies := make([][]byte, len(all))
	for i, e := range all {
		bodies[i] = e.body
	}
	for i, err := range w.write(bodies) {
		if all[i].err = nil; err != nil {
			all[i].err = unwritten(l.dir, lookAtFolder, "the call is not recorded: %v", err)
		}
	}
	if err := w.after(); err != nil && all[0].err == nil {
		all[0].err = err
	}
}
