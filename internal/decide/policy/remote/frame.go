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
	// version is that of the words of this file. Client and servers are installed
	// together; where they are not, it is told.
	version = 2
	// maxRequest and maxAnswer bound frames, in bytes. A call may have 64 MiB,
	// which JSON makes longer.
	maxRequest = 1 << 30
	maxAnswer  = 64 << 20
)

// kind is what a request is about.
type kind byte

const (
	kindParse   kind = iota + 1 // []engine.Source; the answer is []engine.Parsed
	kindLook                    // []engine.Source; []engine.Remark
	kindCompile                 // compileRequest; map[string]engine.Problems, empty where nothing is broken
	kindEval                    // evalRequest; []result
	kindTest                    // testRequest; engine.Tested
)

// request is what the client sends. Every kind has a body of its own type, and
// only who needs a type has encoding/json look at it: for all of them together
// that would take a hook half a millisecond.
type request struct {
	version byte
	kind    kind
	id      uint64
	// left is how much time there is.
	left time.Duration
	// body is JSON.
	body []byte
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

// outcome is what came of a request.
type outcome byte

const (
	// done: the body is the answer.
	done outcome = iota + 1
	// cutOff: the same, and an evaluation was ended, of which some may still run.
	cutOff
	// unknown: the server does not have the program.
	unknown
	// failed: the body is text that tells why.
	failed
)

// answer is what the server sends back.
type answer struct {
	id      uint64
	outcome outcome
	// body is JSON, as the request's kind says. It may be empty where there is
	// nothing to tell.
	body []byte
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

// The bytes in front of bodies: version, kind, id and time of a request, id and
// outcome of an answer.
const (
	requestHead = 1 + 1 + 8 + 8
	answerHead  = 8 + 1
)

// frame is the request with its length in front.
func (r *request) frame() ([]byte, error) {
	out := make([]byte, 4, 4+requestHead+len(r.body))
	out = append(out, r.version, byte(r.kind))
	out = binary.BigEndian.AppendUint64(out, r.id)
	out = binary.BigEndian.AppendUint64(out, uint64(r.left))
	return framed(append(out, r.body...), maxRequest)
}

// frame is the answer with its length in front.
func (a *answer) frame() ([]byte, error) {
	out := make([]byte, 4, 4+answerHead+len(a.body))
	out = binary.BigEndian.AppendUint64(out, a.id)
	out = append(out, byte(a.outcome))
	return framed(append(out, a.body...), maxAnswer)
}

// framed writes the length into the first four bytes.
func framed(out []byte, most int) ([]byte, error) {
	n := len(out) - 4
	if n > most {
		return nil, fmt.Errorf("it is larger than %d bytes", most)
	}
	binary.BigEndian.PutUint32(out, uint32(n))
	return out, nil
}

// readRequest reads a request.
func readRequest(in io.Reader) (request, error) {
	text, err := readFrame(in, maxRequest)
	if err != nil {
		return request{}, err
	}
	if len(text) < requestHead {
		return request{}, fmt.Errorf("a request has %d bytes", len(text))
	}
	return request{version: text[0], kind: kind(text[1]), id: binary.BigEndian.Uint64(text[2:]), left: time.Duration(binary.BigEndian.Uint64(text[10:])),
		body: text[requestHead:]}, nil
}

// readAnswer reads an answer.
func readAnswer(in io.Reader) (answer, error) {
	text, err := readFrame(in, maxAnswer)
	if err != nil {
		return answer{}, err
	}
	if len(text) < answerHead {
		return answer{}, fmt.Errorf("an answer has %d bytes", len(text))
	}
	return answer{id: binary.BigEndian.Uint64(text), outcome: outcome(text[8]), body: text[answerHead:]}, nil
}

// readFrame reads a frame. The length is what the other side says, so memory
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
