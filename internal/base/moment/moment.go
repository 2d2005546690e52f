// Package moment lets calls that are judged at the same time share what they saw of the
// system: what one of them looked at counts for every other one that had come before. So
// each call sees nothing older than itself, as if it had looked on its own.
package moment

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Shared is what calls share. The zero value is ready for use.
type Shared struct {
	// turn counts the calls that came, active those that are under way.
	turn   atomic.Uint64
	active atomic.Int64
	mu     sync.Mutex
	seen   map[key]seen
	names  names
}

type key struct{ what, name string }

// seen is what was seen by a look that began when as many calls had come as turn says.
type seen struct {
	turn  uint64
	value any
}

// The bounds of what is kept while calls are under way. Beyond them it is seen again.
const (
	maxSeen = 4096
	maxName = 512
)

// Moment is when a call came. Nil shares nothing.
type Moment struct {
	shared *Shared
	turn   uint64
	ended  atomic.Bool
	// folders are those whose stamp was taken since the call came.
	mu      sync.Mutex
	folders map[string]*folder
}

// Begin is for a call that has come as a whole, and must end. Where others are under way, it
// lets those that have come begin, too, so that what the first of them sees is for all.
func (s *Shared) Begin() *Moment {
	if s == nil {
		return nil
	}
	m := &Moment{shared: s, turn: s.turn.Add(1)}
	if s.active.Add(1) > 1 {
		runtime.Gosched()
	}
	return m
}

// End ends a call. It then shares nothing any more. When none is under way, everything is
// forgotten.
func (m *Moment) End() {
	if m == nil || m.ended.Swap(true) || m.shared.active.Add(-1) > 0 {
		return
	}
	m.shared.mu.Lock()
	defer m.shared.mu.Unlock()
	clear(m.shared.seen)
}

// alone reports whether there is nobody to share with.
func (m *Moment) alone() bool { return m == nil || m.ended.Load() || m.shared.active.Load() < 2 }

// known is what was seen since the call came.
func (s *Shared) known(k key, since uint64) (any, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	got, is := s.seen[k]
	return got.value, is && got.turn >= since
}

// keep keeps what was seen.
func (s *Shared) keep(k key, turn uint64, value any) {
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

// Look looks at what has a name, or takes what another call saw since this one came. what
// says which look it is: one what has one type.
func Look[T any](m *Moment, what, name string, look func(name string) T) T {
	if m.alone() {
		return look(name)
	}
	s, k := m.shared, key{what, name}
	if got, is := s.known(k, m.turn); is {
		return got.(T)
	}
	// A call that comes while this one looks must look itself.
	turn := s.turn.Load()
	value := look(name)
	s.keep(k, turn, value)
	return value
}
