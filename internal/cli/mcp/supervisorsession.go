package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"

	"cardea.dev/internal/ask/supervisor"
	"cardea.dev/internal/ask/supervisor/post"
)

// supervisorSession is the terminal of the supervisor, if a person made this session one. A person can
// do that, and end it, at any time, so each call checks.
type supervisorSession struct {
	mu        sync.Mutex
	held      post.Post
	registrar *supervisor.Inbox
	// leave ends listening for the held post.
	leave func()
}

// tools returns the supervisor's two tools.
func (s *supervisorSession) tools(ctx context.Context, f *Face) []supervisor.Tool {
	out := supervisor.Tools(supervisor.NewInbox())
	for i := range out {
		out[i].Call = func(call context.Context, input json.RawMessage) (any, error) {
			registrar, err := s.take(ctx, f)
			if err != nil {
				return nil, err
			}
			return supervisor.Tools(registrar)[i].Call(call, input)
		}
	}
	return out
}

// take returns the inbox with the questions of the team, and starts to listen for them.
func (s *supervisorSession) take(ctx context.Context, f *Face) (*supervisor.Inbox, error) {
	d, err := f.Registrar()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	posts := post.Posts{State: d.Place.State, Runtime: d.Place.Dirs.Runtime}
	held, err := posts.Held()
	if err == nil {
		err = f.own(held)
	}
	if err != nil || s.registrar != nil && !bytes.Equal(held.Secret, s.held.Secret) {
		s.stop()
	}
	if errors.Is(err, post.ErrNone) {
		return nil, errors.New("no person made this session the supervisor of its team. They type \"/cardea register ROLE --supervisor\" as a prompt in this session")
	}
	if err != nil {
		return nil, err
	}
	if s.registrar != nil {
		return s.registrar, nil
	}
	server, err := supervisor.Listen(posts, held)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	registrar := supervisor.NewInbox()
	go func() {
		defer close(done)
		if err := server.Serve(ctx, registrar.Handle); err != nil {
			f.Process.Warn(err.Error()) // the next call starts again
		}
		s.gone(registrar)
	}()
	s.held, s.registrar, s.leave = held, registrar, func() { cancel(); <-done }
	return registrar, nil
}

// gone records that the server ended, so that the next call starts a new one.
func (s *supervisorSession) gone(registrar *supervisor.Inbox) {
	go func() { // a goroutine that waits for the end holds the lock
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.registrar == registrar {
			s.registrar = nil
		}
	}()
}

func (s *supervisorSession) stop() {
	if s.registrar != nil {
		s.leave()
		s.registrar = nil
	}
}

// own returns nil if a post belongs to the session of this server, else an error. An agent
// that the supervisor's session started is another session.
func (f *Face) own(held post.Post) error {
	if f.Process.Harness == nil {
		return errors.New("it cannot be told which harness started this server")
	}
	harness, err := f.Process.Harness()
	if err != nil {
		return err
	}
	if held.Session == "" || harness != held.Process {
		return post.ErrNone
	}
	return nil
}
