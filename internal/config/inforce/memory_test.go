package inforce

import (
	"fmt"
	"testing"
	"time"

	"cardea.dev/internal/config/project"
	"cardea.dev/internal/decide/policy/rego"
)

// counted is an engine that counts how many are open.
type counted struct {
	rego.Engine
	open *int
}

func (c counted) Close() { *c.open-- }

// TestMemoryEndsEngines checks that unused engines of projects end, and never while a call
// uses them.
func TestMemoryEndsEngines(t *testing.T) {
	open, now := 0, time.Unix(1_000_000, 0)
	m := NewMemory(func() time.Time { return now }, func() ClosingEngine { open++; return counted{open: &open} })
	at := func(n int) *Where {
		return &Where{Dirs: project.Dirs{User: "/u", Cache: "/c"}, State: "/s", Project: fmt.Sprint("/p", n)}
	}
	begin := func(n int) *CallMemory {
		c := m.Begin(func(string) {})
		if w := at(n); c.library(w) == nil {
			return nil
		}
		return c
	}
	long := begin(0)
	for n := range 3 * maxCached {
		c := begin(n + 1)
		if c == nil {
			t.Fatal("there is no room, although nobody uses the others")
		}
		c.End()
		now = now.Add(time.Second)
	}
	if open != maxCached+1 { // and the user's
		t.Errorf("%d engines are open", open)
	}
	if m.cached[fmt.Sprintf("%q", []string{"", "/u", "/c", "/s", "/p0"})] == nil {
		t.Error("the policies of a call that is not over are forgotten")
	}
	var all []*CallMemory
	for n := range maxCached - 1 {
		all = append(all, begin(n+100))
	}
	if begin(1000) != nil {
		t.Error("there is room for more than there may be")
	}
	for _, c := range all {
		c.End()
	}
	now = now.Add(cachedFor)
	m.Tidy()
	if open != 2 {
		t.Errorf("%d engines are open, and one project is used", open)
	}
	long.End()
	m.Tidy()
	if open != 2 {
		t.Errorf("%d engines are open, just after the last call", open)
	}
	now = now.Add(cachedFor)
	if m.Tidy(); open != 0 {
		t.Errorf("%d engines are open, and nobody uses any", open)
	}
	last := begin(7)
	m.Close()
	last.End()
	if open != 0 {
		t.Errorf("%d engines are left", open)
	}
}
