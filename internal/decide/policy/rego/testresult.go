package rego

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"

	"cardea.dev/internal/decide/policy/engine"
)

// result converts a result of OPA.
func (r *run) result(ctx context.Context, t *tester.Result) engine.TestResult {
	out := engine.TestResult{Package: withoutData(t.Package), Name: t.Name, File: t.Location.File, Line: t.Location.Row,
		Pass: t.Pass(), Skipped: t.Skip, Cases: cases(t.SubResults), Output: output(t.Output), Took: t.Duration}
	switch {
	case t.Error != nil:
		out.Error = r.why(ctx, t.Error)
	case t.Fail && len(out.Cases) == 0:
		out.Failed = r.watch.failedAt(t.Location)
	}
	return out
}

// withoutData returns a package in the form that people write.
func withoutData(pkg string) string { return strings.TrimPrefix(pkg, "data.") }

// why returns the error of a test in a readable form.
func (r *run) why(ctx context.Context, err error) string {
	switch {
	case !topdown.IsCancel(err) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled):
		return plainly(err).Error()
	case ctx.Err() != nil:
		return "there was no time left for it"
	}
	return fmt.Sprintf("it takes longer than %s, and was stopped", r.limit)
}

// leftBehind returns the result of an abandoned test.
func leftBehind(rule *ast.Rule, why string) engine.TestResult {
	return engine.TestResult{Package: withoutData(rule.Module.Package.Path.String()), Name: rule.Head.Ref().GroundPrefix().String(),
		File: rule.Location.File, Line: rule.Location.Row, Error: why}
}

// cases returns the cases of a test: the leaves of its results.
func cases(all tester.SubResultMap) []engine.TestCase {
	var out []engine.TestCase
	for name, one := range all.Iter {
		if len(one.SubResults) == 0 {
			out = append(out, engine.TestCase{Name: strings.Join(name, "/"), Pass: !one.Fail})
		}
	}
	return out
}

// Limits of a test's output, in lines and bytes.
const (
	maxLines  = 200
	maxOutput = 64 << 10
)

// output returns the lines that a test printed.
func output(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	cached := text[:min(len(text), maxOutput)]
	lines := strings.Split(strings.TrimSuffix(string(cached), "\n"), "\n")
	if short := len(cached) < len(text); short || len(lines) > maxLines {
		lines = append(lines[:min(len(lines), maxLines)], fmt.Sprintf("and more: it printed %d bytes", len(text)))
	}
	return lines
}

// coverage converts OPA's report. It omits files of tests, and keeps the order of files.
func coverage(report cover.Report, files []engine.Source) []engine.Coverage {
	var out []engine.Coverage
	for _, f := range files {
		if of := report.Files[f.Path]; of != nil && !strings.HasSuffix(f.Path, "_test.rego") {
			out = append(out, engine.Coverage{File: f.Path, Covered: of.CoveredLines, Total: of.CoveredLines + of.NotCoveredLines, Missed: rows(of.NotCovered)})
		}
	}
	return out
}

// rows returns the lines of ranges, sorted.
func rows(ranges []cover.Range) []int {
	set := map[int]bool{}
	for _, r := range ranges {
		for row := r.Start.Row; row <= r.End.Row; row++ {
			set[row] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}
