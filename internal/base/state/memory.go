package state

import (
	"bytes"
	"sync"
	"time"

	"cardea.dev/internal/base/moment"
)

// Memory keeps texts of files, and what was made of texts, for a process that answers
// many calls. A file is opened at each call all the same, as it is by a process that
// answers one: so links, folders, owners and a file that is gone are met as they are now.
// Its text is read again unless the open file's stamp says that nobody wrote to it. What
// was made of a text counts for this very text alone.
//
// Nobody may change what a memory gives. A nil *Memory keeps nothing.
type Memory struct {
	mu    sync.Mutex
	files map[string]*keptText
	made  map[string]*madeOf
	size  int // bytes of all
	turn  uint64
	now   func() time.Time
}

// The bounds of a memory. Where it is full, what was not asked for the longest goes.
const (
	maxMemory      = 64 << 20 // bytes
	maxEntriesKept = 4096
)

// keptText is the text of a file.
type keptText struct {
	stamp fileStamp
	data  []byte
	asked time.Time
	used  uint64
}

// fileStamp is what the system tells of an open file. No program can set changed, the time
// of the inode's last change, in nanoseconds.
type fileStamp struct {
	device, inode           uint64
	size, modified, changed int64
}

// madeOf is what was made of texts.
type madeOf struct {
	of    [][]byte
	value any
	size  int
	asked time.Time
	used  uint64
}

// NewMemory makes an empty memory with a clock.
func NewMemory(now func() time.Time) *Memory {
	return &Memory{files: map[string]*keptText{}, made: map[string]*madeOf{}, now: now}
}

// ReadDated is [ReadDated].
func (m *Memory) ReadDated(path string, limit int64) ([]byte, time.Time, error) {
	if m == nil {
		return ReadDated(path, limit)
	}
	data, info, err := readKnown(path, true, limit, m)
	return data, info.when, err
}

// text is that of an open file, nil where it is not known, and the time now. The path is
// part of what it is kept under, so that none can push out another one's.
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

// keep keeps the text of a file whose stamp was taken before it was read.
func (m *Memory) keep(path string, s fileStamp, data []byte, opened time.Time) {
	if m == nil || int64(len(data)) != s.size || opened.UnixNano()-max(s.changed, s.modified) < int64(moment.Settled) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.files[path]; old != nil {
		m.size -= len(old.data)
	}
	m.turn++
	m.files[path] = &keptText{s, data, m.now(), m.turn}
	m.size += len(data)
	m.shrink()
}

// Made gives what was made of texts under a name, nil where nothing was, or of others.
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

// Keep keeps what was made of texts, and takes about size bytes.
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

// Drop forgets what was made under a name.
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

// shrink takes out what was not asked for the longest, where there is too much. The
// caller holds the lock.
func (m *Memory) shrink() {
	for keep := uint64(len(m.files)+len(m.made)) / 2; m.size > maxMemory || len(m.files)+len(m.made) > maxEntriesKept; keep /= 2 {
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

// Tidy forgets what nobody asked for since a time.
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

// Size is how many bytes the memory holds, and in how many entries.
func (m *Memory) Size() (bytes, entries int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.size, len(m.files) + len(m.made)
}
