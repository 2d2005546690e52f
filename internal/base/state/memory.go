package state

import (
	"bytes"
	"sync"
	"time"

	"cardea.dev/internal/base/statcache"
)

// Memory caches texts of files, and values made from texts, for a process that answers many
// calls. Each call still opens the file, as a process for a single call does, so it sees
// links, folders, owners and missing files as they are now. The text is read again unless
// the stamp of the open file is unchanged. A value made from a text is valid only for
// exactly this text.
//
// Callers must not change what a Memory returns. A nil *Memory caches nothing.
type Memory struct {
	mu    sync.Mutex
	files map[string]*cachedText
	made  map[string]*madeOf
	size  int // bytes of all
	turn  uint64
	now   func() time.Time
}

// The limits of a memory. A full memory drops the entries unused for the longest time.
const (
	maxMemory        = 64 << 20 // bytes
	maxEntriesStored = 4096
)

// cachedText is the text of a file.
type cachedText struct {
	stamp fileStamp
	data  []byte
	asked time.Time
	used  uint64
}

// fileStamp is the metadata of an open file. No program can set changed, the time of the
// inode's last change in nanoseconds.
type fileStamp struct {
	device, inode           uint64
	size, modified, changed int64
}

// madeOf is a value made from texts.
type madeOf struct {
	of    [][]byte
	value any
	size  int
	asked time.Time
	used  uint64
}

// NewMemory returns an empty memory that uses a clock.
func NewMemory(now func() time.Time) *Memory {
	return &Memory{files: map[string]*cachedText{}, made: map[string]*madeOf{}, now: now}
}

// ReadDated is [ReadDated] with this cache.
func (m *Memory) ReadDated(path string, limit int64) ([]byte, time.Time, error) {
	if m == nil {
		return ReadDated(path, limit)
	}
	data, info, err := readKnown(path, true, limit, m)
	return data, info.when, err
}

// text returns the text of an open file, nil if it is unknown, and the time now. The path
// is part of the key, so that one file cannot replace another.
func (m *Memory) text(path string, s fileStamp) ([]byte, time.Time) {
	if m == nil {
		return nil, time.Time{}
	}
	now := m.now()
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.files[path]
	if k == nil || k.stamp != s {
		return nil, now
	}
	m.turn++
	k.used, k.asked = m.turn, now
	return k.data, now
}

// keep stores the text of a file whose stamp was taken before it was read.
func (m *Memory) keep(path string, s fileStamp, data []byte, opened time.Time) {
	if m == nil || int64(len(data)) != s.size || opened.UnixNano()-max(s.changed, s.modified) < int64(statcache.Settled) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.files[path]; old != nil {
		m.size -= len(old.data)
	}
	m.turn++
	m.files[path] = &cachedText{s, data, m.now(), m.turn}
	m.size += len(data)
	m.shrink()
}

// Made returns the value under a name, nil if none exists or it was made from other texts.
func (m *Memory) Made(name string, of ...[]byte) any {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.made[name]
	if k == nil || len(k.of) != len(of) {
		return nil
	}
	for i := range of {
		if !bytes.Equal(k.of[i], of[i]) {
			return nil
		}
	}
	m.turn++
	k.used, k.asked = m.turn, m.now()
	return k.value
}

// Keep stores a value made from texts. size is its approximate size in bytes.
func (m *Memory) Keep(name string, value any, size int, of ...[]byte) {
	if m == nil {
		return
	}
	for _, t := range of {
		size += len(t)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.made[name]; old != nil {
		m.size -= old.size
	}
	m.turn++
	m.made[name] = &madeOf{of, value, size, m.now(), m.turn}
	m.size += size
	m.shrink()
}

// Drop removes the value under a name.
func (m *Memory) Drop(name string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.made[name]; old != nil {
		m.size -= old.size
		delete(m.made, name)
	}
}

// shrink drops the entries unused for the longest time, if there are too many. The caller
// holds the lock.
func (m *Memory) shrink() {
	for keep := uint64(len(m.files)+len(m.made)) / 2; m.size > maxMemory || len(m.files)+len(m.made) > maxEntriesStored; keep /= 2 {
		for name, k := range m.files {
			if m.turn-k.used >= keep {
				m.size -= len(k.data)
				delete(m.files, name)
			}
		}
		for name, k := range m.made {
			if m.turn-k.used >= keep {
				m.size -= k.size
				delete(m.made, name)
			}
		}
	}
}

// Tidy drops what was not used since a time.
func (m *Memory) Tidy(since time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name, k := range m.files {
		if k.asked.Before(since) {
			m.size -= len(k.data)
			delete(m.files, name)
		}
	}
	for name, k := range m.made {
		if k.asked.Before(since) {
			m.size -= k.size
			delete(m.made, name)
		}
	}
}

// Size returns the number of bytes and of entries in the memory.
func (m *Memory) Size() (bytes, entries int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.size, len(m.files) + len(m.made)
}
