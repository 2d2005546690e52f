package inforce

import (
	"fmt"
	"sync"
	"time"

	"cardea.dev/internal/base/statcache"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/policy/engine"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/permissionlist"
)

// Memory caches, for a process that answers many calls, the texts and parsed forms of
// files, and policies with their engines. It only saves work: each call checks the files as
// they are now.
type Memory struct {
	// start returns a new engine for policies. It is closed when unused for a while.
	start func() ClosingEngine
	now   func() time.Time
	texts *state.Memory
	keys  *rules.Keys
	// stats lets concurrent calls share what they read of folders.
	stats statcache.Cache
	mu    sync.Mutex
	// own evaluates the policies of the user and the machine. Each project has its own engine,
	// so that no project can end another's.
	own    ClosingEngine
	cached map[string]*cachedPolicies
}

// ClosingEngine is an engine that is closed when it is no longer used.
type ClosingEngine interface {
	engine.Engine
	Close()
}

// cachedPolicies holds the policies for a project.
type cachedPolicies struct {
	library *policy.Library
	engine  ClosingEngine
	users   int
	last    time.Time
}

const (
	// maxCached is the maximum number of projects whose policies are cached.
	maxCached = 16
	// cachedFor is how long unused policies and texts are cached.
	cachedFor = 10 * time.Minute
)

// NewMemory returns an empty memory. start returns a new engine for policies.
func NewMemory(now func() time.Time, start func() ClosingEngine) *Memory {
	return &Memory{start: start, now: now, texts: state.NewMemory(now), keys: rules.NewKeys(), cached: map[string]*cachedPolicies{}}
}

// CallMemory is a Memory as one call uses it.
type CallMemory struct {
	memory *Memory
	stats  *statcache.View
	// Leave receives why a process of the caller must answer the call instead.
	Leave func(why string)

	mu   sync.Mutex
	used []*cachedPolicies
}

// Begin starts a call. The caller must call End.
func (m *Memory) Begin(leave func(why string)) *CallMemory {
	return &CallMemory{memory: m, stats: m.stats.Begin(), Leave: leave}
}

// Stats returns the reads that this call shares with others. It is nil without a memory.
func (c *CallMemory) Stats() *statcache.View {
	if c == nil {
		return nil
	}
	return c.stats
}

// End releases what the call used. All of its work must have ended.
func (c *CallMemory) End() {
	c.stats.End()
	c.mu.Lock()
	used := c.used
	c.used = nil
	c.mu.Unlock()
	c.memory.mu.Lock()
	defer c.memory.mu.Unlock()
	for _, k := range used {
		k.users--
		k.last = c.memory.now()
	}
}

// library returns the policies for a place, nil if too many others are in use.
func (c *CallMemory) library(w *Where) *policy.Library {
	m := c.memory
	name := fmt.Sprintf("%q", []string{w.Dirs.System, w.Dirs.User, w.Dirs.Cache, w.State, w.Project})
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.cached[name]
	if k == nil {
		if len(m.cached) >= maxCached && !m.drop() || m.cached == nil {
			return nil
		}
		k = &cachedPolicies{engine: m.start()}
		k.library = &policy.Library{Engines: policy.Engines{Own: m.ownEngine(), Project: k.engine}, Tool: harness.ToolWord,
			Cache: m.texts.Indexes("policies", w.Dirs.Cache, w.State)}
		m.cached[name] = k
	}
	k.users++
	k.last = m.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = append(c.used, k)
	return k.library.ForCall(time.Now())
}

// ownEngine returns the engine for the user's policies. The caller holds the lock.
func (m *Memory) ownEngine() engine.Engine {
	if m.own == nil {
		m.own = m.start()
	}
	return m.own
}

// drop removes the policies that were unused for the longest time. It returns false if all
// are in use. The caller holds the lock.
func (m *Memory) drop() bool {
	oldest := ""
	for name, k := range m.cached {
		if k.users == 0 && (oldest == "" || k.last.Before(m.cached[oldest].last)) {
			oldest = name
		}
	}
	if oldest == "" {
		return false
	}
	m.cached[oldest].engine.Close()
	delete(m.cached, oldest)
	return true
}

// Tidy drops what was unused for a while. Call it from time to time.
func (m *Memory) Tidy() {
	now := m.now()
	m.texts.Tidy(now.Add(-cachedFor))
	m.mu.Lock()
	defer m.mu.Unlock()
	used := false
	for name, k := range m.cached {
		if k.users == 0 && now.Sub(k.last) >= cachedFor {
			k.engine.Close()
			delete(m.cached, name)
			continue
		}
		used = true
	}
	if !used && m.own != nil {
		m.own.Close()
		m.own = nil
	}
}

// Close closes the engines. Calls in progress fail.
func (m *Memory) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.cached {
		k.engine.Close()
	}
	m.cached = nil
	if m.own != nil {
		m.own.Close()
		m.own = nil
	}
}

// files returns the cache of texts, nil for none.
func (w *Where) files() *state.Memory {
	if w.Memory == nil {
		return nil
	}
	return w.Memory.memory.texts
}

// Keys returns the cache of globs and expressions of rules, nil for none.
func (w *Where) Keys() *rules.Keys {
	if w.Memory == nil {
		return nil
	}
	return w.Memory.memory.keys
}

// leave hands the call to a process of the caller. It returns false in such a process.
func (w *Where) leave(why string) bool {
	if w.Memory == nil {
		return false
	}
	w.Memory.Leave(why)
	return true
}

// permissionEntries parses a permission list, or takes the cached result.
func (l *Loaded) permissionEntries(s permissionlist.Source, from *permissionlist.Origin, data []byte) permissionlist.SettingsFile {
	files := l.Where.files()
	if files == nil {
		return permissionlist.ReadFormat(s.Format, from, data)
	}
	name := fmt.Sprintf("list %v %q", s.Format, []string{from.Harness, from.File, from.Source, from.Scope.String()})
	if got, is := files.Made(name, data).(permissionlist.SettingsFile); is {
		return got.For(from, data)
	}
	got := permissionlist.ReadFormat(s.Format, from, data)
	own := *from
	files.Keep(name, got.For(&own, data), 200*len(got.Entries), data)
	return got
}

// Size returns the number of bytes and of entries of texts in the memory.
func (m *Memory) Size() (bytes, entries int) { return m.texts.Size() }
