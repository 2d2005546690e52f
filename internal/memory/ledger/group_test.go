package ledger

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"cardea.dev/internal/base/limit"
)

func grouped(o *Options) { o.Group = NewGroup() }

// addAll writes entries at the same time, and gives how many errors there were with a text.
func (b *bench) addAll(n int, text string) (failed int) {
	b.t.Helper()
	var all sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		e := b.entry(fmt.Sprintf("echo %d", i))
		all.Go(func() { errs[i] = b.Append(e) })
	}
	all.Wait()
	for _, err := range errs {
		switch {
		case err != nil && text != "" && strings.Contains(err.Error(), text):
			failed++
		case err != nil:
			b.t.Error(err)
		}
	}
	return failed
}

// Every entry of many at a time is a line, once, and fewer heads are written than lines.
func TestGroup(t *testing.T) {
	b := start(t, grouped)
	writes := 0
	b.wrote = func() { writes++; time.Sleep(time.Millisecond) }
	const n = 300
	b.addAll(n, "")
	b.intact(n)
	seen := map[string]bool{}
	for _, c := range b.commands() {
		seen[c] = true
	}
	if len(seen) != n || writes >= n/2 || writes < n/maxTogether {
		t.Errorf("%d entries in %d writes", len(seen), writes)
	}
}

// Another writer, with a group of its own or none, comes between.
func TestGroupsTakeTurns(t *testing.T) {
	b := start(t, grouped)
	other := *b.Ledger
	other.opt.Group = nil
	var all sync.WaitGroup
	for i := range 40 {
		e := b.entry(fmt.Sprintf("other %d", i))
		all.Go(func() {
			if err := other.Append(e); err != nil {
				t.Error(err)
			}
		})
	}
	b.addAll(100, "")
	all.Wait()
	b.add(1) // takes what is in the spool
	b.intact(141)
}

// While another process has the lock, each entry waits in the spool, and for no longer
// than one by itself does.
func TestGroupSpools(t *testing.T) {
	b := start(t, grouped)
	b.add(1)
	held, err := b.lock(limit.LedgerWrite, os.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	b.addAll(20, "")
	if n := len(b.lines(day1)); n != 1 {
		t.Errorf("%d lines while the lock is held", n)
	}
	held.close()
	b.add(1)
	b.intact(22)
}

// An entry without room gets an error, and its neighbors do not.
func TestGroupFull(t *testing.T) {
	b := start(t, grouped, func(o *Options) { o.MaxMB = 1 })
	b.add(1)
	size := len(b.read(day1 + dayEnd))
	w, err := b.lock(limit.LedgerWrite, os.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.begin(); err != nil {
		t.Fatal(err)
	}
	w.head.Size = 1<<20 - int64(3*size) // room for two or three
	body, err := b.entry("echo 1").encode()
	if err != nil {
		t.Fatal(err)
	}
	errs := w.lines([][]byte{body, body, body, body, body})
	w.close()
	if errs[0] != nil || errs[1] != nil || errs[4] == nil || !strings.Contains(errs[4].Error(), "reached the limit") {
		t.Error(errs)
	}
}

// A writer that breaks off leaves no other entry waiting.
func TestGroupBreaksOff(t *testing.T) {
	b := start(t, grouped)
	var mu sync.Mutex
	first := true
	b.locked = func() {
		mu.Lock()
		defer mu.Unlock()
		if first {
			first = false
			time.Sleep(20 * time.Millisecond)
			panic("broken")
		}
	}
	var all sync.WaitGroup
	written := make([]bool, 30)
	for i := range written {
		e := b.entry(fmt.Sprintf("echo %d", i))
		all.Go(func() {
			defer func() { _ = recover() }()
			written[i] = b.Append(e) == nil
		})
	}
	all.Wait()
	n := int64(0)
	for _, is := range written {
		if is {
			n++
		}
	}
	if n == int64(len(written)) {
		t.Error("nothing broke off")
	}
	b.add(1)
	b.intact(n + 1)
}
