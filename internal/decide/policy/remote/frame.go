package remote

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"cardea.dev/internal/decide/policy/engine"
)

const (
	// version is that of the words of this file. Client and server are installed
	// together; where they are not, it is told.
	version = 1
	// maxRequest and maxAnswer bound frames, in bytes. A call may have 64 MiB,
	// which JSON makes longer.
	maxRequest = 1 << 30
	maxAnswer  = 64 << 20
)

// request is what the client sends. One of the four parts is there.
type request struct {
	V  int    `json:"v"`
	ID uint64 `json:"id"`
	// Left is how much time there is, in nanoseconds.
	Left    time.Duration   `json:"left"`
	Parse   []engine.Source `json:"parse,omitempty"`
	Look    []engine.Source `json:"look,omitempty"`
	Compile *compileRequest `json:"compile,omitempty"`
	Test    *compileRequest `json:"test,omitempty"`
	Eval    *evalRequest    `json:"eval,omitempty"`
}

// compileRequest compiles files, to be evaluated under a number.
type compileRequest struct {
	Program uint64          `json:"program"`
	Files   []engine.Source `json:"files"`
	Options engine.Options  `json:"options"`
}

// evalRequest evaluates rules of a program. Inputs are given once each.
type evalRequest struct {
	Program uint64            `json:"program"`
	Inputs  []json.RawMessage `json:"inputs"`
	Queries []query           `json:"queries"`
}

type query struct {
	Package string `json:"package"`
	Rule    string `json:"rule"`
	Input   int    `json:"input"` // index
}

// answer is what the server sends back.
type answer struct {
	ID uint64 `json:"id"`
	// Error is why the request could not be worked on.
	Error string `json:"error,omitempty"`
	// Unknown is set where the server does not have the program.
	Unknown bool `json:"unknown,omitempty"`

	Parsed  []engine.Parsed            `json:"parsed,omitempty"`
	Remarks []engine.Remark            `json:"remarks,omitempty"`
	Broken  map[string]engine.Problems `json:"broken,omitempty"`
	Tested  *engine.Tested             `json:"tested,omitempty"`
	Results []result                   `json:"results,omitempty"`
}

type result struct {
	Value any           `json:"value"`
	Error string        `json:"error,omitempty"`
	Took  time.Duration `json:"took"`
}

// resultOf is a result as it is sent.
func resultOf(r engine.Result) result {
	out := result{Value: r.Value, Took: r.Took}
	if r.Err != nil {
		out.Error = r.Err.Error()
	}
	return out
}

// plain is a result as it was before it was sent.
func (r result) plain() engine.Result {
	out := engine.Result{Value: r.Value, Took: r.Took}
	switch r.Error {
	case "":
	case engine.ErrTime.Error():
		out.Err = engine.ErrTime
	case engine.ErrMemory.Error():
		out.Err = engine.ErrMemory
	default:
		out.Err = errors.New(r.Error)
	}
	return out
}

// frame is an object with its length in front.
func frame(v any, most int) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if len(text) > most {
		return nil, fmt.Errorf("it is larger than %d bytes", most)
	}
	out := make([]byte, 4, 4+len(text))
	binary.BigEndian.PutUint32(out, uint32(len(text)))
	return append(out, text...), nil
}

// readFrame reads an object. The length is what the other side says, so memory
// is taken only as bytes come.
func readFrame(in io.Reader, most int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(head[:]))
	if n > int64(most) {
		return nil, fmt.Errorf("a frame has %d bytes", n)
	}
	const atOnce = 1 << 20
	if n <= atOnce {
		text := make([]byte, n)
		_, err := io.ReadFull(in, text)
		return text, err
	}
	text, err := io.ReadAll(io.LimitReader(in, n))
	if err == nil && int64(len(text)) < n {
		err = io.ErrUnexpectedEOF
	}
	return text, err
}
