package statcache

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// TestLook checks that a result applies to calls that had begun, and to no later one.
func TestLook(t *testing.T) {
	var s Cache
	n := 0
	look := func(string) int { n++; return n }
	at := func(m *View, want int) {
		t.Helper()
		if got := Look(m, "x", "a", look); got != want {
			t.Errorf("saw %d, not %d", got, want)
		}
	}
	at(nil, 1)
	a := s.Begin()
	at(a, 2) // no call to share with
	at(a, 3)
	b := s.Begin()
	at(a, 4)
	at(b, 4)
	c := s.Begin()
	at(b, 4) // it began before
	at(c, 5)
	at(a, 5)
	if got := Look(c, "y", "a", look); got != 6 {
		t.Errorf("another look saw the same: %d", got)
	}
	a.End()
	a.End()
	b.End()
	if len(s.seen) == 0 {
		t.Error("forgotten while a call is under way")
	}
	c.End()
	if len(s.seen) != 0 || s.active.Load() != 0 {
		t.Errorf("%d are kept, %d calls", len(s.seen), s.active.Load())
	}
	at(c, 7) // work after the end reads by itself
	if s.Begin().alone() != true {
		t.Error("one call shares with itself")
	}
}

// TestComesMeanwhile checks that a call that begins during a read does not use its result.
func TestComesMeanwhile(t *testing.T) {
	var s Cache
	a, _ := s.Begin(), s.Begin()
	var late *View
	Look(a, "x", "a", func(string) int { late = s.Begin(); return 1 })
	if got := Look(late, "x", "a", func(string) int { return 2 }); got != 2 {
		t.Error("it sees what was seen before it came")
	}
	// Its result is newer, and stays.
	Look(a, "x", "b", func(string) int {
		Look(s.Begin(), "x", "b", func(string) int { return 2 })
		return 1
	})
	if got := Look(a, "x", "b", func(string) int { return 3 }); got != 2 {
		t.Errorf("saw %d", got)
	}
}

func TestBounds(t *testing.T) {
	var s Cache
	a, _ := s.Begin(), s.Begin()
	for i := range 3 * maxSeen {
		Look(a, "x", fmt.Sprint(i), func(string) int { return i })
		if len(s.seen) > maxSeen {
			t.Fatal("too many are kept")
		}
	}
	before := len(s.seen)
	Look(a, "x", strings.Repeat("a", maxName+1), func(string) int { return 1 })
	if len(s.seen) != before {
		t.Error("a long name is kept")
	}
}

// TestNeverOld checks that no call sees a state older than itself, with many concurrent
// calls.
func TestNeverOld(t *testing.T) {
	var s Cache
	var system atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 2000 {
				before := system.Add(1)
				m := s.Begin()
				if got := Look(m, "x", "a", func(string) int64 { return system.Load() }); got < before {
					t.Errorf("saw %d after %d", got, before)
				}
				m.End()
			}
		})
	}
	all.Wait()
}
