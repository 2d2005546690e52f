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

// Program is policies that were compiled together. It may be used by many
// goroutines.
type Program struct {
	compiler *ast.Compiler
	// data is what data documents say.
	data map[string]any
	// prints is set where calls of print were compiled.
	prints bool
}

// Compile compiles modules together, beside what data documents say. Modules with
// mistakes are left out, with why.
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

// together has modules compiled, and again without those that have mistakes,
// until those that are left have none, so that one bad file does not take the
// others down. out are the files that were left out, with why.
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
		if len(left) == before {
			break
		}
	}
	return out
}

// existsIn tells the compiler what is data, so that rules do not define it again.
func existsIn(data map[string]any) func([]string) (bool, error) {
	return func(path []string) (bool, error) {
		_, there := lookup(data, path)
		return there, nil
	}
}

// take gives the parsed file for one compilation, which changes it. The next one
// gets another: mistakes are rare, and copies are not free.
func (m *Module) take() *ast.Module {
	if m.taken {
		if again, err := reparse(m.Path, m.text); err == nil {
			m.parsed = again.parsed
		}
	}
	m.taken = true
	return m.parsed
}

// newCompiler is a compiler that takes what policies may use, and nothing else.
func newCompiler(o engine.Options) *ast.Compiler {
	c := ast.NewCompiler().WithCapabilities(capabilities(o.Extra)).WithDefaultRegoVersion(ast.RegoV1).WithStrict(o.Strict).WithEnablePrintStatements(o.Print)
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
)

// Eval gives the values of rules, in order. It comes to its end when ctx does;
// what there was no time for has an error. A rule gets half of the time that is
// left, so that one without end does not take the others down; then the rest of
// its package is not asked.
//
// All of them are evaluated in one goroutine: a new one's stack grows, which
// costs as much as a small policy.
func (p *Program) Eval(ctx context.Context, queries []Query) []Result {
	e := evaluation{results: make([]Result, len(queries)), done: make(chan struct{}), seen: map[engine.Input]seen{}}
	for i := range queries {
		// Values are the caller's, who may go on with them when this returns.
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

// evaluation is one that goes on in a goroutine of its own.
type evaluation struct {
	// results may be read up to ready, and as a whole when done is closed.
	results []Result
	ready   atomic.Int64
	done    chan struct{}
	// reading is set while an input is read: what that takes is not the policy's.
	reading atomic.Bool
	// turn is the rule that is evaluated, nil between two.
	turn atomic.Pointer[turn]
	// seen are the inputs as OPA sees them.
	seen map[engine.Input]seen
}

// turn is the evaluation of one rule.
type turn struct {
	cancel topdown.Cancel
	end    time.Time
	// stopped is when it was told to stop, why is the reason.
	stopped time.Time
	why     atomic.Pointer[error]
}

func (t *turn) stop(why error) {
	t.stopped = time.Now()
	t.why.Store(&why)
	t.cancel.Cancel()
}

// look stops the rule whose turn it is where it takes too long or too much. It
// reports false where one that was stopped goes on.
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

// run evaluates queries one after another. What one rule needed of others, the
// next one with the same input finds; but not after an error, which may have left
// behind what was known of another input ("with input as …").
func (e *evaluation) run(ctx context.Context, p *Program, queries []Query) {
	defer close(e.done)
	var known topdown.VirtualCache
	var in seen
	stopped := "" // the package that was
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
			runtime.GC() // so that the next one is not blamed for what this one left
		}
		e.results[i] = r
		e.ready.Add(1)
	}
}

// one gives a rule its turn.
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

// sofar is what is known of an evaluation that is stopped as a whole, since there
// is no more time, or since a rule does not stop.
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

// stack is what an evaluation of small policies takes of a stack, in bytes.
const stack = 24 << 10

// makeRoom makes the stack of a goroutine that has just begun large enough.
// Growing it step by step later moves all frames each time, which is a fifth of
// the time of a small policy.
//
//go:noinline
func makeRoom() {
	var room [stack]byte
	touch(&room)
}

//go:noinline
func touch(*[stack]byte) {}

// seen is an input as OPA sees it, or why it cannot.
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

// heap is how many bytes objects take in this process.
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
	return topdown.NewQuery(ast.NewBody(ast.Equality.Expr(ast.NewTerm(answer), ast.NewTerm(ref)))).WithCompiler(p.compiler).WithStore(store{root: p.data})
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
