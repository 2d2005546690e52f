package rego

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/decide/policy/engine"
)

// Engine is OPA in this process.
type Engine struct {
	// TestLimit is the time limit of one test, 0 for five seconds, as in OPA.
	TestLimit time.Duration
}

// Ready returns nil.
func (Engine) Ready() error { return nil }

// Wake does nothing.
func (Engine) Wake() {}

// Parse returns the facts of files, in their order.
func (Engine) Parse(_ context.Context, files []engine.Source) ([]engine.Parsed, error) {
	out := make([]engine.Parsed, len(files))
	for i, f := range files {
		if f.Data != "" {
			out[i].Facts.Data, out[i].Problems = defines(f)
			continue
		}
		m, err := Parse(f.Path, f.Text)
		if err == nil {
			out[i].Facts = m.Facts
			continue
		}
		if blank(f.Path, f.Text) {
			continue
		}
		facts, ok := Head(f.Path, f.Text)
		out[i] = engine.Parsed{Facts: facts, Problems: broken(f.Path, err), Lost: !ok}
	}
	return out, nil
}

// broken returns the mistakes in an error of this package.
func broken(path string, err error) Problems {
	if problems, ok := err.(Problems); ok {
		return problems
	}
	return Problems{{File: path, Text: err.Error()}}
}

// Look returns mistakes that OPA does not report.
func (Engine) Look(_ context.Context, files []engine.Source) ([]diagnostic.Diagnostic, error) {
	var out []diagnostic.Diagnostic
	modules, _ := parseAll(files, Parse)
	for _, m := range modules {
		out = append(out, m.Look()...)
	}
	return out, nil
}

// Compile compiles files together, and returns when this is done.
func (Engine) Compile(files []engine.Source, o engine.Options) engine.Program {
	modules, wrong := parseAll(files, reparse)
	data, unread := documents(files)
	p, out := Compile(modules, data, o)
	maps.Copy(out, wrong)
	maps.Copy(out, unread)
	return compiled{p, out}
}

// compiled is a program, with the files that were left out.
type compiled struct {
	*Program
	broken map[string]Problems
}

// Broken returns the files that were left out, with their mistakes.
func (c compiled) Broken(context.Context) (map[string]Problems, error) { return c.broken, nil }

// sound calls compile with an unused compiler, the data documents and the files that parse.
// It repeats this without files that have mistakes until the rest compiles. It returns the
// files that were left out, with their mistakes.
func sound(files []engine.Source, o engine.Options, compile func(*ast.Compiler, map[string]any, map[string]*ast.Module) ast.Errors) (out map[string]Problems) {
	modules, wrong := parseAll(files, reparse)
	data, unread := documents(files)
	out = together(modules, func(given map[string]*ast.Module) ast.Errors {
		return compile(newCompiler(o).WithPathConflictsCheck(existsIn(data)), data, given)
	})
	maps.Copy(out, wrong)
	maps.Copy(out, unread)
	return out
}

// parseAll parses files that are not data documents. It returns those with mistakes in the
// second value, and omits files without contents.
func parseAll(files []engine.Source, parse func(path, text string) (*Module, error)) ([]*Module, map[string]Problems) {
	files = slices.DeleteFunc(slices.Clone(files), func(f engine.Source) bool { return f.Data != "" })
	parsed, errs := make([]*Module, len(files)), make([]error, len(files))
	eachAtOnce(len(files), func(i int) { parsed[i], errs[i] = parse(files[i].Path, files[i].Text) })
	modules, wrong := make([]*Module, 0, len(files)), map[string]Problems{}
	for i, f := range files {
		if errs[i] != nil && blank(f.Path, f.Text) {
			continue
		}
		if errs[i] != nil {
			wrong[f.Path] = broken(f.Path, errs[i])
			continue
		}
		modules = append(modules, parsed[i])
	}
	return modules, wrong
}

// eachAtOnce calls do for the numbers below n, on all processors. It panics if one of the
// calls does.
func eachAtOnce(n int, do func(int)) {
	var next atomic.Int64
	var group sync.WaitGroup
	var failed atomic.Value
	work := func() {
		defer func() {
			if r := recover(); r != nil {
				failed.Store(fmt.Sprint(r))
			}
		}()
		for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
			do(i)
		}
	}
	for range min(n, runtime.GOMAXPROCS(0)) - 1 {
		group.Go(work)
	}
	work()
	group.Wait()
	if why := failed.Load(); why != nil {
		panic(why)
	}
}
