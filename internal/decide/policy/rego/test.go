package rego

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"cardea.dev/internal/decide/policy/engine"
)

// testLimit is how long one test may take.
const testLimit = 10 * time.Second

// Test runs the test rules of modules that were compiled together: those whose
// names begin with test_, as OPA's own tester does. Files that do not compile
// are in the second value.
func Test(ctx context.Context, modules []*Module, extra []string) (results []TestResult, coverage []Coverage, broken map[string]Problems) {
	var printed []string
	p, broken := Compile(modules, Options{Options: engine.Options{Extra: extra}, Prints: func(at, text string) { printed = append(printed, at+": "+text) }})
	hits := &hits{lines: map[string]map[int]bool{}}
	for _, m := range modules {
		compiled := p.compiler.Modules[m.Path]
		if compiled == nil {
			continue
		}
		for _, name := range testNames(compiled) {
			printed = nil
			r := p.test(ctx, m, name, hits)
			r.Output = printed
			results = append(results, r)
		}
	}
	for _, m := range modules {
		if compiled := p.compiler.Modules[m.Path]; compiled != nil && !strings.HasSuffix(m.Path, "_test.rego") {
			coverage = append(coverage, hits.of(m.Path, compiled))
		}
	}
	return results, coverage, broken
}

// testNames are the names of the test rules of a file, in order, each once.
func testNames(m *ast.Module) []string {
	var out []string
	for _, r := range m.Rules {
		if n := headName(r); (strings.HasPrefix(n, "test_") || strings.HasPrefix(n, "todo_test_")) && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func (p *Program) test(ctx context.Context, m *Module, name string, hits *hits) TestResult {
	r := TestResult{Package: m.Facts.Package, Name: name, File: m.Path}
	for _, rule := range p.compiler.Modules[m.Path].Rules {
		if headName(rule) == name && rule.Location != nil {
			r.Line = rule.Location.Row
			break
		}
	}
	if strings.HasPrefix(name, "todo_") {
		r.Skipped = true
		return r
	}
	ctx, cancel := context.WithTimeout(ctx, testLimit)
	defer cancel()
	stop := topdown.NewCancel()
	defer context.AfterFunc(ctx, stop.Cancel)()
	begin := time.Now()
	results, err := p.query(m.Facts.Package, name).WithCancel(stop).WithQueryTracer(hits).Run(ctx)
	r.Took = time.Since(begin)
	if err != nil {
		r.Error = plainly(err).Error()
		return r
	}
	// Anything but false holds: a rule without a value is undefined.
	r.Pass = len(results) > 0 && !ast.Boolean(false).Equal(results[0][answer].Value)
	return r
}

// hits are the lines that were evaluated.
type hits struct{ lines map[string]map[int]bool }

// Enabled is always true.
func (*hits) Enabled() bool { return true }

// Config asks for what is evaluated, without the values.
func (*hits) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent notes the line of what is evaluated.
func (h *hits) TraceEvent(e topdown.Event) {
	var at *ast.Location
	switch n := e.Node.(type) {
	case *ast.Rule:
		// A rule's head counts when its body holds.
		if e.Op == topdown.ExitOp {
			at = n.Head.Location
		}
	case *ast.Expr:
		if e.Op == topdown.EvalOp {
			at = n.Location
		}
	}
	if at == nil || at.File == "" {
		return
	}
	if h.lines[at.File] == nil {
		h.lines[at.File] = map[int]bool{}
	}
	h.lines[at.File][at.Row] = true
}

// of is the coverage of a file.
func (h *hits) of(path string, m *ast.Module) Coverage {
	lines := map[int]bool{}
	for _, r := range m.Rules {
		if r.Head.Location != nil && r.Head.Location.File == path {
			lines[r.Head.Location.Row] = true
		}
		ast.WalkExprs(r, func(e *ast.Expr) bool {
			if e.Location != nil && e.Location.File == path && !e.Generated {
				lines[e.Location.Row] = true
			}
			return false
		})
	}
	c := Coverage{File: path, Total: len(lines)}
	for line := range lines {
		if h.lines[path][line] {
			c.Covered++
		} else {
			c.Missed = append(c.Missed, line)
		}
	}
	slices.Sort(c.Missed)
	return c
}
