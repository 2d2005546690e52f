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

// listener accepts connections of this user alone, and at most maxConns. Where there are
// more, the one ends that waits longest without a request: what stays open and says nothing
// keeps nobody out.
type listener struct {
	net.Listener
	log func(format string, args ...any)

	mu   sync.Mutex
	open map[net.Conn]*idleness
	turn uint64
}

// idleness is whether a connection waits, and since when by the order of events.
type idleness struct {
	idle  bool
	since uint64
}

// conn is a connection with who is at its other end.
type conn struct {
	net.Conn
	caller peer.Caller

	mu    sync.Mutex
	known bool
	who   process
	err   error
}

// process is the process that asks, as far as a call needs it.
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
			_ = c.Close() // nothing is said to them
			continue
		}
		return l.take(&conn{Conn: c, caller: caller}), nil
	}
}

var errOtherUser = errors.New("another user connected")

// take counts a connection, and ends another one where there are too many.
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
			_ = c.Close() // all of them are at work; the server sees that it is closed
			return c
		}
		delete(l.open, oldest)
		_ = oldest.Close()
	}
	l.turn++
	l.open[c] = &idleness{idle: true, since: l.turn}
	return c
}

// note follows what becomes of connections.
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

// callerOf is the process that sent a request. It is looked up once for each connection.
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

// look finds out what counts of a process.
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

// quiet takes what net/http reports of connections: mostly that a client went away.
func quiet(to func(format string, args ...any)) *log.Logger {
	return log.New(lines(to), "", 0)
}

type lines func(format string, args ...any)

// Write takes a line.
func (l lines) Write(p []byte) (int, error) {
	l("%s", hook.Plain(string(p[:min(len(p), 500)])))
	return len(p), nil
}
