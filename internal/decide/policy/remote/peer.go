package remote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// errWords is met by who gets an answer to something else.
var errWords = errors.New("cardea-policy answers in words that are not understood: install cardea and cardea-policy anew")

// peer is a process that was started, and who waits for its answers.
type peer struct {
	process *os.Process
	in      *os.File // its standard input

	writing sync.Mutex

	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan answer
	// err is why it answers no more, nil as long as it does.
	err error
	// retired is set where something was left behind in it: who waits may wait,
	// and nothing new is sent.
	retired bool
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
	process, err := os.StartProcess(path, []string{path}, &os.ProcAttr{Dir: filepath.Dir(path), Env: environment(), Files: []*os.File{childIn, childOut, nowhere}})
	// The ends that the other process has are its own now.
	_, _, _ = childIn.Close(), childOut.Close(), nowhere.Close()
	if err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	p := &peer{process: process, in: in, waiting: map[uint64]chan answer{}}
	go p.listen(out)
	return p, nil
}

// usable reports whether requests may be sent.
func (p *peer) usable() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err == nil && !p.retired
}

// listen hands out answers until there are no more, and then the process is
// gone for good.
func (p *peer) listen(out *os.File) {
	err := p.read(bufio.NewReaderSize(out, 64<<10))
	p.fail(err)
	_ = out.Close()
	_, _ = p.process.Wait()
}

func (p *peer) read(in io.Reader) error {
	for {
		text, err := readFrame(in, maxAnswer)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrClosed) {
			return errors.New("cardea-policy ended without an answer")
		}
		if err != nil {
			return errWords
		}
		a, err := decode(text)
		if err != nil {
			return errWords
		}
		p.mu.Lock()
		if c := p.waiting[a.ID]; c != nil {
			delete(p.waiting, a.ID)
			c <- a // it has room
		}
		p.mu.Unlock()
		p.leave(false)
	}
}

// fail ends the process, and tells those who wait.
func (p *peer) fail(why error) {
	p.mu.Lock()
	if p.err == nil {
		p.err = why
	}
	for id, c := range p.waiting {
		delete(p.waiting, id)
		close(c)
	}
	p.mu.Unlock()
	_ = p.process.Kill()
	_ = p.in.Close()
}

// leave ends a process that is retired when nobody waits for it any more.
func (p *peer) leave(retire bool) {
	p.mu.Lock()
	p.retired = p.retired || retire
	over := p.retired && len(p.waiting) == 0
	p.mu.Unlock()
	if over {
		p.fail(errors.New("cardea-policy was ended, since something in it took too long"))
	}
}

// ask sends a request, and waits for the answer.
func (p *peer) ask(ctx context.Context, r request) (answer, error) {
	c := make(chan answer, 1)
	p.mu.Lock()
	if err := p.err; err != nil {
		p.mu.Unlock()
		return answer{}, err
	}
	p.next++
	r.ID = p.next
	p.waiting[r.ID] = c
	p.mu.Unlock()
	text, err := frame(&r, maxRequest)
	if err != nil {
		p.forget(r.ID)
		return answer{}, fmt.Errorf("ask cardea-policy: %w", err)
	}
	// Nobody may be reading, so that this may hang, until the process is ended.
	go p.write(text)
	return p.wait(ctx, r, c)
}

func (p *peer) write(text []byte) {
	p.writing.Lock()
	defer p.writing.Unlock()
	if _, err := p.in.Write(text); err != nil {
		p.fail(errors.New("cardea-policy ended without an answer"))
	}
}

func (p *peer) forget(id uint64) {
	p.mu.Lock()
	delete(p.waiting, id)
	p.mu.Unlock()
}

// wait waits for an answer, a moment longer than there is time. Where none
// comes, or one that was cut off, the process is used no more.
func (p *peer) wait(ctx context.Context, r request, c chan answer) (answer, error) {
	limit := time.NewTimer(r.Left + grace)
	defer limit.Stop()
	canceled := ctx.Done()
	for {
		select {
		case a, ok := <-c:
			if !ok {
				return answer{}, p.why()
			}
			if a.cutOff() {
				p.leave(true)
			}
			return a, nil
		case <-canceled:
			canceled = nil
			limit.Reset(grace)
		case <-limit.C:
			p.forget(r.ID)
			p.leave(true)
			return answer{}, errNoAnswer
		}
	}
}

// why is why it answers no more.
func (p *peer) why() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// cutOff reports an evaluation that was ended: some of it may still run.
func (a *answer) cutOff() bool {
	for i := range a.Results {
		if err := a.Results[i].plain().Err; isBound(err) {
			return true
		}
	}
	return false
}
