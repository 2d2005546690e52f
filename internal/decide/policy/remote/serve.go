package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"cardea.dev/internal/decide/policy/engine"
)

// Serve answers requests, one after another, until the input ends. It abandons a request
// that is running then, since the process is expected to end. The error is a read error.
func Serve(e engine.Engine, in io.Reader, out io.Writer) error {
	s := server{engine: e, programs: map[uint64]engine.Program{}}
	requests := make(chan message)
	defer close(requests)
	go func() {
		for m := range requests {
			// If this fails, the client has ended, so reading also ends.
			_ = s.respond(m).write(out)
		}
	}()
	reader := bufio.NewReaderSize(in, 64<<10)
	for {
		m, err := readMessage(reader, maxRequest)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a request: %w", err)
		}
		requests <- m
	}
}

type server struct {
	engine   engine.Engine
	programs map[uint64]engine.Program
}

// respond returns the answer to a request. It turns errors and panics into answers.
func (s *server) respond(m message) (answer message) {
	failed := func(text string) message { return message{version: version, tag: tagFailed, body: []byte(text)} }
	defer func() {
		if why := recover(); why != nil {
			answer = failed(fmt.Sprintf("internal error: %v", why))
		}
	}()
	if m.version != version {
		return failed(fmt.Sprintf("cardea and cardea-engine are of different versions (%d, %d): install both anew", m.version, version))
	}
	ctx, cancel := context.WithTimeout(context.Background(), m.left)
	defer cancel()
	value, err := s.answer(ctx, m)
	if err != nil {
		return failed(err.Error())
	}
	body, err := json.Marshal(value)
	switch {
	case err != nil:
		return failed(err.Error())
	case len(body) > maxAnswer:
		return failed(fmt.Sprintf("the answer is larger than %d bytes", maxAnswer))
	}
	return message{version: version, tag: tagDone, body: body}
}

// answer returns the value for the body of an answer.
func (s *server) answer(ctx context.Context, m message) (any, error) {
	switch m.tag {
	case tagParse:
		return about(m, func(files []engine.Source) (any, error) { return s.engine.Parse(ctx, files) })
	case tagLook:
		return about(m, func(files []engine.Source) (any, error) { return s.engine.Look(ctx, files) })
	case tagCompile:
		return about(m, func(r compileRequest) (any, error) {
			s.programs[r.Program] = s.engine.Compile(r.Files, r.Options)
			return s.programs[r.Program].Broken(ctx)
		})
	case tagEval:
		return about(m, func(r evalRequest) (any, error) { return s.eval(ctx, r) })
	case tagTest:
		return about(m, func(r testRequest) (any, error) { return s.engine.Test(ctx, r.Files, r.Options) })
	case tagFields:
		return about(m, func(r fieldsRequest) (any, error) { return s.engine.Fields(ctx, r.Files, r.Options, r.Shapes) })
	case tagFormat:
		return about(m, func(files []engine.Source) (any, error) { return s.engine.Format(ctx, files) })
	}
	return nil, fmt.Errorf("a request has the unknown tag %d", m.tag)
}

// about decodes the body of a request, and calls answer with it.
func about[T any](m message, answer func(T) (any, error)) (any, error) {
	var it T
	if err := json.Unmarshal(m.body, &it); err != nil {
		return nil, err
	}
	return answer(it)
}

// eval evaluates rules of a program.
func (s *server) eval(ctx context.Context, r evalRequest) ([]result, error) {
	program := s.programs[r.Program]
	if program == nil {
		return nil, fmt.Errorf("there is no program %d", r.Program)
	}
	queries := make([]engine.Query, len(r.Queries))
	inputs := make([]engine.Input, len(r.Inputs))
	for i, text := range r.Inputs {
		inputs[i] = engine.JSON(text)
	}
	for i, q := range r.Queries {
		if q.Input < 0 || q.Input >= len(inputs) {
			return nil, fmt.Errorf("there is no input %d", q.Input)
		}
		queries[i] = engine.Query{Package: q.Package, Rule: q.Rule, Input: inputs[q.Input]}
	}
	out, room := make([]result, len(queries)), maxResults
	for i, r := range program.Eval(ctx, queries) {
		if n := size(r.Value, room); n > room {
			r.Value, r.Err = nil, errLarge
		} else {
			room -= n
		}
		out[i] = resultOf(r)
	}
	return out, nil
}

// maxResults is the limit for the values of all rules together, in bytes. A policy can make
// a value that is small in memory and long as text by repeating a part of it.
const maxResults = 4 << 20

var errLarge = errors.New("the value is larger than 4 MiB")

// size returns the approximate length of a JSON value as text, in bytes. It stops shortly
// above limit.
func size(v any, limit int) int {
	n := 8
	switch v := v.(type) {
	case string:
		n += len(v)
	case json.Number:
		n += len(v)
	case []any:
		for _, e := range v {
			if n > limit {
				break
			}
			n += size(e, limit-n)
		}
	case map[string]any:
		for k, e := range v {
			if n > limit {
				break
			}
			n += len(k) + size(e, limit-n)
		}
	}
	return n
}
