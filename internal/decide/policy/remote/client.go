package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/decide/policy/engine"
)

// Engine asks a server that it starts when it is first needed. It may be used by
// many goroutines, whose requests wait for each other.
type Engine struct {
	// name is the program's, for messages; find gives its path, or why it must
	// not be started.
	name string
	find func() (string, error)
	// turn holds a token while nobody asks. Who has it may use the fields below.
	turn   chan struct{}
	child  *child
	closed bool

	programs atomic.Uint64 // how many were compiled
}

// Beside is an engine that starts [Program] from the folder in which another
// program of Cardea's lies, links resolved.
func Beside(program string) *Engine {
	return newEngine(Program, func() (string, error) { return Find(program) })
}

func newEngine(name string, find func() (string, error)) *Engine {
	e := &Engine{name: name, find: find, turn: make(chan struct{}, 1)}
	e.turn <- struct{}{}
	return e
}

// Ready says why the server must not be started.
func (e *Engine) Ready() error {
	_, err := e.find()
	return err
}

// Close ends the server. No other one is started.
func (e *Engine) Close() {
	<-e.turn
	e.closed = true
	if e.child != nil {
		e.child.Kill()
	}
	e.turn <- struct{}{}
}

// Wake starts the server, if it is not there yet.
func (e *Engine) Wake() {
	go func() {
		<-e.turn
		_ = e.start() // who asks meets the same error
		e.turn <- struct{}{}
	}()
}

// start starts the server where none is alive. The caller has the turn.
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

// take waits for the turn. The function that it returns gives it back.
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

// named puts the program's name in front of an error.
func (e *Engine) named(err error) error { return fmt.Errorf("%s %w", e.name, err) }

// ask sends a request and reads its answer into a value. The caller has the turn.
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
	d.UseNumber() // as they are written
	if d.Decode(into) != nil {
		e.child.Kill()
		return e.named(errProtocol)
	}
	return nil
}

// twice asks again, once, where the server ended meanwhile: another request may
// have been the reason.
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

// Parse gives what files say about themselves.
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

// Look gives the mistakes that OPA does not report.
func (e *Engine) Look(ctx context.Context, files []engine.Source) ([]cardea.Diagnostic, error) {
	return answer[[]cardea.Diagnostic](ctx, e, tagLook, files)
}

// Fields gives the fields of input that files read and that no event has.
func (e *Engine) Fields(ctx context.Context, files []engine.Source, o engine.Options, shapes []engine.Shape) ([]cardea.Diagnostic, error) {
	return answer[[]cardea.Diagnostic](ctx, e, tagFields, fieldsRequest{Files: files, Options: o, Shapes: shapes})
}

// Format gives the texts of files as OPA's formatter writes them.
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

// program is a program of the server's, with what it is made from.
type program struct {
	engine  *Engine
	request compileRequest
	// compiled is closed when it is known what came of compiling it; giveUp ends
	// the wait for it.
	compiled chan struct{}
	giveUp   context.CancelFunc
	broken   map[string]engine.Problems
	err      error
	// on is the server that has it. Who has the engine's turn may use it.
	on *child
}

// compile compiles the program on the server and gives the files that were left
// out. The caller has the engine's turn.
func (p *program) compile(ctx context.Context) (broken map[string]engine.Problems, err error) {
	if on := p.engine.child; on.alive() && on.programs >= maxPrograms {
		on.Kill() // it keeps every program, and the next server none
	}
	if err = p.engine.ask(ctx, tagCompile, p.request, &broken); err == nil {
		p.on = p.engine.child
		p.on.programs++
	}
	return broken, err
}

// maxPrograms bounds the programs that a server has.
const maxPrograms = 256

// wait waits until the program is compiled. A wait in vain ends compiling.
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

// Broken are the files that were left out.
func (p *program) Broken(ctx context.Context) (map[string]engine.Problems, error) {
	if err := p.wait(ctx); err != nil {
		return nil, err
	}
	return p.broken, p.err
}

// Eval gives the values of rules.
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
		if !p.on.alive() { // the server that compiled it is gone
			if _, err := p.compile(ctx); err != nil {
				return err
			}
		}
		return e.ask(ctx, tagEval, p.evalRequest(queries), &out)
	})
	for _, r := range out {
		// What was cut off may go on for ever in the server.
		if err := r.received().Err; err == engine.ErrTime || err == engine.ErrMemory {
			e.child.Kill()
		}
	}
	return out, err
}

// evalRequest is what is sent about queries. Each input is sent once.
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
