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

// Group writes the entries of a process that answers many calls at a time. Entries that arrive
// during a write are written together after it. Append returns when its entry is in the file or in
// the spool, as without a group. A nil Group writes each entry by itself.
type Group struct {
	mu      sync.Mutex
	waiting map[string]*queue
}

// NewGroup returns an empty group.
func NewGroup() *Group { return &Group{waiting: map[string]*queue{}} }

// queue holds the entries for one ledger. While a queue exists, one of its waiters writes.
type queue struct{ all []*waiter }

// waiter is an entry and the call of Append that waits for it.
type waiter struct {
	ledger *Ledger
	id     string
	body   []byte
	err    error
	// done receives true once the entry is written, and false when it is its turn to write.
	done chan bool
}

// The limits of one write. A crash between lines and head must leave no more than recovery reads.
const (
	maxTogether      = 64
	maxTogetherBytes = maxRecover / 4
)

// name returns a key of the ledger. Ledgers with different keys must not be written together.
func (l *Ledger) name() string {
	return fmt.Sprintf("%s\x00%x\x00%d\x00%d", l.dir, l.opt.Key, l.opt.KeepDays, l.opt.MaxMB)
}

// append writes an entry, alone or together with others.
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
		runtime.Gosched() // let concurrent entries join this write
	}
	g.lead(name)
	return w.err
}

// join adds an entry. It reports whether another waiter is already writing.
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

// lead writes the first waiting entries, the caller's own first, and passes the turn to the next
// one.
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

// errUnwritten is the error of an entry whose write was interrupted.
var errUnwritten = errors.New("the call is not recorded: writing was broken off")

// writeTogether writes entries of one ledger, each with its own result.
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
