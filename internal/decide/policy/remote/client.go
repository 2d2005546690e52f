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
	closed   bool
	programs atomic.Uint64
}

// Beside is an engine that starts the program cardea-policy from the folder in
// which a program of Cardea's lies, links resolved.
func Beside(program string) *Engine {
	return &Engine{find: func() (string, error) { return find(program) }}
}

const (
	// longest is the time of a request to which nobody gives one.
	longest = time.Minute
	// grace is how much longer than its time a request may take: the server
	// ends it by itself, and says what it knows by then.
	grace = 50 * time.Millisecond
)

// errNoAnswer is met by who waited in vain, errEnded by who had the process end
// meanwhile.
var (
	errNoAnswer = fmt.Errorf("cardea-policy gave no answer in time: %w", context.DeadlineExceeded)
	errEnded    = errors.New("cardea-policy ended without an answer")
)

// Ready tells why the program must not be started.
func (e *Engine) Ready() error {
	_, err := e.find()
	return err
}

// Close ends the process. No other one is started.
func (e *Engine) Close() {
	e.mu.Lock()
	p := e.peer
	e.closed = true
	e.mu.Unlock()
	if p != nil {
		p.fail(errEnded)
	}
}

// current is the process that requests are sent to.
func (e *Engine) current() (*peer, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.peer != nil && e.peer.usable() {
		return e.peer, nil
	}
	if e.closed {
		return nil, errEnded
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

// Wake starts the process, if it is not there yet.
func (e *Engine) Wake() {
	_, _ = e.current() // who asks meets the same error
}

// post sends a request.
func (e *Engine) post(r request) (*question, error) {
	p, err := e.current()
	if err != nil {
		return nil, err
	}
	return p.post(r)
}

// ask sends a request, and waits for the answer. A process that ended meanwhile
// may have done so because of another request, so a new one is asked, once.
func (e *Engine) ask(ctx context.Context, r request) (answer, error) {
	for again := true; ; again = false {
		if ctx.Err() != nil {
			return answer{}, errNoAnswer
		}
		r.V, r.Left = version, longest
		if end, limited := ctx.Deadline(); limited {
			r.Left = time.Until(end)
		}
		q, err := e.post(r)
		var a answer
		if err == nil {
			a, err = q.wait(ctx)
		}
		if again && errors.Is(err, errEnded) {
			continue
		}
		if err == nil && a.Error != "" {
			err = errors.New(a.Error)
		}
		return a, err
	}
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

// Compile sends files to be compiled.
func (e *Engine) Compile(files []engine.Source, o engine.Options) engine.Program {
	p := &program{engine: e, compile: compileRequest{Program: e.programs.Add(1), Files: files, Options: o}, done: make(chan struct{})}
	q, err := e.post(request{V: version, Left: longest, Compile: &p.compile})
	if err != nil {
		p.err = err
		close(p.done)
		return p
	}
	p.peer = q.peer
	go func() {
		defer close(p.done)
		ctx, cancel := context.WithTimeout(context.Background(), longest)
		defer cancel()
		a, err := q.wait(ctx)
		if errors.Is(err, errEnded) && !p.late.Load() {
			a, err = e.ask(ctx, request{Compile: &p.compile})
		}
		if err == nil && a.Error != "" {
			err = errors.New(a.Error)
		}
		p.broken, p.err = a.Broken, err
	}()
	return p
}

// program is a program of the server's, with what it is made from.
type program struct {
	engine  *Engine
	compile compileRequest
	// done is closed when it is known what came of compiling it.
	done   chan struct{}
	broken map[string]engine.Problems
	err    error
	// peer is the process that was asked, nil for none; late is set where
	// somebody waited for it in vain.
	peer *peer
	late atomic.Bool
}

// Broken are the files that were left out.
func (p *program) Broken(ctx context.Context) (map[string]engine.Problems, error) {
	select {
	case <-p.done:
		return p.broken, p.err
	default:
	}
	select {
	case <-p.done:
		return p.broken, p.err
	case <-ctx.Done():
		p.late.Store(true)
		p.peer.fail(errEnded)
		return nil, errNoAnswer
	}
}

// Eval gives the values of rules. The request follows that to compile, whose
// answer it does not wait for.
func (p *program) Eval(ctx context.Context, queries []engine.Query) []engine.Result {
	r := request{Eval: p.request(queries)}
	a, err := p.engine.ask(ctx, r)
	if err == nil && a.Unknown {
		// The server that compiled it is gone, or forgot it.
		if a, err = p.engine.ask(ctx, request{Compile: &p.compile}); err == nil {
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
