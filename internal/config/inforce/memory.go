package inforce

import (
	"fmt"
	"sync"
	"time"

	"cardea.dev/internal/base/moment"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/policy/engine"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/permissionlist"
)

// Memory is what a process that answers many calls keeps between them: the texts of
// files with what parsers made of them, and policies with their engines. What is in it
// only saves work: each call looks at the files as they are now.
type Memory struct {
	// start makes an engine for policies, which is closed when it is not needed for a while.
	start func() ClosingEngine
	now   func() time.Time
	texts *state.Memory
	keys  *rules.Keys
	// moments lets calls that are judged at the same time share what they saw of folders.
	moments moment.Shared
	mu      sync.Mutex
	// own evaluates the policies of the person and the machine. Those of each project
	// have an engine of their own, so that no project can end another one's.
	own  ClosingEngine
	kept map[string]*keptPolicies
}

// ClosingEngine is an engine that is ended when nobody needs it.
type ClosingEngine interface {
	engine.Engine
	Close()
}

// keptPolicies are the policies that count for a project.
type keptPolicies struct {
	library *policy.Library
	engine  ClosingEngine
	users   int
	last    time.Time
}

const (
	// maxKept is for how many projects policies are kept.
	maxKept = 16
	// keptFor is for how long policies are kept that nobody asked about, and texts
	// of files that nobody read.
	keptFor = 10 * time.Minute
)

// NewMemory makes an empty memory, with a clock, and what makes an engine for policies.
func NewMemory(now func() time.Time, start func() ClosingEngine) *Memory {
	return &Memory{start: start, now: now, texts: state.NewMemory(now), keys: rules.NewKeys(), kept: map[string]*keptPolicies{}}
}

// Call is the memory as one call uses it.
type Call struct {
	memory *Memory
	moment *moment.Moment
	// Leave is told why the call must be answered by a process of the caller's own.
	Leave func(why string)

	mu   sync.Mutex
	used []*keptPolicies
}

// Begin is for a call, which must end.
func (m *Memory) Begin(leave func(why string)) *Call {
	return &Call{memory: m, moment: m.moments.Begin(), Leave: leave}
}

// Moment is when the call came; nil without a memory.
func (c *Call) Moment() *moment.Moment {
	if c == nil {
		return nil
	}
	return c.moment
}

// End gives back what the call has used. All of its work must have ended.
func (c *Call) End() {
	c.moment.End()
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

// library is what is known of the policies for a place, nil where too many others are in
// use.
func (c *Call) library(w *Where) *policy.Library {
	m := c.memory
	name := fmt.Sprintf("%q", []string{w.Dirs.System, w.Dirs.User, w.Dirs.Cache, w.State, w.Project})
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.kept[name]
	if k == nil {
		if len(m.kept) >= maxKept && !m.drop() || m.kept == nil {
			return nil
		}
		k = &keptPolicies{engine: m.start()}
		k.library = &policy.Library{Engines: policy.Engines{Own: m.ownEngine(), Project: k.engine}, Tool: harness.ToolWord,
			Cache: m.texts.Indexes("policies", w.Dirs.Cache, w.State)}
		m.kept[name] = k
	}
	k.users++
	k.last = m.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = append(c.used, k)
	return k.library.ForCall(time.Now())
}

// ownEngine is the engine for the person's policies. The caller holds the lock.
func (m *Memory) ownEngine() engine.Engine {
	if m.own == nil {
		m.own = m.start()
	}
	return m.own
}

// drop forgets the policies that were not used for the longest, and reports whether there
// were any that nobody uses. The caller holds the lock.
func (m *Memory) drop() bool {
	oldest := ""
	for name, k := range m.kept {
		if k.users == 0 && (oldest == "" || k.last.Before(m.kept[oldest].last)) {
			oldest = name
		}
	}
	if oldest == "" {
		return false
	}
	m.kept[oldest].engine.Close()
	delete(m.kept, oldest)
	return true
}

// Tidy forgets what was not used for a while. It is to be called now and then.
func (m *Memory) Tidy() {
	now := m.now()
	m.texts.Tidy(now.Add(-keptFor))
	m.mu.Lock()
	defer m.mu.Unlock()
	used := false
	for name, k := range m.kept {
		if k.users == 0 && now.Sub(k.last) >= keptFor {
			k.engine.Close()
			delete(m.kept, name)
			continue
		}
		used = true
	}
	if !used && m.own != nil {
		m.own.Close()
		m.own = nil
	}
}

// Close ends the engines. Calls that are under way meet their ends.
func (m *Memory) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.kept {
		k.engine.Close()
	}
	m.kept = nil
	if m.own != nil {
		m.own.Close()
		m.own = nil
	}
}

// files are the texts that are kept between calls, nil for none.
func (w *Where) files() *state.Memory {
	if w.Memory == nil {
		return nil
	}
	return w.Memory.memory.texts
}

// Keys are what is known of the globs and expressions of rules, nil where nothing is kept between calls.
func (w *Where) Keys() *rules.Keys {
	if w.Memory == nil {
		return nil
	}
	return w.Memory.memory.keys
}

// leave says that a process of the caller's own must answer. It reports false in such a
// process.
func (w *Where) leave(why string) bool {
	if w.Memory == nil {
		return false
	}
	w.Memory.Leave(why)
	return true
}

// permissionEntries reads the text of a list, or takes what was read of it before.
func (l *Loaded) permissionEntries(s permissionlist.Source, from *permissionlist.Origin, data []byte) permissionlist.Settings {
	files := l.Where.files()
	if files == nil {
		return permissionlist.ReadFormat(s.Format, from, data)
	}
	name := fmt.Sprintf("list %v %q", s.Format, []string{from.Harness, from.File, from.Source, from.Scope.String()})
	if got, is := files.Made(name, data).(permissionlist.Settings); is {
		return got.For(from, data)
	}
	got := permissionlist.ReadFormat(s.Format, from, data)
	own := *from
	files.Keep(name, got.For(&own, data), 200*len(got.Entries), data)
	return got
}

// Size is how many bytes of texts the memory holds, and in how many entries.
func (m *Memory) Size() (bytes, entries int) { return m.texts.Size() }
