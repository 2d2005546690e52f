package rego

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/util"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/decide/policy/engine"
)

// Program is a set of policies compiled together. It is safe for concurrent use.
type Program struct {
	compiler *ast.Compiler
	// data is the merged data documents.
	data map[string]any
	// prints is set if calls of print were compiled.
	prints bool
}

// Compile compiles modules together with the data. It leaves out modules with mistakes, and
// returns their mistakes.
func Compile(modules []*Module, data map[string]any, o engine.Options) (p *Program, out map[string]Problems) {
	p = &Program{data: data, prints: o.Print}
	out = together(modules, func(given map[string]*ast.Module) ast.Errors {
		c := newCompiler(o).WithPathConflictsCheck(existsIn(data))
		if c.Compile(given); !c.Failed() {
			p.compiler = c
		}
		return c.Errors
	})
	if p.compiler == nil {
		p.compiler = newCompiler(o)
	}
	return p, out
}

// together compiles modules, and repeats this without those that have mistakes, until the
// rest has none. So one bad file does not disable the others. out are the files that were
// left out, with their mistakes.
func together(modules []*Module, compile func(map[string]*ast.Module) ast.Errors) (out map[string]Problems) {
	left := map[string]*Module{}
	for _, m := range modules {
		left[m.Path] = m
	}
	out = map[string]Problems{}
	for len(left) > 0 {
		given := make(map[string]*ast.Module, len(left))
		for path, m := range left {
			given[path] = m.take()
		}
		errs := compile(given)
		if len(errs) == 0 {
			break
		}
		before := len(left)
		for _, problem := range problemsOf("", errs) {
			file := problem.File
			if _, known := left[file]; !known && out[file] == nil {
				// A mistake without a position: no file can be singled out.
				for path := range left {
					out[path] = append(out[path], problem)
				}
				clear(left)
				break
			}
			out[file] = append(out[file], problem)
			delete(left, file)
		}
		if len(left) == before {
			break
		}
	}
	return out
}

// existsIn returns a check for the compiler, so that rules do not redefine data.
func existsIn(data map[string]any) func([]string) (bool, error) {
	return func(path []string) (bool, error) {
		_, there := lookup(data, path)
		return there, nil
	}
}

// take returns the parsed file for one compilation, which changes it. For the next one it
// parses the file again. Mistakes are rare, so it makes no copies.
func (m *Module) take() *ast.Module {
	if m.taken {
		if again, err := reparse(m.Path, m.text); err == nil {
			m.parsed = again.parsed
		}
	}
	m.taken = true
	return m.parsed
}

// newCompiler returns a compiler that accepts only what policies may use.
func newCompiler(o engine.Options) *ast.Compiler {
	c := ast.NewCompiler().WithCapabilities(capabilities(o.Extra)).WithDefaultRegoVersion(ast.RegoV1).WithStrict(o.Strict).WithEnablePrintStatements(o.Print)
	if o.Checked {
		c = c.WithSkipStages(ast.StageCheckTypes, ast.StageCheckUnusedImports, ast.StageCheckDuplicateImports, ast.StageCheckKeywordOverrides,
			ast.StageCheckDeprecatedBuiltins, ast.StageBuildRequiredCapabilities)
	}
	return c
}

const (
	// maxMemory is the limit for the growth of the heap during an evaluation, in bytes. The
	// first check is after lookAfter, and it is repeated at this interval.
	maxMemory = 256 << 20
	lookAfter = 10 * time.Millisecond
)

// Eval returns the values of rules, in order. It ends when ctx does. A rule for which no
// time was left has an error. Each rule gets half of the remaining time, so that an endless
// one does not stop the others. The other rules of its package are then skipped.
//
// One goroutine evaluates all of them. The stack of each new goroutine would grow, which
// costs as much as a small policy.
func (p *Program) Eval(ctx context.Context, queries []Query) []Result {
	e := evaluation{results: make([]Result, len(queries)), done: make(chan struct{}), seen: map[engine.Input]seen{}}
	for i := range queries {
		// Values belong to the caller, who may change them after this returns.
		if _, there := queries[i].Input.Value(); there {
			e.see(queries[i].Input)
		}
	}
	go func() {
		makeRoom()
		e.run(ctx, p, queries)
	}()
	ticker := time.NewTicker(lookAfter)
	defer ticker.Stop()
	before := uint64(0)
	for {
		select {
		case <-e.done:
			return e.results
		case <-ctx.Done():
			return e.sofar()
		case <-ticker.C:
			now := heap()
			if before == 0 || e.reading.Load() {
				before = now
			}
			if !e.look(now > before+maxMemory) {
				return e.sofar()
			}
		}
	}
}

// evaluation is an evaluation in its own goroutine.
type evaluation struct {
	// results may be read up to ready, and completely when done is closed.
	results []Result
	ready   atomic.Int64
	done    chan struct{}
	// reading is set while an input is read. Its memory is not the policy's.
	reading atomic.Bool
	// turn is the rule under evaluation, nil between two rules.
	turn atomic.Pointer[turn]
	// seen holds the inputs in OPA's form.
	seen map[engine.Input]seen
}

// turn is the evaluation of one rule.
type turn struct {
	cancel topdown.Cancel
	end    time.Time
	// stopped is the time of the request to stop, why its reason.
	stopped time.Time
	why     atomic.Pointer[error]
}

func (t *turn) stop(why error) {
	t.stopped = time.Now()
	t.why.Store(&why)
	t.cancel.Cancel()
}

// look stops the current rule if it takes too much time or memory. It reports false if a
// stopped rule continues.
func (e *evaluation) look(large bool) bool {
	t := e.turn.Load()
	switch {
	case t == nil:
	case !t.stopped.IsZero():
		return time.Since(t.stopped) < limit.EvaluationStop || e.turn.Load() != t
	case large:
		t.stop(engine.ErrMemory)
	case time.Now().After(t.end):
		t.stop(engine.ErrTime)
	}
	return true
}

// run evaluates queries one after another. Rules with the same input share the results of
// other rules. It drops these after an error, which may have left results for another input
// ("with input as …").
func (e *evaluation) run(ctx context.Context, p *Program, queries []Query) {
	defer close(e.done)
	var known topdown.VirtualCache
	var in seen
	stopped := "" // the package that was stopped
	for i := range queries {
		if i == 0 || queries[i].Input != queries[i-1].Input {
			e.reading.Store(true)
			in, known = e.see(queries[i].Input), nil
			e.reading.Store(false)
		}
		if known == nil {
			known = topdown.NewVirtualCache()
		}
		var r Result
		if queries[i].Package == stopped {
			r.Err = engine.ErrTime
		} else {
			r = e.one(ctx, p, queries[i], in, known, i == len(queries)-1)
		}
		if r.Err != nil {
			known = nil
		}
		if errors.Is(r.Err, engine.ErrTime) || errors.Is(r.Err, engine.ErrMemory) {
			stopped = queries[i].Package
			runtime.GC() // so that the memory of this rule is not attributed to the next one
		}
		e.results[i] = r
		e.ready.Add(1)
	}
}

// one evaluates a rule as the current turn.
func (e *evaluation) one(ctx context.Context, p *Program, q Query, in seen, known topdown.VirtualCache, last bool) Result {
	t := &turn{cancel: topdown.NewCancel(), end: time.Now().Add(time.Hour)}
	if end, limited := ctx.Deadline(); limited && !last {
		t.end = time.Now().Add(time.Until(end) / 2)
	}
	e.turn.Store(t)
	r := p.one(ctx, t.cancel, q, in, known)
	e.turn.Store(nil)
	if why := t.why.Load(); why != nil && r.Err != nil {
		r.Err = *why
	}
	return r
}

// sofar returns the results of an evaluation that is stopped as a whole, because the time
// is up or a rule does not stop.
func (e *evaluation) sofar() []Result {
	out, known := make([]Result, len(e.results)), e.ready.Load()
	copy(out, e.results[:known])
	why := engine.ErrTime
	if t := e.turn.Load(); t != nil {
		if !t.stopped.IsZero() {
			why = *t.why.Load()
		}
		t.cancel.Cancel()
	}
	for i := known; i < int64(len(out)); i++ {
		out[i].Err = why
	}
	return out
}

// stack is the stack size that evaluations of small policies need, in bytes.
const stack = 24 << 10

// makeRoom grows the stack of a new goroutine in one step. Growing it in several steps
// moves all frames each time, which is a fifth of the time of a small policy.
//
//go:noinline
func makeRoom() {
	var room [stack]byte
	touch(&room)
}

//go:noinline
func touch(*[stack]byte) {}

// seen is an input in OPA's form, or the error of converting it.
type seen struct {
	term *ast.Term
	err  error
}

func (e *evaluation) see(in engine.Input) seen {
	out, known := e.seen[in]
	if !known {
		out = see(in)
		e.seen[in] = out
	}
	return out
}

func see(in engine.Input) seen {
	v, there := in.Value()
	if !there {
		if err := util.UnmarshalJSON(in.JSON(), &v); err != nil {
			return seen{err: fmt.Errorf("the input cannot be read: %w", err)}
		}
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
	query := p.query(q.Package, q.Rule).WithCancel(cancel).WithInput(in.term).WithVirtualCache(known)
	var said printer
	if p.prints {
		query = query.WithPrintHook(&said)
	}
	v, err := p.run(ctx, query)
	return Result{Value: v, Err: plainly(err), Printed: said.lines}
}

// heap returns the bytes of objects in this process.
func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// run evaluates a query, and returns the value of its answer, nil if undefined.
func (p *Program) run(ctx context.Context, q *topdown.Query) (any, error) {
	results, err := q.Run(ctx)
	if err != nil || len(results) == 0 {
		return nil, err
	}
	return ast.JSON(results[0][answer].Value)
}

// answer is the variable that the value of a rule is bound to.
const answer = ast.Var("answer")

// query returns a query for data.PKG.RULE.
func (p *Program) query(pkg, rule string) *topdown.Query {
	ref := ast.Ref{ast.DefaultRootDocument}
	for _, word := range append(strings.Split(pkg, "."), rule) {
		ref = append(ref, ast.InternedTerm(word))
	}
	return topdown.NewQuery(ast.NewBody(ast.Equality.Expr(ast.NewTerm(answer), ast.NewTerm(ref)))).WithCompiler(p.compiler).WithStore(store{root: p.data})
}

// plainly returns an error of OPA in a readable form.
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
