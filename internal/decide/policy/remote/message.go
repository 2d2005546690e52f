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
	// version is that of the messages. Client and server are installed together;
	// where they are not, the server says so.
	version = 5
	// maxRequest and maxAnswer bound messages, in bytes. A call may have 64 MiB,
	// which JSON makes longer.
	maxRequest = 1 << 30
	maxAnswer  = 64 << 20
)

// The tags of requests, with the types of the request's and the answer's body.
const (
	tagParse   = iota + 1 // []engine.Source → []engine.Parsed
	tagLook               // []engine.Source → []cardea.Diagnostic
	tagCompile            // compileRequest → map[string]engine.Problems of files that were left out
	tagEval               // evalRequest → []result
	tagTest               // testRequest → engine.Tested
	tagFields             // fieldsRequest → []cardea.Diagnostic
	tagFormat             // []engine.Source → []engine.Formatted
)

// The tags of answers.
const (
	tagDone   = iota + 1 // the body is the answer
	tagFailed            // the body is text that says why there is none
)

// message is a request or an answer.
type message struct {
	version, tag byte
	// left is how much time a request has. An answer has none.
	left time.Duration
	// body is JSON. Only who needs a type has encoding/json look at it: for all
	// types together that would take a hook half a millisecond.
	body []byte
}

// headSize is the size of what stands in front of the body: its length (4 bytes),
// version (1), tag (1) and left (8).
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

// readMessage reads a message whose body has at most limit bytes. The error is
// io.EOF only where nothing at all was read.
func readMessage(from io.Reader, limit int64) (message, error) {
	var head [headSize]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return message{}, err
	}
	size := int64(binary.BigEndian.Uint32(head[:]))
	if size > limit {
		return message{}, fmt.Errorf("a message has %d bytes, and at most %d are read", size, limit)
	}
	// The size is what the other side says, so memory is taken as bytes come.
	body, err := io.ReadAll(io.LimitReader(from, size))
	if err == nil && int64(len(body)) < size {
		err = io.ErrUnexpectedEOF
	}
	return message{version: head[4], tag: head[5], left: time.Duration(binary.BigEndian.Uint64(head[6:])), body: body}, err
}

// compileRequest compiles files, to be evaluated under a number.
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

// evalRequest evaluates rules of a program. Each input stands there once.
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

// result is an [engine.Result] as it is sent.
type result struct {
	Value any           `json:"value"`
	Error string        `json:"error,omitempty"`
	Took  time.Duration `json:"took"`
	// Printed is null but for programs that print.
	Printed []engine.Printed `json:"printed,omitempty"`
}

func resultOf(r engine.Result) result {
	out := result{Value: r.Value, Took: r.Took, Printed: r.Printed}
	if r.Err != nil {
		out.Error = r.Err.Error()
	}
	return out
}

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
