package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/decide/policy/engine"
)

// Engine asks a server that it starts on first use. It is safe for concurrent use; requests
// wait for each other.
type Engine struct {
	// name is the program's name in messages. find returns its path, or the reason why it
	// must not be started.
	name string
	find func() (string, error)
	// turn holds a token unless a request is running. The holder of the token may use the
	// fields below.
	turn   chan struct{}
	child  *child
	closed bool

	programs atomic.Uint64 // the number of programs sent for compilation
}

// Beside returns an engine that starts [Program] from the folder of another program of
// Cardea, with links resolved.
func Beside(program string) *Engine {
	return newEngine(Program, func() (string, error) { return Find(program) })
}

func newEngine(name string, find func() (string, error)) *Engine {
	e := &Engine{name: name, find: find, turn: make(chan struct{}, 1)}
	e.turn <- struct{}{}
	return e
}

// Ready returns the reason why the server cannot be started, or nil.
func (e *Engine) Ready() error {
	_, err := e.find()
	return err
}

// Close ends the server, and prevents the start of another one.
func (e *Engine) Close() {
	<-e.turn
	e.closed = true
	if e.child != nil {
		e.child.Kill()
	}
	e.turn <- struct{}{}
}

// Wake starts the server in the background if it is not running.
func (e *Engine) Wake() {
	go func() {
		<-e.turn
		_ = e.start() // the next request meets the same error
		e.turn <- struct{}{}
	}()
}

// start starts the server if none is alive. The caller must have the turn.
func (e *Engine) start() error {
	if e.child.alive() {
		return nil
	}
	if e.closed {
		return e.named(errEnded)
	}
	path, err := e.find()
	if err != nil {
		return err
	}
	if e.child, err = startChild(path); err != nil {
		return fmt.Errorf("start %s: %w", e.name, err)
	}
	return nil
}

// take waits for the turn. The returned function gives it back.
func (e *Engine) take(ctx context.Context) (func(), error) {
	if ctx.Err() == nil {
		select {
		case <-e.turn:
			return func() { e.turn <- struct{}{} }, nil
		case <-ctx.Done():
		}
	}
	return nil, e.named(errNoAnswer)
}

// named adds the program's name to an error.
func (e *Engine) named(err error) error { return fmt.Errorf("%s %w", e.name, err) }

// ask sends a request and decodes its answer into a value. The caller must have the turn.
func (e *Engine) ask(ctx context.Context, tag byte, about, into any) error {
	body, err := json.Marshal(about)
	if err != nil {
		return e.named(fmt.Errorf("cannot be asked: %w", err))
	}
	if err := e.start(); err != nil {
		return err
	}
	left := limit.Engine
	if end, limited := ctx.Deadline(); limited {
		left = time.Until(end)
	}
	a, err := e.child.exchange(ctx, message{version: version, tag: tag, left: left, body: body})
	if err != nil {
		return e.named(err)
	}
	if a.tag == tagFailed {
		return errors.New(string(a.body))
	}
	d := json.NewDecoder(bytes.NewReader(a.body))
	d.UseNumber() // keeps numbers as written
	if d.Decode(into) != nil {
		e.child.Kill()
		return e.named(errProtocol)
	}
	return nil
}

// twice asks again, once, if the server ended meanwhile, perhaps because of another
// request.
func twice(ask func() error) error {
	err := ask()
	if errors.Is(err, errEnded) {
		err = ask()
	}
	return err
}

// answer takes the turn and asks.
func answer[T any](ctx context.Context, e *Engine, tag byte, about any) (out T, err error) {
	giveBack, err := e.take(ctx)
	if err != nil {
		return out, err
	}
	defer giveBack()
	err = twice(func() error { return e.ask(ctx, tag, about, &out) })
	return out, err
}

// Parse returns the facts of files, in their order.
func (e *Engine) Parse(ctx context.Context, files []engine.Source) ([]engine.Parsed, error) {
	out, err := answer[[]engine.Parsed](ctx, e, tagParse, files)
	if err == nil && len(out) != len(files) {
		err = e.named(errProtocol)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Look returns mistakes that OPA does not report.
func (e *Engine) Look(ctx context.Context, files []engine.Source) ([]diagnostic.Diagnostic, error) {
	return answer[[]diagnostic.Diagnostic](ctx, e, tagLook, files)
}

// Fields returns the input fields that files read and that no event has.
func (e *Engine) Fields(ctx context.Context, files []engine.Source, o engine.Options, shapes []engine.Shape) ([]diagnostic.Diagnostic, error) {
	return answer[[]diagnostic.Diagnostic](ctx, e, tagFields, fieldsRequest{Files: files, Options: o, Shapes: shapes})
}

// Format returns the texts of files as OPA's formatter writes them.
func (e *Engine) Format(ctx context.Context, files []engine.Source) ([]engine.Formatted, error) {
	out, err := answer[[]engine.Formatted](ctx, e, tagFormat, files)
	if err == nil && len(out) != len(files) {
		err = e.named(errProtocol)
	}
	return out, err
}

// Test runs the tests of policies.
func (e *Engine) Test(ctx context.Context, files []engine.Source, o engine.TestOptions) (engine.Tested, error) {
	return answer[engine.Tested](ctx, e, tagTest, testRequest{Files: files, Options: o})
}

// Compile sends files to be compiled, and does not wait.
func (e *Engine) Compile(files []engine.Source, o engine.Options) engine.Program {
	p := &program{engine: e, request: compileRequest{Program: e.programs.Add(1), Files: files, Options: o}, compiled: make(chan struct{})}
	ctx, cancel := context.WithTimeout(context.Background(), limit.Engine)
	p.giveUp = cancel
	go func() {
		defer close(p.compiled)
		giveBack, err := e.take(ctx)
		if err != nil {
			p.err = err
			return
		}
		defer giveBack()
		p.err = twice(func() (err error) {
			p.broken, err = p.compile(ctx)
			return err
		})
	}()
	return p
}

// program is a program on the server, with the files that it is made from.
type program struct {
	engine  *Engine
	request compileRequest
	// compiled is closed when compilation has ended. giveUp ends it early.
	compiled chan struct{}
	giveUp   context.CancelFunc
	broken   map[string]engine.Problems
	err      error
	// on is the server that has it. Only the holder of the engine's turn may use it.
	on *child
}

// compile compiles the program on the server and returns the files that were left out. The
// caller must have the engine's turn.
func (p *program) compile(ctx context.Context) (broken map[string]engine.Problems, err error) {
	if on := p.engine.child; on.alive() && on.programs >= maxPrograms {
		on.Kill() // a server keeps all its programs; the next one starts empty
	}
	if err = p.engine.ask(ctx, tagCompile, p.request, &broken); err == nil {
		p.on = p.engine.child
		p.on.programs++
	}
	return broken, err
}

// maxPrograms is the most programs on a server.
const maxPrograms = 256

// wait waits until the program is compiled. If ctx ends first, it stops the compilation.
func (p *program) wait(ctx context.Context) error {
	select {
	case <-p.compiled:
		return nil
	default:
	}
	select {
	case <-p.compiled:
		return nil
	case <-ctx.Done():
		p.giveUp()
		return p.engine.named(errNoAnswer)
	}
}

// Broken returns the files that were left out, with their mistakes.
func (p *program) Broken(ctx context.Context) (map[string]engine.Problems, error) {
	if err := p.wait(ctx); err != nil {
		return nil, err
	}
	return p.broken, p.err
}

// Eval returns the values of rules.
func (p *program) Eval(ctx context.Context, queries []engine.Query) []engine.Result {
	results, err := p.eval(ctx, queries)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		err = engine.ErrTime
	case err == nil && len(results) != len(queries):
		err = p.engine.named(errProtocol)
	}
	out := make([]engine.Result, len(queries))
	for i := range out {
		if out[i].Err = err; err == nil {
			out[i] = results[i].received()
		}
	}
	return out
}

// eval sends queries to the server. It compiles the program again if its server has ended.
func (p *program) eval(ctx context.Context, queries []engine.Query) (out []result, err error) {
	if err := p.wait(ctx); err != nil {
		return nil, err
	}
	e := p.engine
	giveBack, err := e.take(ctx)
	if err != nil {
		return nil, err
	}
	defer giveBack()
	err = twice(func() error {
		if !p.on.alive() { // the server that compiled it has ended
			if _, err := p.compile(ctx); err != nil {
				return err
			}
		}
		return e.ask(ctx, tagEval, p.evalRequest(queries), &out)
	})
	for _, r := range out {
		// A stopped rule may continue for ever in the server.
		if err := r.received().Err; err == engine.ErrTime || err == engine.ErrMemory {
			e.child.Kill()
		}
	}
	return out, err
}

// evalRequest returns the request for queries. It contains each input once.
func (p *program) evalRequest(queries []engine.Query) evalRequest {
	r := evalRequest{Program: p.request.Program, Inputs: []json.RawMessage{}, Queries: make([]query, len(queries))}
	at := map[engine.Input]int{}
	for i, q := range queries {
		n, sent := at[q.Input]
		if !sent {
			n = len(r.Inputs)
			at[q.Input] = n
			r.Inputs = append(r.Inputs, q.Input.JSON())
		}
		r.Queries[i] = query{q.Package, q.Rule, n}
	}
	return r
}
