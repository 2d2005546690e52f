package remote

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"cardea.dev/internal/limit"
)

// Why a server gives no answer. Callers put the program's name in front.
var (
	errNoAnswer = timeError{}
	errEnded    = errors.New("ended without an answer")
	errProtocol = errors.New("answers in words that are not understood: install cardea and cardea-engine anew")
)

// timeError is that of a request whose time is over.
type timeError struct{}

func (timeError) Error() string   { return "gave no answer in time" }
func (timeError) Is(e error) bool { return e == context.DeadlineExceeded }

// child is a server that this process started.
type child struct {
	process *process
	in      *os.File // its standard input
	out     *bufio.Reader
	once    sync.Once
	ended   chan struct{} // closed when it answers no more
}

// startChild starts a server. It gets two pipes, and nothing else of this
// process: no variables, no files, no working folder.
func startChild(path string) (*child, error) {
	seal()
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, childIn.Close(), in.Close())
	}
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, errors.Join(err, childIn.Close(), in.Close(), childOut.Close(), out.Close())
	}
	process, err := launch(path, childIn, childOut, nowhere)
	// The ends that the other process has are its own now.
	_, _, _ = childIn.Close(), childOut.Close(), nowhere.Close()
	if err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	c := &child{process: process, in: in, out: bufio.NewReaderSize(out, 64<<10), ended: make(chan struct{})}
	go func() {
		<-c.ended
		c.process.kill()
		_, _ = c.in.Close(), out.Close()
		c.process.bury()
	}()
	return c, nil
}

// end kills the server.
func (c *child) end() { c.once.Do(func() { close(c.ended) }) }

// alive reports whether the server may be asked.
func (c *child) alive() bool {
	if c == nil {
		return false
	}
	select {
	case <-c.ended:
		return false
	default:
		return true
	}
}

// exchange sends a request and waits for its answer until ctx ends, and a moment
// longer. After an error the server is killed. Only one exchange may be under way.
func (c *child) exchange(ctx context.Context, request message) (message, error) {
	type received struct {
		message
		err error
	}
	sent, answer := make(chan error, 1), make(chan received, 1)
	go func() { sent <- request.write(c.in) }()
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
					r.err = errProtocol // it answers what it has not read
				}
			}
			if r.err != nil {
				c.end()
			}
			return r.message, r.err
		case <-over:
			over, tooLate = nil, time.After(limit.EngineGrace)
		case <-tooLate:
			c.end()
			return message{}, errNoAnswer
		}
	}
}
