package rego

import (
	"context"
	"errors"
	"fmt"
	"runtime/metrics"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/util"

	"cardea.dev/internal/decide/policy/engine"
)

// Options say how policies are compiled and evaluated.
type Options struct {
	engine.Options
	// Prints gets what policies print, where it is not nil.
	Prints func(at, text string)
}

// Program is policies that were compiled together. It may be used by many
// goroutines.
type Program struct {
	compiler *ast.Compiler
	options  Options
}

// Compile compiles modules together. Modules with mistakes are left out, and
// the others are compiled again without them, so that one bad file does not
// take the others down; out are the files that were left out, with why.
func Compile(modules []*Module, o Options) (p *Program, out map[string]Problems) {
	left := map[string]*Module{}
	for _, m := range modules {
		left[m.Path] = m
	}
	out = map[string]Problems{}
	for {
		c := compiler(o)
		given := make(map[string]*ast.Module, len(left))
		for path, m := range left {
			given[path] = m.take()
		}
		c.Compile(given)
		if !c.Failed() {
			return &Program{compiler: c, options: o}, out
		}
		before := len(left)
		for _, problem := range problemsOf("", c.Errors) {
			file := problem.File
			if _, known := left[file]; !known && out[file] == nil {
				// A mistake without a place: nothing can be told apart.
				for path := range left {
					out[path] = append(out[path], problem)
				}
				clear(left)
				break
			}
			out[file] = append(out[file], problem)
			delete(left, file)
		}
		if len(left) == before || len(left) == 0 {
			return &Program{compiler: compiler(o), options: o}, out
		}
	}
}

// take gives the parsed file for one compilation, which changes it. The next one
// gets another: mistakes are rare, and copies are not free.
func (m *Module) take() *ast.Module {
	if m.taken {
		again, err := ast.ParseModuleWithOpts(m.Path, m.text, ast.ParserOptions{RegoVersion: ast.RegoV1, ProcessAnnotation: strings.Contains(m.text, metadataCalls)})
		if err == nil {
			m.parsed = again
		}
	}
	m.taken = true
	return m.parsed
}

func compiler(o Options) *ast.Compiler {
	c := ast.NewCompiler().WithCapabilities(capabilities(o.Extra)).WithDefaultRegoVersion(ast.RegoV1).
		WithEnablePrintStatements(o.Prints != nil)
	if o.Checked {
		c = c.WithSkipStages(ast.StageCheckTypes, ast.StageCheckUnusedImports, ast.StageCheckDuplicateImports, ast.StageCheckKeywordOverrides,
			ast.StageCheckDeprecatedBuiltins, ast.StageBuildRequiredCapabilities)
	}
	return c
}

const (
	// maxMemory is by how much the heap may grow during an evaluation, in
	// bytes. It is looked at every so often, after a while.
	maxMemory = 256 << 20
	lookAfter = 10 * time.Millisecond
	// grace is how long an evaluation may take to come to its end when it is
	// told to. One that is inside of a single call, such as a replace that makes
	// gigabytes, cannot be stopped. It is left behind, and the hook's process
	// ends before it gets far.
	grace = 20 * time.Millisecond
)

// Eval gives the values of rules, in order. It comes to its end when ctx does;
// what there was no time for has an error.
//
// All of them are evaluated in one goroutine: a new one's stack grows step by
// step, which costs as much as a small policy.
func (p *Program) Eval(ctx context.Context, queries []Query) []Result {
	cancel := topdown.NewCancel()
	out := make([]Result, len(queries))
	each := make(chan Result, len(queries))
	go func() {
		// What one rule needed of others, the next one with the same input finds;
		// but not after an error, which may have left behind what was known of
		// another input ("with input as …").
		var known topdown.VirtualCache
		var in seen
		for i := range queries {
			if i == 0 || queries[i].Input != queries[i-1].Input {
				in, known = see(queries[i].Input), nil
			}
			if known == nil {
				known = topdown.NewVirtualCache()
			}
			r := p.one(ctx, cancel, queries[i], in, known)
			if r.Err != nil {
				known = nil
			}
			each <- r
		}
	}()
	ticker := time.NewTicker(lookAfter)
	defer ticker.Stop()
	before := uint64(0)
	for n := 0; n < len(queries); {
		var why error
		select {
		case out[n] = <-each:
			n++
		case <-ctx.Done():
			why = engine.ErrTime
		case <-ticker.C:
			now := heap()
			if before == 0 {
				before = now
			}
			if now > before+maxMemory {
				why = engine.ErrMemory
			}
		}
		if why != nil {
			stop(cancel, func() bool { return len(each) > 0 })
			for ; n < len(queries); n++ {
				out[n].Err = why
			}
		}
	}
	return out
}

// seen is an input as OPA sees it, or why it cannot.
type seen struct {
	term *ast.Term
	err  error
}

func see(in engine.Input) seen {
	var v any
	if err := util.UnmarshalJSON(in.JSON(), &v); err != nil {
		return seen{err: fmt.Errorf("the input cannot be read: %w", err)}
	}
	value, err := ast.InterfaceToValue(v)
	return seen{ast.NewTerm(value), err}
}

// one evaluates one rule.
func (p *Program) one(ctx context.Context, cancel topdown.Cancel, q Query, in seen, known topdown.VirtualCache) (r Result) {
	begin := time.Now()
	defer func() {
		if failed := recover(); failed != nil {
			r.Err = fmt.Errorf("internal error: %v", failed)
		}
		r.Took = time.Since(begin)
	}()
	switch {
	case ctx.Err() != nil:
		return Result{Err: engine.ErrTime}
	case in.err != nil:
		return Result{Err: in.err}
	}
	v, err := p.run(ctx, p.query(q.Package, q.Rule).WithCancel(cancel).WithInput(in.term).WithVirtualCache(known))
	return Result{Value: v, Err: plainly(err)}
}

// stop tells an evaluation to stop, and waits a moment.
func stop(cancel topdown.Cancel, done func() bool) {
	cancel.Cancel()
	for end := time.Now().Add(grace); !done() && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

// heap is how many bytes objects take.
func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// run evaluates a query, and gives the value of its answer.
func (p *Program) run(ctx context.Context, q *topdown.Query) (any, error) {
	results, err := q.Run(ctx)
	if err != nil || len(results) == 0 {
		return nil, err
	}
	return ast.JSON(results[0][answer].Value)
}

// answer is the variable that the value of a rule is bound to.
const answer = ast.Var("answer")

// query asks for data.PKG.RULE.
func (p *Program) query(pkg, rule string) *topdown.Query {
	ref := ast.Ref{ast.DefaultRootDocument}
	for _, word := range append(strings.Split(pkg, "."), rule) {
		ref = append(ref, ast.InternedTerm(word))
	}
	q := topdown.NewQuery(ast.NewBody(ast.Equality.Expr(ast.NewTerm(answer), ast.NewTerm(ref)))).WithCompiler(p.compiler).WithStore(nothing{})
	if p.options.Prints != nil {
		q = q.WithPrintHook(printer{p.options.Prints})
	}
	return q
}

// plainly is an error of OPA as a person reads it.
func plainly(err error) error {
	var e *topdown.Error
	if !errors.As(err, &e) {
		return err
	}
	at := ""
	if e.Location != nil && e.Location.File != "" {
		at = fmt.Sprintf("%s:%d:%d: ", e.Location.File, e.Location.Row, e.Location.Col)
	}
	return errors.New(at + oneLine(e.Message))
}
