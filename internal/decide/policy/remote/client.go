package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"cardea.dev/internal/decide/policy/engine"
)

// Engine asks a process that it starts when it is first needed. It may be used
// by many goroutines.
type Engine struct {
	// find gives the program's path, or why it must not be started.
	find func() (string, error)

	mu       sync.Mutex
	peer     *peer
	programs atomic.Uint64
}

// Beside is an engine that starts the program cardea-policy from the folder in
// which a program of Cardea's lies, links resolved.
func Beside(program string) *Engine {
	return &Engine{find: func() (string, error) { return find(program) }}
}

const (
	// longest is the time of a request to which nobody gives one.
	longest = 10 * time.Minute
	// grace is how much longer than its time a request may take: the server
	// ends it by itself, and says what it knows by then.
	grace = 50 * time.Millisecond
)

// errNoAnswer is met by who waited in vain.
var errNoAnswer = fmt.Errorf("cardea-policy gave no answer in time: %w", context.DeadlineExceeded)

// Ready tells why the program must not be started.
func (e *Engine) Ready() error {
	_, err := e.find()
	return err
}

// Close ends the process. The next request starts another one.
func (e *Engine) Close() {
	e.mu.Lock()
	p := e.peer
	e.peer = nil
	e.mu.Unlock()
	if p != nil {
		p.fail(errors.New("cardea-policy was ended"))
	}
}

// current is the process that requests are sent to.
func (e *Engine) current() (*peer, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.peer != nil && e.peer.usable() {
		return e.peer, nil
	}
	path, err := e.find()
	if err != nil {
		return nil, err
	}
	p, err := start(path)
	if err != nil {
		return nil, fmt.Errorf("start cardea-policy: %w", err)
	}
	e.peer = p
	return p, nil
}

// ask sends a request, and waits for the answer.
func (e *Engine) ask(ctx context.Context, r request) (answer, error) {
	if ctx.Err() != nil {
		return answer{}, errNoAnswer
	}
	p, err := e.current()
	if err != nil {
		return answer{}, err
	}
	r.V, r.Left = version, longest
	if end, limited := ctx.Deadline(); limited {
		r.Left = time.Until(end)
	}
	a, err := p.ask(ctx, r)
	if err == nil && a.Error != "" {
		err = errors.New(a.Error)
	}
	return a, err
}

// Parse gives what files say about themselves.
func (e *Engine) Parse(ctx context.Context, files []engine.Source) ([]engine.Parsed, error) {
	a, err := e.ask(ctx, request{Parse: files})
	if err == nil && len(a.Parsed) != len(files) {
		err = errWords
	}
	if err != nil {
		return nil, err
	}
	return a.Parsed, nil
}

// Look gives the mistakes that OPA does not report.
func (e *Engine) Look(ctx context.Context, files []engine.Source) ([]engine.Remark, error) {
	a, err := e.ask(ctx, request{Look: files})
	return a.Remarks, err
}

// Test runs tests.
func (e *Engine) Test(ctx context.Context, files []engine.Source, o engine.Options) (engine.Tested, error) {
	a, err := e.ask(ctx, request{Test: &compileRequest{Files: files, Options: o}})
	if err == nil && a.Tested == nil {
		err = errWords
	}
	if err != nil {
		return engine.Tested{}, err
	}
	return *a.Tested, nil
}

// Compile compiles files together.
func (e *Engine) Compile(ctx context.Context, files []engine.Source, o engine.Options) (engine.Program, map[string]engine.Problems, error) {
	p := &program{engine: e, compile: compileRequest{Program: e.programs.Add(1), Files: files, Options: o}}
	broken, err := p.send(ctx)
	if err != nil {
		return nil, nil, err
	}
	return p, broken, nil
}

// program is a program of the server's, with what it is made from.
type program struct {
	engine  *Engine
	compile compileRequest
}

// send has the program compiled.
func (p *program) send(ctx context.Context) (map[string]engine.Problems, error) {
	a, err := p.engine.ask(ctx, request{Compile: &p.compile})
	if a.Broken == nil {
		a.Broken = map[string]engine.Problems{}
	}
	return a.Broken, err
}

// Eval gives the values of rules.
func (p *program) Eval(ctx context.Context, queries []engine.Query) []engine.Result {
	r := request{Eval: p.request(queries)}
	a, err := p.engine.ask(ctx, r)
	if err == nil && a.Unknown {
		// The server that compiled it is gone, or forgot it.
		if _, err = p.send(ctx); err == nil {
			a, err = p.engine.ask(ctx, r)
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = engine.ErrTime
	}
	if err == nil && len(a.Results) != len(queries) {
		err = errWords
	}
	out := make([]engine.Result, len(queries))
	for i := range out {
		if out[i].Err = err; err == nil {
			out[i] = a.Results[i].plain()
		}
	}
	return out
}

// request is what is sent about queries. Each input is sent once.
func (p *program) request(queries []engine.Query) *evalRequest {
	r := &evalRequest{Program: p.compile.Program, Inputs: []json.RawMessage{}, Queries: make([]query, len(queries))}
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
