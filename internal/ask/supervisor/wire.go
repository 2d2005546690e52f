// Package supervisor lets another process answer the questions of the judge for a team: an agent
// that a person made the team's supervisor, or "cardea supervise". Both sides exchange lines of
// JSON over a socket (docs/supervisor.md).
//
// A signed [post.Post] defines who may answer. It names the process that answers, or the harness
// below which it runs, and has a secret that both sides must know. A supervisor answers neither its
// own session nor its own child processes.
package supervisor

import (
	"bufio"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
)

// Version is the version of the protocol. Both sides send theirs in the first message, and accept
// no other.
const Version = 1

const (
	// maxLine is the longest message, in bytes.
	maxLine = 1 << 20
	// nonceSize is the number of random bytes of each side, so that no proof is valid twice.
	nonceSize = 32

	answersPurpose = "supervisor answers, protocol 1"
	asksPurpose    = "supervisor is asked, protocol 1"
)

// The types of messages.
const (
	typeHello    = "hello"
	typeQuestion = "question"
	typeAnswer   = "answer"
	typeError    = "error"
)

// message is one line, in either direction.
type message struct {
	V    int    `json:"v"`
	Type string `json:"type"`
	// Nonce is in both greetings. Proof is in the supervisor's greeting and in each question.
	Nonce []byte `json:"nonce,omitempty"`
	Proof []byte `json:"proof,omitempty"`
	// ID is the asker's id, and is repeated in the answer.
	ID       string `json:"id,omitempty"`
	Session  string `json:"session,omitempty"`
	Agent    string `json:"agent,omitempty"`
	Question *texts `json:"question,omitempty"`
	// Millis is the time that the asker waits.
	Millis int64 `json:"limit_ms,omitempty"`
	// Answer is an object in the form of judge.Schema.
	Answer json.RawMessage `json:"answer,omitempty"`
	// Model is the model that answered, as the supervisor reports it.
	Model string `json:"model,omitempty"`
	Error string `json:"error,omitempty"`
}

// texts are the texts of a judge.Question.
type texts struct {
	System redact.Text `json:"system"`
	User   redact.Text `json:"user"`
}

// line is a connection for messages.
type line struct {
	conn net.Conn
	read *bufio.Scanner
	mu   sync.Mutex // for writing
}

func newLine(conn net.Conn) *line {
	s := bufio.NewScanner(conn)
	s.Buffer(make([]byte, 0, 4<<10), maxLine)
	return &line{conn: conn, read: s}
}

// get reads a message of the wanted type. An error message of the other side is returned as an
// error.
func (l *line) get(want string) (message, error) {
	if !l.read.Scan() {
		return message{}, cmp.Or(l.read.Err(), io.ErrUnexpectedEOF)
	}
	var m message
	if err := json.Unmarshal(l.read.Bytes(), &m); err != nil {
		return m, errors.New("the other end does not speak this protocol")
	}
	if m.V != Version {
		return m, fmt.Errorf("the other end speaks version %d of the protocol, and this one version %d; use the same program on both sides", m.V, Version)
	}
	switch m.Type {
	case want:
		return m, nil
	case typeError:
		return m, refusal(m.Error)
	}
	return m, fmt.Errorf("the other end sends %q, which does not belong here", m.Type)
}

// refusal is an error from the other side. Retrying does not help.
type refusal string

func (r refusal) Error() string { return string(r) }

// put sends a message in one line.
func (l *line) put(m message) error {
	m.V = Version
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(text) >= maxLine {
		return fmt.Errorf("the message has more than %d bytes", maxLine)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.conn.Write(append(text, '\n'))
	return err
}

func nonce() []byte {
	n := make([]byte, nonceSize)
	_, _ = rand.Read(n) // ends the process rather than fail
	return n
}

func prove(secret []byte, purpose string, asker, answerer []byte) []byte {
	return state.Sign(secret, purpose, asker, answerer)
}

func proved(secret, proof []byte, purpose string, asker, answerer []byte) bool {
	return len(asker) == nonceSize && len(answerer) == nonceSize && state.Signed(secret, proof, purpose, asker, answerer)
}
