package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"cardea.dev/internal/decide/policy/engine"
)

// maxPrograms is how many compiled programs a server keeps. One that it does not
// have any more is sent again.
const maxPrograms = 256

// Serve works on the requests that come, until there are no more. What is still
// being worked on then is left behind: the process is expected to end. The error
// is that of reading.
func Serve(e engine.Engine, in io.Reader, out io.Writer) error {
	s := &server{engine: e, out: out, programs: map[uint64]*slot{}}
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		r, err := readRequest(lines)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		if r.version != version || r.kind != kindCompile {
			go s.work(&r, nil)
			continue
		}
		// What is asked next may be about the program.
		var c compileRequest
		if err := json.Unmarshal(r.body, &c); err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		go s.work(&r, &compiling{c, s.place(c.Program)})
	}
}

type server struct {
	engine engine.Engine

	writing sync.Mutex
	out     io.Writer

	mu       sync.Mutex
	programs map[uint64]*slot
	kept     []uint64 // their numbers, oldest first
}

// slot is the place of a program, which is made while the next requests are read.
type slot struct {
	ready   chan struct{}
	program engine.Program // nil where it could not be made
}

// place makes the place of a program, and forgets the oldest one where there are
// too many.
func (s *server) place(id uint64) *slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.programs[id] == nil {
		s.kept = append(s.kept, id)
	}
	out := &slot{ready: make(chan struct{})}
	s.programs[id] = out
	if len(s.kept) > maxPrograms {
		delete(s.programs, s.kept[0])
		s.kept = s.kept[1:]
	}
	return out
}

// program waits for a program until there is no time left. It is nil where there
// is none.
func (s *server) program(ctx context.Context, id uint64) engine.Program {
	s.mu.Lock()
	at := s.programs[id]
	s.mu.Unlock()
	if at == nil {
		return nil
	}
	select {
	case <-at.ready:
		return at.program
	case <-ctx.Done():
		return late{}
	}
}

// late is a program that there is no time to wait for.
type late struct{}

// Broken knows nothing.
func (late) Broken(context.Context) (map[string]engine.Problems, error) { return nil, engine.ErrTime }

// Eval says that there was no time.
func (late) Eval(_ context.Context, queries []engine.Query) []engine.Result {
	out := make([]engine.Result, len(queries))
	for i := range out {
		out[i].Err = engine.ErrTime
	}
	return out
}

// compiling is a program that is to be made.
type compiling struct {
	compileRequest
	place *slot
}

// work answers a request; c is there where it is to compile.
func (s *server) work(r *request, c *compiling) {
	a := s.guarded(r, c)
	a.id = r.id
	text, err := a.frame()
	if err != nil {
		a = answerOf(failed, "the answer cannot be sent: "+err.Error())
		a.id = r.id
		text, _ = a.frame()
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	// Who asked is gone where this fails, and then reading ends, too.
	_, _ = s.out.Write(text)
}

// answerOf is an answer that is a text.
func answerOf(o outcome, text string) answer { return answer{outcome: o, body: []byte(text)} }

// guarded is the answer to a request, whatever happens.
func (s *server) guarded(r *request, c *compiling) (a answer) {
	if c != nil {
		defer close(c.place.ready)
	}
	defer func() {
		if why := recover(); why != nil {
			a = answerOf(failed, fmt.Sprintf("internal error: %v", why))
		}
	}()
	if r.version != version {
		return answerOf(failed, fmt.Sprintf("cardea and the programs beside it are of different versions (%d, %d): install all of them anew", r.version, version))
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.left)
	defer cancel()
	o, about, err := s.answer(ctx, r, c)
	var body []byte
	if err == nil && about != nil {
		body, err = json.Marshal(about)
	}
	if err != nil {
		return answerOf(failed, err.Error())
	}
	return answer{outcome: o, body: body}
}

// answer gives the outcome and the body of an answer.
func (s *server) answer(ctx context.Context, r *request, c *compiling) (outcome, any, error) {
	switch r.kind {
	case kindCompile:
		c.place.program = s.engine.Compile(c.Files, c.Options)
		broken, err := c.place.program.Broken(ctx)
		if len(broken) == 0 {
			return done, nil, err
		}
		return done, broken, err
	case kindEval:
		var e evalRequest
		if err := json.Unmarshal(r.body, &e); err != nil {
			return failed, nil, err
		}
		return s.eval(ctx, &e)
	case kindTest:
		var t testRequest
		if err := json.Unmarshal(r.body, &t); err != nil {
			return failed, nil, err
		}
		out, err := s.engine.Test(ctx, t.Files, t.Options)
		return done, out, err
	case kindParse, kindLook:
		var files []engine.Source
		if err := json.Unmarshal(r.body, &files); err != nil {
			return failed, nil, err
		}
		if r.kind == kindLook {
			out, err := s.engine.Look(ctx, files)
			return done, out, err
		}
		out, err := s.engine.Parse(ctx, files)
		return done, out, err
	}
	return failed, nil, fmt.Errorf("nobody here knows what %d is", r.kind)
}

// eval evaluates rules of a program.
func (s *server) eval(ctx context.Context, r *evalRequest) (outcome, any, error) {
	p := s.program(ctx, r.Program)
	if p == nil {
		return unknown, nil, nil
	}
	inputs := make([]engine.Input, len(r.Inputs))
	for i, text := range r.Inputs {
		inputs[i] = engine.JSON(text)
	}
	queries := make([]engine.Query, len(r.Queries))
	for i, q := range r.Queries {
		if q.Input < 0 || q.Input >= len(inputs) {
			return failed, nil, fmt.Errorf("there is no input %d", q.Input)
		}
		queries[i] = engine.Query{Package: q.Package, Rule: q.Rule, Input: inputs[q.Input]}
	}
	o, out := done, make([]result, len(queries))
	room := maxResults
	for i, r := range p.Eval(ctx, queries) {
		if n := size(r.Value, room); n > room {
			r.Value, r.Err = nil, errLarge
		} else {
			room -= n
		}
		if errors.Is(r.Err, engine.ErrTime) || errors.Is(r.Err, engine.ErrMemory) {
			o = cutOff
		}
		out[i] = resultOf(r)
	}
	return o, out, nil
}

// maxResults bounds what rules say together. What a policy makes of small values
// by naming them often would be long as text.
const maxResults = 4 << 20

var errLarge = fmt.Errorf("what it says is larger than %d bytes", maxResults)

// size is about how many bytes a JSON value takes as text; it counts no further
// than a little beyond most.
func size(v any, most int) int {
	n := 8
	switch v := v.(type) {
	case string:
		n += len(v)
	case json.Number:
		n += len(v)
	case []any:
		for _, e := range v {
			if n > most {
				break
			}
			n += size(e, most-n)
		}
	case map[string]any:
		for k, e := range v {
			if n > most {
				break
			}
			n += len(k) + size(e, most-n)
		}
	}
	return n
}
