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
	// version is the version of the messages. Client and server are installed together; if
	// the versions differ, the server reports it.
	version = 5
	// maxRequest and maxAnswer are limits of messages, in bytes. A call may have 64 MiB,
	// and its JSON is longer.
	maxRequest = 1 << 30
	maxAnswer  = 64 << 20
)

// Tags of requests, with the types of the request's and the answer's body.
const (
	tagParse   = iota + 1 // []engine.Source → []engine.Parsed
	tagLook               // []engine.Source → []diagnostic.Diagnostic
	tagCompile            // compileRequest → map[string]engine.Problems of files that were left out
	tagEval               // evalRequest → []result
	tagTest               // testRequest → engine.Tested
	tagFields             // fieldsRequest → []diagnostic.Diagnostic
	tagFormat             // []engine.Source → []engine.Formatted
)

// Tags of answers.
const (
	tagDone   = iota + 1 // the body is the answer
	tagFailed            // the body is the text of an error
)

// message is a request or an answer.
type message struct {
	version, tag byte
	// left is the remaining time of a request. It is not used in an answer.
	left time.Duration
	// body is JSON. Each side decodes only the type that it needs: encoding/json would need
	// half a millisecond of a hook for all types together.
	body []byte
}

// headSize is the size of the head: length of the body (4 bytes), version (1), tag (1) and
// left (8).
const headSize = 4 + 1 + 1 + 8

func (m message) write(to io.Writer) error {
	if int64(len(m.body)) > maxRequest {
		return fmt.Errorf("a message of %d bytes is larger than %d", len(m.body), maxRequest)
	}
	head := binary.BigEndian.AppendUint32(make([]byte, 0, headSize+len(m.body)), uint32(len(m.body)))
	head = append(head, m.version, m.tag)
	head = binary.BigEndian.AppendUint64(head, uint64(m.left))
	_, err := to.Write(append(head, m.body...))
	return err
}

// readMessage reads a message whose body has at most limit bytes. The error is io.EOF only
// if nothing was read.
func readMessage(from io.Reader, limit int64) (message, error) {
	var head [headSize]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return message{}, err
	}
	size := int64(binary.BigEndian.Uint32(head[:]))
	if size > limit {
		return message{}, fmt.Errorf("a message has %d bytes, and at most %d are read", size, limit)
	}
	// The other side claims the size, so memory is allocated as bytes arrive.
	body, err := io.ReadAll(io.LimitReader(from, size))
	if err == nil && int64(len(body)) < size {
		err = io.ErrUnexpectedEOF
	}
	return message{version: head[4], tag: head[5], left: time.Duration(binary.BigEndian.Uint64(head[6:])), body: body}, err
}

// compileRequest compiles files to a program with a number.
type compileRequest struct {
	Program uint64          `json:"program"`
	Files   []engine.Source `json:"files"`
	Options engine.Options  `json:"options"`
}

// testRequest runs tests.
type testRequest struct {
	Files   []engine.Source    `json:"files"`
	Options engine.TestOptions `json:"options"`
}

// fieldsRequest checks the fields of input that files read.
type fieldsRequest struct {
	Files   []engine.Source `json:"files"`
	Options engine.Options  `json:"options"`
	Shapes  []engine.Shape  `json:"shapes"`
}

// evalRequest evaluates rules of a program. Inputs holds each input once.
type evalRequest struct {
	Program uint64            `json:"program"`
	Inputs  []json.RawMessage `json:"inputs"`
	Queries []query           `json:"queries"`
}

type query struct {
	Package string `json:"package"`
	Rule    string `json:"rule"`
	Input   int    `json:"input"` // index in Inputs
}

// result is an [engine.Result] in the form for the wire.
type result struct {
	Value any           `json:"value"`
	Error string        `json:"error,omitempty"`
	Took  time.Duration `json:"took"`
	// Printed is null unless the program prints.
	Printed []engine.Printed `json:"printed,omitempty"`
}

func resultOf(r engine.Result) result {
	out := result{Value: r.Value, Took: r.Took, Printed: r.Printed}
	if r.Err != nil {
		out.Error = r.Err.Error()
	}
	return out
}

// received returns the result in the form of package engine.
func (r result) received() engine.Result {
	out := engine.Result{Value: r.Value, Took: r.Took, Printed: r.Printed}
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
