package rego

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/decide/policy/engine"
)

// Test runs the test rules of files. It fails if the expression in the options is invalid.
func (e Engine) Test(ctx context.Context, files []engine.Source, o engine.TestOptions) (engine.Tested, error) {
	if _, err := regexp.Compile(o.Run); err != nil {
		return engine.Tested{}, fmt.Errorf("choose tests: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &run{limit: cmp.Or(e.TestLimit, limit.PolicyTest), watch: &watch{lines: cover.New(), failed: map[testPosition]int{}}}
	var results chan *tester.Result
	var modules map[string]*ast.Module
	var failed error
	broken := sound(files, engine.Options{Extra: o.Extra}, func(c *ast.Compiler, data map[string]any, given map[string]*ast.Module) ast.Errors {
		var errs ast.Errors
		results, failed = tester.NewRunner().SetCompiler(c.WithEnablePrintStatements(true)).SetModules(given).SetStore(inmem.NewFromObject(data)).SetTimeout(r.limit).Filter(o.Run).
			SetParallel(1). // so that each event belongs to a known test
			SetCoverageQueryTracer(r.watch).RunTests(ctx, nil)
		if c.Failed() {
			errs, failed = c.Errors, nil
		}
		modules = given
		return errs
	})
	if failed != nil {
		return engine.Tested{}, fmt.Errorf("run tests: %w", failed)
	}
	out := engine.Tested{Broken: broken}
	if results != nil {
		out.Results = r.gather(ctx, results)
		cancel() // ends abandoned tests
		out.Coverage = coverage(r.watch.lines.Report(modules), files)
	}
	return out, nil
}

// run is one run of tests.
type run struct {
	limit time.Duration
	watch *watch
}

// gather collects the results, in the order of files and lines. It ends even if a test does
// not.
func (r *run) gather(ctx context.Context, results <-chan *tester.Result) []engine.TestResult {
	var out []engine.TestResult
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	before := heap()
	for more := true; more; {
		var one *tester.Result
		select {
		case one, more = <-results:
			if more {
				out = append(out, r.result(ctx, one))
				r.watch.done(one.Location)
			}
		case now := <-ticker.C:
			if rule, why := r.watch.runsAway(now, r.limit, before); rule != nil {
				out = append(out, leftBehind(rule, why))
				more = false
				go drain(results)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b engine.TestResult) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, strings.Compare(a.Name, b.Name))
	})
	return out
}

// drain discards the remaining results, so that the runner can end.
func drain(results <-chan *tester.Result) {
	for range results {
	}
}
