package remote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// peer is a process that was started, and who waits for its answers.
type peer struct {
	process *process
	in      *os.File // its standard input

	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan answer
	// unsent are requests that are not written yet, wake tells that there are.
	unsent [][]byte
	wake   chan struct{}
	// err is why it answers no more, nil as long as it does; over is closed then.
	err  error
	over chan struct{}
}

// start starts a program. It gets two pipes, and else nothing of this process:
// no variables, no files, no working folder.
func start(path string) (*peer, error) {
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
	p := &peer{process: process, in: in, waiting: map[uint64]chan answer{}, wake: make(chan struct{}, 1), over: make(chan struct{})}
	go p.listen(out)
	go p.send()
	return p, nil
}

// usable reports whether requests may be sent.
func (p *peer) usable() bool { return p.why() == nil }

// why is why it answers no more.
func (p *peer) why() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// listen hands out answers until there are no more, and then the process is
// gone for good.
func (p *peer) listen(out *os.File) {
	err := p.read(bufio.NewReaderSize(out, 64<<10))
	p.fail(err)
	_ = out.Close()
	p.process.bury()
}

func (p *peer) read(in io.Reader) error {
	for {
		a, err := readAnswer(in)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errEnded
		}
		if err != nil {
			return errWords
		}
		p.mu.Lock()
		if c := p.waiting[a.id]; c != nil {
			delete(p.waiting, a.id)
			c <- a // it has room
		}
		p.mu.Unlock()
	}
}

// send writes requests, in order. A process that does not read holds it, until
// it is ended.
func (p *peer) send() {
	for {
		select {
		case <-p.over:
			return
		case <-p.wake:
		}
		p.mu.Lock()
		all := p.unsent
		p.unsent = nil
		p.mu.Unlock()
		for _, text := range all {
			if _, err := p.in.Write(text); err != nil {
				p.fail(errEnded)
				return
			}
		}
	}
}

// fail ends the process, and tells those who wait.
func (p *peer) fail(why error) {
	p.mu.Lock()
	if p.err == nil {
		p.err = why
		close(p.over)
	}
	for id, c := range p.waiting {
		delete(p.waiting, id)
		close(c)
	}
	p.mu.Unlock()
	p.process.kill()
	_ = p.in.Close()
}

// question is a request that was sent.
type question struct {
	peer *peer
	id   uint64
	left time.Duration
	c    chan answer
}

// post sends a request, after those that were sent before.
func (p *peer) post(r request) (*question, error) {
	q := &question{peer: p, left: r.left, c: make(chan answer, 1)}
	p.mu.Lock()
	p.next++
	q.id = p.next
	p.mu.Unlock()
	r.id = q.id
	text, err := r.frame()
	if err != nil {
		return nil, fmt.Errorf("cannot be asked: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return nil, p.err
	}
	p.waiting[q.id] = q.c
	p.unsent = append(p.unsent, text)
	select {
	case p.wake <- struct{}{}:
	default: // it is awake
	}
	return q, nil
}

// wait waits for an answer, a moment longer than there is time. Where none
// comes, or one that was cut off, some of the work may go on for ever, so the
// process is ended.
func (q *question) wait(ctx context.Context) (answer, error) {
	limit := time.NewTimer(q.left + grace)
	defer limit.Stop()
	canceled := ctx.Done()
	for {
		select {
		case a, ok := <-q.c:
			if !ok {
				return answer{}, q.peer.why()
			}
			if a.outcome == cutOff {
				q.peer.fail(errEnded)
			}
			return a, nil
		case <-canceled:
			canceled = nil
			limit.Reset(grace)
		case <-limit.C:
			q.peer.fail(errEnded)
			return answer{}, errNoAnswer
		}
	}
}
