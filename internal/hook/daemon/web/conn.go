package web

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"

	"cardea.dev/internal/base/peer"
	"cardea.dev/internal/base/person"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/hook/control"
)

// listener accepts connections of only this user, and at most maxConns. Beyond that it closes
// the connection that waits longest without a request, so idle connections keep no client out.
type listener struct {
	net.Listener
	log func(format string, args ...any)

	mu   sync.Mutex
	open map[net.Conn]*idleness
	turn uint64
}

// idleness is whether a connection is idle, and since when in the order of events.
type idleness struct {
	idle  bool
	since uint64
}

// conn is a connection with the process at its other end.
type conn struct {
	net.Conn
	caller peer.Caller

	mu    sync.Mutex
	known bool
	who   process
	err   error
}

// process holds what a call needs of the process that asks.
type process struct {
	pid       int
	dir       string
	variables control.Variables
	lines     [][]string
}

// Accept accepts the next connection of this user.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		caller, err := peer.CallerOf(c)
		if err == nil && caller.UID != os.Geteuid() {
			err = errOtherUser
		}
		if err != nil {
			l.log("http: a connection was closed: %v", err)
			_ = c.Close() // another user gets no answer
			continue
		}
		return l.take(&conn{Conn: c, caller: caller}), nil
	}
}

var errOtherUser = errors.New("another user connected")

// take registers a connection, and closes the longest idle one if there are too many.
func (l *listener) take(c net.Conn) net.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[net.Conn]*idleness{}
	}
	for len(l.open) >= maxConns {
		var oldest net.Conn
		for other, at := range l.open {
			if at.idle && (oldest == nil || at.since < l.open[oldest].since) {
				oldest = other
			}
		}
		if oldest == nil {
			_ = c.Close() // all are busy; the server notices that it is closed
			return c
		}
		delete(l.open, oldest)
		_ = oldest.Close()
	}
	l.turn++
	l.open[c] = &idleness{idle: true, since: l.turn}
	return c
}

// note tracks the state of a connection.
func (l *listener) note(c net.Conn, is http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.open[c]
	if at == nil {
		return
	}
	l.turn++
	switch is {
	case http.StateActive:
		at.idle = false
	case http.StateIdle:
		at.idle, at.since = true, l.turn
	case http.StateClosed, http.StateHijacked:
		delete(l.open, c)
	}
}

type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// callerOf returns the process that sent a request. It is looked up once per connection.
func callerOf(r *http.Request) (process, error) {
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok {
		return process{}, errors.New("the connection is not known")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known {
		c.who, c.err = look(c.caller)
		c.known = true
	}
	return c.who, c.err
}

// look returns what a call needs of a process.
func look(caller peer.Caller) (p process, err error) {
	if p.pid, err = caller.PID(); err != nil {
		return p, err
	}
	environ, err := hook.CallerEnviron(p.pid)
	if err != nil {
		return p, err
	}
	p.variables = control.VariablesOf(environ)
	p.lines = person.CommandLinesFrom(p.pid)
	if p.dir, err = os.Readlink("/proc/" + strconv.Itoa(p.pid) + "/cwd"); err != nil {
		p.dir = ""
	}
	return p, nil
}

// quiet returns a logger for messages of net/http about connections, mostly that a client
// went away.
func quiet(to func(format string, args ...any)) *log.Logger {
	return log.New(lines(to), "", 0)
}

type lines func(format string, args ...any)

// Write logs one line, cut to 500 bytes.
func (l lines) Write(p []byte) (int, error) {
	l("%s", hook.Plain(string(p[:min(len(p), 500)])))
	return len(p), nil
}
