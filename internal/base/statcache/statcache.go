// Package statcache lets concurrent calls share what they read from the system. A result
// applies to every call that had begun before the read began. So no call sees anything
// older than itself, as if it had read alone.
package statcache

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Cache is the state that calls share. The zero value is ready for use.
type Cache struct {
	// turn is the number of calls begun, active the number of calls in progress.
	turn   atomic.Uint64
	active atomic.Int64
	mu     sync.Mutex
	seen   map[key]seen
	names  names
}

type key struct{ what, name string }

// seen is the result of a read that began when turn calls had begun.
type seen struct {
	turn  uint64
	value any
}

// The limits of the shared results. Beyond them, calls read again.
const (
	maxSeen = 4096
	maxName = 512
)

// View gives one call the reads of a [Cache], from the time at which it began. A nil View shares
// nothing.
type View struct {
	shared *Cache
	turn   uint64
	ended  atomic.Bool
	// folders holds the folders whose stamp was read since the call began.
	mu      sync.Mutex
	folders map[string]*folder
}

// Begin registers a call whose input is complete. The caller must call End. If other calls
// are in progress, Begin yields so that pending calls can also begin and share the first
// reads.
func (s *Cache) Begin() *View {
	if s == nil {
		return nil
	}
	m := &View{shared: s, turn: s.turn.Add(1)}
	if s.active.Add(1) > 1 {
		runtime.Gosched()
	}
	return m
}

// End ends a call, which then shares nothing more. When no call is in progress, all results
// are dropped.
func (m *View) End() {
	if m == nil || m.ended.Swap(true) || m.shared.active.Add(-1) > 0 {
		return
	}
	m.shared.mu.Lock()
	defer m.shared.mu.Unlock()
	clear(m.shared.seen)
}

// alone reports whether there is no other call to share with.
func (m *View) alone() bool { return m == nil || m.ended.Load() || m.shared.active.Load() < 2 }

// known returns the result for k if its read began at turn since or later.
func (s *Cache) known(k key, since uint64) (any, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	got, is := s.seen[k]
	return got.value, is && got.turn >= since
}

// keep stores a result, unless the stored one is newer.
func (s *Cache) keep(k key, turn uint64, value any) {
	if len(k.name) > maxName {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[k].turn > turn {
		return
	}
	if s.seen == nil || len(s.seen) >= maxSeen {
		s.seen = map[key]seen{}
	}
	s.seen[k] = seen{turn, value}
}

// Look returns look(name), or the result of another call that was read since this one
// began. what identifies the kind of read; each kind has one type.
func Look[T any](m *View, what, name string, look func(name string) T) T {
	if m.alone() {
		return look(name)
	}
	s, k := m.shared, key{what, name}
	if got, is := s.known(k, m.turn); is {
		return got.(T)
	}
	// A call that begins during this read must read again.
	turn := s.turn.Load()
	value := look(name)
	s.keep(k, turn, value)
	return value
}
