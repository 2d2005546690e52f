package remote

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/script"
)

// Reasons why a server gives no answer. Callers add the program's name.
var (
	errNoAnswer = timeError{}
	errEnded    = errors.New("ended without an answer")
	errProtocol = errors.New("answers in words that are not understood: install cardea and cardea-engine anew")
)

// timeError is the error of a request whose time is over.
type timeError struct{}

// Error describes the error without the program's name.
func (timeError) Error() string { return "gave no answer in time" }

// Is reports whether e is [context.DeadlineExceeded].
func (timeError) Is(e error) bool { return e == context.DeadlineExceeded }

// child is a server that this process started.
type child struct {
	*script.Server
	out *bufio.Reader
	// programs is the number of programs that it compiled.
	programs int
}

// startChild starts the server at path.
func startChild(path string) (*child, error) {
	s, err := script.StartServer(path, Policies)
	if err != nil {
		return nil, err
	}
	return &child{Server: s, out: bufio.NewReaderSize(s.Out, 64<<10)}, nil
}

// alive reports whether the server can take requests.
func (c *child) alive() bool { return c != nil && !c.Killed() }

// exchange sends a request and waits for its answer until shortly after ctx ends. It kills
// the server after an error. Calls must not overlap.
func (c *child) exchange(ctx context.Context, request message) (message, error) {
	type received struct {
		message
		err error
	}
	sent, answer := make(chan error, 1), make(chan received, 1)
	go func() { sent <- request.write(c.In) }()
	go func() {
		m, err := readMessage(c.out, maxAnswer)
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrClosed):
			err = errEnded
		case err != nil || m.version != version || m.tag != tagDone && m.tag != tagFailed:
			err = errProtocol
		}
		answer <- received{m, err}
	}()
	over, tooLate := ctx.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case r := <-answer:
			if r.err == nil {
				select {
				case <-sent:
				case <-time.After(limit.EngineGrace):
					r.err = errProtocol // it answers a request that it has not read
				}
			}
			if r.err != nil {
				c.Kill()
			}
			return r.message, r.err
		case <-over:
			over, tooLate = nil, time.After(limit.EngineGrace)
		case <-tooLate:
			c.Kill()
			return message{}, errNoAnswer
		}
	}
}
