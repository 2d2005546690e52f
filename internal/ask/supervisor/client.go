package supervisor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/ask/supervisor/post"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/peer"
	"cardea.dev/internal/base/person"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
)

// Name is the provider's name in answers of a supervisor.
const Name = "supervisor"

// Client asks the supervisor of a team. It is a [judge.Asker].
type Client struct {
	Posts post.Posts
	// Team is the team of the session that asks, or "". Agent is its subagent.
	Team, Agent string
	Redactor    *redact.Redactor
}

// Asker returns a client for the supervisor that a request names.
func Asker(r judge.Request) judge.Asker {
	return Client{Posts: post.Posts{State: r.State, Runtime: r.Terminal.Runtime}, Team: r.Terminal.Team, Agent: r.Terminal.Agent, Redactor: redact.New()}
}

// Ask asks, and waits until ctx ends. It renews a lost connection for a while, since the
// supervisor's process may restart. After a refusal, or the end of the supervisor's harness, it
// does not ask again.
func (c Client) Ask(ctx context.Context, q judge.Question) (judge.Assessment, error) {
	begin := time.Now()
	if _, has := ctx.Deadline(); !has {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit.Supervisor)
		defer cancel()
	}
	id := rand.Text()
	var lost time.Time // the time since which there is no connection
	for {
		a, err := c.try(ctx, q, id)
		switch {
		case err == nil:
			a.Took = time.Since(begin)
			return a, nil
		case ctx.Err() != nil:
			return judge.Assessment{}, failure(judge.TimedOut, "the supervisor did not answer in time")
		case errors.As(err, new(refusal)) || !errors.As(err, new(lostError)):
			return judge.Assessment{}, failure(judge.Unreachable, err.Error())
		case lost.IsZero():
			lost = time.Now()
		case time.Since(lost) > limit.SupervisorReturn:
			return judge.Assessment{}, failure(judge.Unreachable, "the supervisor does not listen: "+err.Error())
		}
		select {
		case <-ctx.Done():
		case <-time.After(limit.SupervisorRetry):
		}
	}
}

// lostError is an error after which a new connection may help.
type lostError struct{ error }

func failure(cause judge.Cause, why string) error {
	return &judge.Failure{Attempts: []judge.Attempt{{Provider: Name, Cause: cause, Why: why}}}
}

// try asks once.
func (c Client) try(ctx context.Context, q judge.Question, id string) (a judge.Assessment, err error) {
	holder, err := c.Posts.Of(c.Team)
	if err != nil {
		return a, err
	}
	askers, err := person.Lineage(os.Getpid())
	if err == nil {
		err = mayAsk(holder, q.Session, askers)
	}
	if err != nil {
		return a, err
	}
	conn, err := c.connect(ctx, holder)
	if err != nil {
		return a, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	l := newLine(conn)
	mine := nonce()
	if err := l.put(message{Type: typeHello, Nonce: mine}); err != nil {
		return a, lostError{err}
	}
	hello, err := l.get(typeHello)
	if err != nil {
		return a, again(err)
	}
	if !proved(holder.Secret, hello.Proof, answersPurpose, mine, hello.Nonce) {
		return a, errors.New("who listens does not know the team's secret")
	}
	deadline, _ := ctx.Deadline()
	ask := message{Type: typeQuestion, ID: id, Session: q.Session, Agent: c.Agent, Question: &texts{q.System, q.User},
		Millis: max(1, time.Until(deadline).Milliseconds()), Proof: prove(holder.Secret, asksPurpose, mine, hello.Nonce)}
	if err := l.put(ask); err != nil {
		return a, again(err)
	}
	m, err := l.get(typeAnswer)
	if err != nil {
		return a, again(err)
	}
	if m.ID != id {
		return a, errors.New("the answer is to another question")
	}
	if a, err = judge.ParseAnswer(m.Answer, c.Redactor); err != nil {
		return a, err
	}
	a.Provider, a.Model = Name, c.Redactor.Show(m.Model)
	return a, nil
}

// again marks an error of the connection itself.
func again(err error) error {
	var net net.Error
	if errors.As(err, new(refusal)) || errors.As(err, &net) && net.Timeout() {
		return err
	}
	return lostError{err}
}

// connect connects to the socket of a post, and verifies the process that listens there.
func (c Client) connect(ctx context.Context, holder post.Post) (net.Conn, error) {
	path, err := c.Posts.Socket(holder.Team)
	if err != nil {
		return nil, err
	}
	if !state.Exists(path) {
		return nil, lostError{fmt.Errorf("there is no socket %s", path)}
	}
	if err := errors.Join(state.PrivateFolder(filepath.Dir(path)), state.PrivateSocket(path)); err != nil {
		return nil, err
	}
	conn, err := peer.Dial(ctx, path)
	if err != nil {
		return nil, lostError{err}
	}
	owners, err := above(conn)
	if err == nil {
		err = mayAnswer(holder, owners)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}
