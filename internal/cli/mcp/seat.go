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

// seat is the supervisor's, where a person made this session one. A person may do so, and
// end it, at any time, so that each call looks.
type seat struct {
	mu   sync.Mutex
	held post.Post
	desk *supervisor.Desk
	// leave ends what listens for the post that is held.
	leave func()
}

// tools are the supervisor's two.
func (s *seat) tools(ctx context.Context, f *Face) []supervisor.Tool {
	out := supervisor.Tools(supervisor.NewDesk())
	for i := range out {
		out[i].Call = func(call context.Context, input json.RawMessage) (any, error) {
			desk, err := s.take(ctx, f)
			if err != nil {
				return nil, err
			}
			return supervisor.Tools(desk)[i].Call(call, input)
		}
	}
	return out
}

// take gives the desk with the questions of the team, and begins to listen for them.
func (s *seat) take(ctx context.Context, f *Face) (*supervisor.Desk, error) {
	d, err := f.Desk()
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
	if err != nil || s.desk != nil && !bytes.Equal(held.Secret, s.held.Secret) {
		s.stop()
	}
	if errors.Is(err, post.ErrNone) {
		return nil, errors.New("no person made this session the supervisor of its team. They type \"/cardea register ROLE --supervisor\" as a prompt in this session")
	}
	if err != nil {
		return nil, err
	}
	if s.desk != nil {
		return s.desk, nil
	}
	server, err := supervisor.Listen(posts, held)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	desk := supervisor.NewDesk()
	go func() {
		defer close(done)
		if err := server.Serve(ctx, desk.Handle); err != nil {
			f.Process.Warn(err.Error()) // the next call begins anew
		}
		s.gone(desk)
	}()
	s.held, s.desk, s.leave = held, desk, func() { cancel(); <-done }
	return desk, nil
}

// gone notes that nobody listens any more, so that the next call begins anew.
func (s *seat) gone(desk *supervisor.Desk) {
	go func() { // who waits for the end holds the lock
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.desk == desk {
			s.desk = nil
		}
	}()
}

func (s *seat) stop() {
	if s.desk != nil {
		s.leave()
		s.desk = nil
	}
}

// own says why a post is not that of the session which this server belongs to, or nil: an
// agent that the supervisor's session started is another one.
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
