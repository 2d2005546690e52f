package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/peer"
	"cardea.dev/internal/base/person"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/decide/policy/remote"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/hook/control"
	"cardea.dev/internal/memory/ledger"
)

// maxCalls is the most calls at a time. Further calls are left to "cardea check".
const maxCalls = 64

// Server is the daemon of a user.
type Server struct {
	process hook.Process
	// own holds the variables that name the folders in use. program is this program's file,
	// stamp its stamp at the start.
	own            control.Variables
	program, stamp string
	listener       *peer.Listener
	memory         *inforce.Memory
	places         chan struct{}
	// Before is called before the cache is closed, and ends everything else that uses it. It
	// may be nil.
	Before func()
	// calls is the number of calls so far.
	calls atomic.Int64
}

// ErrRuns is returned if another daemon runs already.
var ErrRuns = errors.New("the daemon runs already; its log, daemon.log in the state folder, names its process; end that with SIGTERM to start another one")

// Open opens the user's socket. It asks a daemon whose program was replaced to end, and
// waits for it. If any other daemon runs, it fails with [ErrRuns]. environ is the
// environment in the form of os.Environ, program the file of this program.
func Open(p hook.Process, environ []string, program string) (*Server, error) {
	stamp := control.StampOf(program)
	if stamp == "" {
		return nil, errors.New("there is no daemon on this system: it does not tell which program is at the other end of a socket; hooks work without it")
	}
	path := control.Socket(p.Env)
	if path == "" {
		return nil, errors.New("there is no folder for the daemon's socket: set XDG_RUNTIME_DIR to a short absolute path")
	}
	l, err := peer.Listen(path, 0)
	if errors.Is(err, peer.ErrTaken) && poke(path) {
		l, err = peer.Listen(path, limit.DaemonTurn)
	}
	if errors.Is(err, peer.ErrTaken) {
		return nil, ErrRuns
	}
	if err != nil {
		return nil, fmt.Errorf("open the daemon's socket: %w", err)
	}
	p.Group = ledger.NewGroup()
	return &Server{process: p, own: control.VariablesOf(environ), program: program, stamp: stamp, listener: l, places: make(chan struct{}, maxCalls),
		memory: inforce.NewMemory(time.Now, func() inforce.ClosingEngine { return remote.Beside(p.Program) })}, nil
}

// Close closes a server that has not served.
func (s *Server) Close() error {
	s.memory.Close()
	return errors.Join(s.listener.Close(), s.listener.Release())
}

// Local returns a client with the daemon's cache, for calls that did not come through the
// socket.
func (s *Server) Local() Local {
	return Local{Process: s.process, Memory: s.memory, Folders: s.own.Value}
}

// poke connects to the running daemon, which then checks whether its program was replaced.
// It reports whether that daemon ends.
func poke(path string) bool {
	if state.PrivateSocket(path) != nil {
		return true // it is starting or ending
	}
	conn, err := net.DialTimeout("unix", path, limit.DaemonSilence)
	if err != nil {
		return true
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(limit.DaemonSilence))
	all, err := control.CheckRequest{}.Bytes()
	if err == nil {
		_, err = conn.Write(all)
	}
	answer, rerr := io.ReadAll(io.LimitReader(conn, 1<<10))
	return err == nil && rerr == nil && string(answer) == string(control.Leaves(endsWhy))
}

// The reasons why a call is left.
const (
	endsWhy    = "this daemon's program was replaced, and it ends"
	programWhy = "the caller belongs to another installation"
	foldersWhy = "the caller's files are in another folder than the daemon's, by "
	viewWhy    = "the caller sees other files than the daemon"
	busyWhy    = "too many calls at once"
)

// Serve answers calls until ctx ends, the program's file is replaced, or no call came for
// the time idle. If idle is 0, it waits forever. It returns when all work has ended.
func (s *Server) Serve(ctx context.Context, idle time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer func() {
		cancel()
		_ = s.listener.Close() // removes the socket
		all.Wait()
		if s.Before != nil {
			s.Before()
		}
		s.memory.Close()
		_ = s.listener.Release()
	}()
	defer context.AfterFunc(ctx, func() { _ = s.listener.SetDeadline(time.Unix(1, 0)) })()
	all.Go(func() { s.watch(ctx, idle, cancel) })
	for {
		conn, err := s.listener.AcceptUnix()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("listen: %w", err)
		}
		select {
		case s.places <- struct{}{}:
		default:
			_ = conn.SetWriteDeadline(time.Now().Add(limit.DaemonPulse))
			_, _ = conn.Write(control.Leaves(busyWhy))
			_ = conn.Close()
			continue
		}
		s.calls.Add(1)
		all.Go(func() {
			var unended sync.WaitGroup
			defer func() {
				// Work that hangs keeps its place, which limits the work that hangs.
				go func() { unended.Wait(); <-s.places }()
			}()
			s.attend(conn, &unended, cancel)
		})
	}
}

// watch ends the daemon when its program's file is replaced or no call comes for the time idle.
func (s *Server) watch(ctx context.Context, idle time.Duration, end func()) {
	look := limit.DaemonLook
	if idle > 0 {
		look = min(look, idle)
	}
	tick := time.NewTicker(look)
	defer tick.Stop()
	last, since := s.calls.Load(), time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.memory.Tidy()
		if now := s.calls.Load(); now != last || len(s.places) > 0 {
			last, since = now, time.Now()
		}
		if s.replaced() || idle > 0 && time.Since(since) >= idle {
			end()
			return
		}
	}
}

// replaced reports whether this program's file was replaced.
func (s *Server) replaced() bool { return control.StampOf(s.program) != s.stamp }

// attend answers the call of a connection.
func (s *Server) attend(conn *net.UnixConn, unended *sync.WaitGroup, end func()) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(limit.DaemonCall))
	pid, err := peer.PID(conn)
	if err != nil {
		return // another user gets no answer
	}
	c, err := control.ReadCall(conn)
	if err != nil {
		return // the caller starts cardea instead
	}
	if s.replaced() {
		end()
		_, _ = conn.Write(control.Leaves(endsWhy))
		return
	}
	switch {
	case c.Program != s.stamp:
		_, _ = conn.Write(control.Leaves(programWhy))
		return
	case control.SameView(pid) != nil:
		_, _ = conn.Write(control.Leaves(viewWhy))
		return
	}
	if name := s.Local().OtherFolder(c.Variables); name != "" {
		_, _ = conn.Write(control.Leaves(foldersWhy + name))
		return
	}
	_ = conn.SetDeadline(time.Time{})
	_, _ = conn.Write(s.answer(conn, pid, c, unended))
}

// answer returns the bytes to send to the caller.
func (s *Server) answer(conn *net.UnixConn, pid int, c control.CheckRequest, unended *sync.WaitGroup) []byte {
	elsewhere := &hook.Handover{}
	signs := signsOf(conn, elsewhere)
	l := s.Local()
	l.Lines, l.Piped = func() [][]string { return person.CommandLinesAbove(pid) }, person.PipedAbove(pid)
	l.Elsewhere, l.Unended = elsewhere, unended
	a, err := l.Check(c, time.Time{})
	signs.end()
	_ = conn.SetWriteDeadline(time.Now().Add(limit.DaemonSilence))
	if err != nil {
		return control.Leaves(err.Error())
	}
	a.Nonce = c.Nonce
	return a.Bytes()
}

// signs tell a caller at intervals that its call is worked on. Most calls end before the
// first one.
type signs struct {
	mu    sync.Mutex
	over  bool
	timer *time.Timer
}

// signsOf starts the signs on a connection. If one cannot be sent, it records in elsewhere
// that the caller no longer waits.
func signsOf(conn *net.UnixConn, elsewhere *hook.Handover) *signs {
	s := &signs{}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = time.AfterFunc(limit.DaemonPulse, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.over {
			return
		}
		_ = conn.SetWriteDeadline(time.Now().Add(limit.DaemonSilence))
		if _, err := conn.Write(control.Works()); err != nil {
			elsewhere.Note("the caller waits no longer")
			return
		}
		s.timer.Reset(limit.DaemonPulse)
	})
	return s
}

// end stops the signs. After it returns, none is being sent.
func (s *signs) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	s.timer.Stop()
}

// Program returns the path of this process's program.
func Program() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("it cannot be told which program this is: %w", err)
	}
	return path, nil
}
