package rego

import (
	"fmt"
	"sync"
	"time"

	"cardea.dev/internal/base/limit"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// testPosition is the position of a test rule.
type testPosition struct {
	file     string
	row, col int
}

func placeOf(at *ast.Location) testPosition { return testPosition{at.File, at.Row, at.Col} }

// watch observes an evaluation: lines for the coverage, the test that runs, and where it
// failed. One test runs at a time.
type watch struct {
	lines *cover.Cover

	mu sync.Mutex
	// running is the rule of the current test, nil for none. since is when it began.
	running *ast.Rule
	since   time.Time
	failed  map[testPosition]int // lines
}

// Enabled returns true.
func (*watch) Enabled() bool { return true }

// Config asks for all evaluated lines, without values.
func (w *watch) Config() topdown.TraceConfig { return w.lines.Config() }

// TraceEvent receives an event of the evaluator. A test is a query with the number 0. Its
// rule's body is directly below it.
func (w *watch) TraceEvent(e topdown.Event) {
	w.lines.TraceEvent(e)
	if e.QueryID == 0 || e.ParentID != 0 || e.Op != topdown.EnterOp && e.Op != topdown.FailOp {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if rule, ok := e.Node.(*ast.Rule); ok && e.Op == topdown.EnterOp {
		w.running, w.since = rule, time.Now()
	}
	if w.running != nil && e.Op == topdown.FailOp && e.Location != nil && e.Location.File == w.running.Location.File {
		w.failed[placeOf(w.running.Location)] = e.Location.Row
	}
}

// done marks a test as finished.
func (w *watch) done(at *ast.Location) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running != nil && placeOf(w.running.Location) == placeOf(at) {
		w.running = nil
	}
}

// failedAt returns the line on which a test failed, 0 if unknown.
func (w *watch) failedAt(at *ast.Location) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed[placeOf(at)]
}

// runsAway returns the current test and the reason why it must stop, nil if it may
// continue. before is the heap before all tests.
func (w *watch) runsAway(now time.Time, most time.Duration, before uint64) (*ast.Rule, string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.running == nil:
	case heap() > before+maxMemory:
		return w.running, fmt.Sprintf("it takes more than %d MiB of memory; the tests after it did not run", maxMemory>>20)
	case now.Sub(w.since) > most+limit.PolicyTestStop:
		return w.running, fmt.Sprintf("it takes longer than %s and cannot be stopped; the tests after it did not run", most)
	}
	return nil, ""
}
