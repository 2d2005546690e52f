package remote

import (
	"bytes"
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
	// name is the program's, for messages; find gives its path, or why it must
	// not be started.
	name string
	find func() (string, error)

	mu       sync.Mutex
	peer     *peer
	closed   bool
	programs atomic.Uint64
}

// Beside is an engine that starts [Program] from the folder in which another
// program of Cardea's lies, links resolved.
func Beside(program string) *Engine {
	return &Engine{name: Program, find: func() (string, error) { return find(program, Program) }}
}

const (
	// longest is the time of a request to which nobody gives one.
	longest = time.Minute
	// grace is how much longer than its time a request may take: the server
	// ends it by itself, and says what it knows by then.
	grace = 50 * time.Millisecond
)

// errNoAnswer is met by who waited in vain, errEnded by who had the process end
// meanwhile, errWords by who gets an answer to something else. Before they are
// told, they get the program's name.
var (
	errNoAnswer = fmt.Errorf("gave no answer in time: %w", context.DeadlineExceeded)
	errEnded    = errors.New("ended without an answer")
	errWords    = errors.New("answers in words that are not understood: install cardea and the programs beside it anew")
)

// named is an error with the name of the program in front.
func (e *Engine) named(err error) error { return fmt.Errorf("%s %w", e.name, err) }

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
		return nil, e.named(errEnded)
	}
	path, err := e.find()
	if err != nil {
		return nil, err
	}
	p, err := start(path)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", e.name, err)
	}
	e.peer = p
	return p, nil
}

// Wake starts the process, if it is not there yet.
func (e *Engine) Wake() {
	go func() { _, _ = e.current() }() // who asks meets the same error
}

// post sends a request.
func (e *Engine) post(r request) (*question, error) {
	p, err := e.current()
	if err != nil {
		return nil, err
	}
	q, err := p.post(r)
	if err != nil {
		return nil, e.named(err)
	}
	return q, nil
}

// answer waits for the answer to a request.
func (e *Engine) answer(ctx context.Context, q *question) (answer, error) {
	a, err := q.wait(ctx)
	switch {
	case err != nil:
		return a, e.named(err)
	case a.outcome == failed:
		return a, errors.New(string(a.body))
	case a.outcome < done || a.outcome > failed:
		return a, e.named(errWords)
	}
	return a, nil
}

// ask sends a request, and waits for the answer. A process that ended meanwhile
// may have done so because of another request, so a new one is asked, once.
func (e *Engine) ask(ctx context.Context, k kind, about any) (answer, error) {
	body, err := json.Marshal(about)
	if err != nil {
		return answer{}, fmt.Errorf("%s cannot be asked: %w", e.name, err)
	}
	for again := true; ; again = false {
		if ctx.Err() != nil {
			return answer{}, e.named(errNoAnswer)
		}
		left := longest
		if end, limited := ctx.Deadline(); limited {
			left = time.Until(end)
		}
		q, err := e.post(request{version: version, kind: k, left: left, body: body})
		var a answer
		if err == nil {
			a, err = e.answer(ctx, q)
		}
		if again && errors.Is(err, errEnded) {
			continue
		}
		return a, err
	}
}

// read takes the body of an answer. Numbers in JSON values stay as they are
// written.
func (e *Engine) read(a answer, into any) error {
	d := json.NewDecoder(bytes.NewReader(a.body))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return e.named(errWords)
	}
	return nil
}

// asked asks, and reads the answer.
func (e *Engine) asked(ctx context.Context, k kind, about, into any) error {
	a, err := e.ask(ctx, k, about)
	if err != nil {
		return err
	}
	return e.read(a, into)
}

// Parse gives what files say about themselves.
func (e *Engine) Parse(ctx context.Context, files []engine.Source) (out []engine.Parsed, err error) {
	err = e.asked(ctx, kindParse, files, &out)
	if err == nil && len(out) != len(files) {
		err = e.named(errWords)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Look gives the mistakes that OPA does not report.
func (e *Engine) Look(ctx context.Context, files []engine.Source) (out []engine.Remark, err error) {
	err = e.asked(ctx, kindLook, files, &out)
	return out, err
}

// Test runs the tests of policies.
func (e *Engine) Test(ctx context.Context, files []engine.Source, o engine.TestOptions) (out engine.Tested, err error) {
	err = e.asked(ctx, kindTest, testRequest{Files: files, Options: o}, &out)
	return out, err
}

// Compile sends files to be compiled.
func (e *Engine) Compile(files []engine.Source, o engine.Options) engine.Program {
	p := &program{engine: e, compile: compileRequest{Program: e.programs.Add(1), Files: files, Options: o}, done: make(chan struct{})}
	body, err := json.Marshal(p.compile)
	var q *question
	if err == nil {
		q, err = e.post(request{version: version, kind: kindCompile, left: longest, body: body})
	}
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
		a, err := e.answer(ctx, q)
		if errors.Is(err, errEnded) && !p.late.Load() {
			a, err = e.ask(ctx, kindCompile, p.compile)
		}
		if err == nil && len(a.body) > 0 {
			err = e.read(a, &p.broken)
		}
		p.err = err
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
		return nil, p.engine.named(errNoAnswer)
	}
}

// Eval gives the values of rules. The request follows that to compile, whose
// answer it does not wait for.
func (p *program) Eval(ctx context.Context, queries []engine.Query) []engine.Result {
	r := p.request(queries)
	a, err := p.engine.ask(ctx, kindEval, r)
	if err == nil && a.outcome == unknown {
		// The server that compiled it is gone, or forgot it.
		if a, err = p.engine.ask(ctx, kindCompile, p.compile); err == nil {
			a, err = p.engine.ask(ctx, kindEval, r)
		}
	}
	var results []result
	if err == nil && a.outcome != unknown {
		err = p.engine.read(a, &results)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = engine.ErrTime
	}
	if err == nil && len(results) != len(queries) {
		err = p.engine.named(errWords)
	}
	out := make([]engine.Result, len(queries))
	for i := range out {
		if out[i].Err = err; err == nil {
			out[i] = results[i].plain()
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
