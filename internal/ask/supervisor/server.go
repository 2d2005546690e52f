package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/ask/supervisor/post"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/peer"
)

const (
	// maxConnections and maxQuestions are the largest numbers that a supervisor holds at a time.
	maxConnections = 256
	maxQuestions   = 64
	// maxID is the longest name of a session, agent or question, in bytes.
	maxID = 1024
)

// Asked is a question that reached a supervisor.
type Asked struct {
	judge.Question
	// ID is the supervisor's own id for it.
	ID string
	// Agent is the subagent that asks, "" for the session itself. Team is the post's.
	Agent, Team string
	// Until is the end of the asker's wait.
	Until time.Time
}

// Reply is an answer in the form of [judge.Schema], with the model that gave it.
type Reply struct {
	Answer json.RawMessage
	Model  string
}

// Handler answers a question. It returns when ctx ends, since the asker has gone or the time is up.
type Handler func(ctx context.Context, q Asked) (Reply, error)

// Server listens for a post.
type Server struct {
	holder   post.Post
	listener *peer.Listener
	path     string
}

// Listen opens the socket of a post. Only one process listens for a team.
func Listen(posts post.Posts, holder post.Post) (*Server, error) {
	path, err := posts.Socket(holder.Team)
	if err != nil {
		return nil, err
	}
	l, err := peer.Listen(path, limit.SupervisorTurn)
	if errors.Is(err, peer.ErrTaken) {
		return nil, errors.New("another process answers for this team already; end it first")
	}
	if err != nil {
		return nil, fmt.Errorf("open the supervisor's socket: %w", err)
	}
	return &Server{holder: holder, listener: l, path: path}, nil
}

// Serve answers until ctx ends. It returns once all its goroutines have ended.
func (s *Server) Serve(ctx context.Context, handle Handler) error {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer func() {
		cancel()
		_ = s.listener.Close() // removes the socket
		all.Wait()
		_ = s.listener.Release()
	}()
	stop := context.AfterFunc(ctx, func() { _ = s.listener.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	places := make(chan struct{}, maxConnections)
	for {
		conn, err := s.listener.AcceptUnix()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("listen on %s: %w", s.path, err)
		}
		select {
		case places <- struct{}{}:
		default:
			_ = conn.Close() // its asker tries again, or fails in time
			continue
		}
		all.Go(func() {
			defer func() { <-places }()
			s.attend(ctx, conn, handle)
		})
	}
}

// attend answers all questions of a connection.
func (s *Server) attend(ctx context.Context, conn net.Conn, handle Handler) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer conn.Close()
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	l := newLine(conn)
	refuse := func(err error) { _ = l.put(message{Type: typeError, Error: err.Error()}) }
	theirs, mine, err := s.greet(l)
	if err != nil {
		refuse(err)
		return
	}
	places := make(chan struct{}, maxQuestions)
	for {
		// An idle connection takes a place, so it does not stay for long.
		_ = conn.SetReadDeadline(time.Now().Add(limit.SupervisorIdle))
		m, err := l.get(typeQuestion)
		if err != nil {
			return // the asker has gone, or sent an invalid message
		}
		if err := s.refuses(m, theirs, mine); err != nil {
			refuse(err)
			return
		}
		_ = conn.SetWriteDeadline(time.Now().Add(time.Duration(m.Millis)*time.Millisecond + limit.SupervisorGreeting))
		select {
		case places <- struct{}{}:
		default:
			refuse(errors.New("too many questions at once"))
			return
		}
		all.Go(func() {
			defer func() { <-places }()
			s.answer(ctx, l, m, handle)
		})
	}
}

// greet verifies the asker, and proves that this process may answer. It returns the nonces of both
// sides for this connection.
func (s *Server) greet(l *line) (theirs, mine []byte, err error) {
	_ = l.conn.SetDeadline(time.Now().Add(limit.SupervisorGreeting))
	askers, err := above(l.conn)
	if err == nil {
		err = mayAsk(s.holder, "", askers)
	}
	if err != nil {
		return nil, nil, err
	}
	hello, err := l.get(typeHello)
	if err != nil {
		return nil, nil, err
	}
	mine = nonce()
	return hello.Nonce, mine, l.put(message{Type: typeHello, Nonce: mine, Proof: prove(s.holder.Secret, answersPurpose, hello.Nonce, mine)})
}

// refuses returns an error for a question that is not answered.
func (s *Server) refuses(m message, theirs, mine []byte) error {
	switch {
	case !proved(s.holder.Secret, m.Proof, asksPurpose, theirs, mine):
		return errors.New("the asker does not know the team's secret")
	case m.Question == nil || m.Millis <= 0 || m.Millis > limit.Setting.Milliseconds() || m.ID == "" || max(len(m.ID), len(m.Session), len(m.Agent)) > maxID:
		return errors.New("the question is not complete")
	}
	return mayAsk(s.holder, m.Session, nil)
}

// answer sends one answer.
func (s *Server) answer(ctx context.Context, l *line, m message, handle Handler) {
	until := time.Now().Add(time.Duration(m.Millis) * time.Millisecond)
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	q := Asked{Question: judge.Question{System: m.Question.System, User: m.Question.User, Session: m.Session}, ID: m.ID, Agent: m.Agent, Team: s.holder.Team, Until: until}
	reply, err := handle(ctx, q)
	if ctx.Err() != nil {
		return // the asker no longer waits
	}
	if err != nil {
		_ = l.put(message{Type: typeError, ID: m.ID, Error: err.Error()})
		return
	}
	_ = l.put(message{Type: typeAnswer, ID: m.ID, Answer: reply.Answer, Model: reply.Model})
}
