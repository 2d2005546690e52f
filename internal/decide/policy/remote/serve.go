package remote

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
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
		text, err := readFrame(lines, maxRequest)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		var r request
		if err := json.Unmarshal(text, &r); err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		var place *slot
		if r.Compile != nil && r.V == version {
			place = s.place(r.Compile.Program)
		}
		go s.work(&r, place)
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

// work answers a request.
func (s *server) work(r *request, place *slot) {
	a := s.guarded(r, place)
	a.ID = r.ID
	text, err := frame(a, maxAnswer)
	if err != nil {
		text, _ = frame(answer{ID: r.ID, Error: "the answer cannot be sent: " + err.Error()}, maxAnswer)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	// Who asked is gone where this fails, and then reading ends, too.
	_, _ = s.out.Write(text)
}

// guarded is the answer to a request, whatever happens.
func (s *server) guarded(r *request, place *slot) (a answer) {
	if place != nil {
		defer close(place.ready)
	}
	defer func() {
		if failed := recover(); failed != nil {
			a = answer{Error: fmt.Sprintf("internal error: %v", failed)}
		}
	}()
	if r.V != version {
		return answer{Error: fmt.Sprintf("cardea and cardea-policy are of different versions (%d, %d): install both anew", r.V, version)}
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.Left)
	defer cancel()
	a, err := s.answer(ctx, r, place)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return a
}

func (s *server) answer(ctx context.Context, r *request, place *slot) (a answer, err error) {
	switch {
	case r.Compile != nil:
		place.program = s.engine.Compile(r.Compile.Files, r.Compile.Options)
		a.Broken, err = place.program.Broken(ctx)
	case r.Eval != nil:
		return s.eval(ctx, r.Eval)
	case r.Test != nil:
		var t engine.Tested
		t, err = s.engine.Test(ctx, r.Test.Files, r.Test.Options)
		a.Tested = &t
	case r.Look != nil:
		a.Remarks, err = s.engine.Look(ctx, r.Look)
	default:
		a.Parsed, err = s.engine.Parse(ctx, r.Parse)
	}
	return a, err
}

// eval evaluates rules of a program.
func (s *server) eval(ctx context.Context, r *evalRequest) (answer, error) {
	p := s.program(ctx, r.Program)
	if p == nil {
		return answer{Unknown: true}, nil
	}
	inputs := make([]engine.Input, len(r.Inputs))
	for i, text := range r.Inputs {
		inputs[i] = engine.JSON(text)
	}
	queries := make([]engine.Query, len(r.Queries))
	for i, q := range r.Queries {
		if q.Input < 0 || q.Input >= len(inputs) {
			return answer{}, fmt.Errorf("there is no input %d", q.Input)
		}
		queries[i] = engine.Query{Package: q.Package, Rule: q.Rule, Input: inputs[q.Input]}
	}
	a := answer{Results: make([]result, len(queries))}
	room := maxResults
	for i, r := range p.Eval(ctx, queries) {
		if n := size(r.Value, room); n > room {
			r.Value, r.Err = nil, errLarge
		} else {
			room -= n
		}
		a.Results[i] = resultOf(r)
	}
	return a, nil
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

// decode reads an answer, with numbers as they are written.
func decode(text []byte) (answer, error) {
	var a answer
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err := d.Decode(&a)
	return a, err
}
