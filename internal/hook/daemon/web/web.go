// Package web answers over HTTP, on this machine alone, what harnesses and people ask the
// daemon: hooks that a harness sends by POST, what was decided, and figures for Prometheus.
//
// A TCP port is open to all users of a machine and to every page in a browser. So a request
// counts only if the kernel says that the same user sent it, if it carries the token, if
// it names this machine as its host, and if no browser sent it. What cannot be shown to be
// so is refused, and a harness blocks a call whose hook was refused (docs/http.md).
package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/hook/control"
	"cardea.dev/internal/memory/ledger"
)

// Options are what a server needs of the daemon.
type Options struct {
	// Check answers a call as the daemon does. lines are the command lines that count, e
	// notes why the call is left, unended has the work that goes on after the answer.
	Check func(c control.Call, lines func() [][]string, e *hook.Elsewhere, unended *sync.WaitGroup) (control.Answer, error)
	// Other names the variable by which a caller's files are in another folder than the
	// daemon's, or "".
	Other func(v control.Variables) string
	// ByAgent reports whether an agent started the process that asks, which is not the agent.
	ByAgent func(pid int) bool
	// Cardea is the program that answers what the daemon leaves.
	Cardea string
	// Environ is the daemon's environment.
	Environ []string
	// Token is what requests must carry.
	Token string
	// Ledger opens the ledger for reading.
	Ledger func() (*ledger.Ledger, error)
	// Status is what the daemon itself says for /v1/status; nil is nothing.
	Status func() map[string]any
	// Counts has the figures.
	Counts *Counts
	// Gauges are further figures, read when they are asked for.
	Gauges []Gauge
	// Now is the clock.
	Now func() time.Time
	// Log takes a line of the daemon's log.
	Log func(format string, args ...any)
}

// Server answers at one address of this machine.
type Server struct {
	Options
	listener *listener
	token    [sha256.Size]byte
	hosts    []string
	places   *places
	// asked bounds the requests that are no hooks, following those that stay, large the
	// messages that are too large for the daemon.
	asked, following, large chan struct{}
	ending                  chan struct{}
	started                 time.Time
}

// The bounds of what is done at a time.
const (
	maxConns     = 256
	maxAsked     = 16
	maxFollowing = 8
	maxLarge     = 2
	// maxHead is how long the head of a request may be, in bytes.
	maxHead = 16 << 10
)

// CheckAddress says what is wrong with an address to listen at, or nil. It must be one of
// this machine alone.
func CheckAddress(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%q is no address such as 127.0.0.1:7717", address)
	}
	if a := at.Addr(); a != netip.AddrFrom4([4]byte{127, 0, 0, 1}) && a != netip.IPv6Loopback() {
		return fmt.Errorf("%s is not 127.0.0.1 or [::1]; the daemon listens to this machine alone", at.Addr())
	}
	return nil
}

// Open listens at an address, or at a socket that was opened before.
func Open(address string, given net.Listener, o Options) (*Server, error) {
	if given == nil {
		if err := CheckAddress(address); err != nil {
			return nil, err
		}
		l, err := net.Listen("tcp", address)
		if err != nil {
			return nil, fmt.Errorf("listen for HTTP: %w; another program has the port, or another daemon; name another port", err)
		}
		given = l
	}
	if err := CheckAddress(given.Addr().String()); err != nil {
		return nil, errors.Join(err, given.Close())
	}
	if len(o.Token) < tokenSize {
		return nil, errors.Join(errors.New("there is no token for HTTP"), given.Close())
	}
	_, port, err := net.SplitHostPort(given.Addr().String())
	if err != nil {
		return nil, errors.Join(err, given.Close())
	}
	return &Server{Options: o, listener: &listener{Listener: given, log: o.Log}, token: sha256.Sum256([]byte(o.Token)),
		hosts: []string{"127.0.0.1:" + port, "[::1]:" + port, "localhost:" + port}, places: newPlaces(),
		asked: make(chan struct{}, maxAsked), following: make(chan struct{}, maxFollowing), large: make(chan struct{}, maxLarge),
		ending: make(chan struct{}), started: o.Now()}, nil
}

// Addr is the address.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Serve answers until ctx ends, and returns when what was begun is answered.
func (s *Server) Serve(ctx context.Context) error {
	h := &http.Server{Handler: s.handler(), ReadHeaderTimeout: limit.HTTPHead, ReadTimeout: limit.HTTPBody, IdleTimeout: limit.HTTPIdle, MaxHeaderBytes: maxHead,
		ErrorLog: quiet(s.Log), ConnState: s.listener.note, ConnContext: withConn}
	done := make(chan error, 1)
	go func() {
		<-ctx.Done()
		close(s.ending)
		// What was begun is answered; what hangs has a limit of its own.
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit.DaemonTurn)
		defer cancel()
		err := h.Shutdown(end)
		if err != nil {
			err = errors.Join(fmt.Errorf("HTTP calls were cut off: %w", err), h.Close())
		}
		done <- err
	}()
	if err := h.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("listen for HTTP: %w", err)
	}
	return <-done
}

// HookPath is the path of the address to which a harness sends its hooks.
const HookPath = install.HookPath

// handler is all that there is.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+HookPath, s.hook)
	mux.HandleFunc("GET /v1/health", s.bounded(s.asked, s.asking(s.health)))
	mux.HandleFunc("GET /v1/status", s.bounded(s.asked, s.asking(s.status)))
	mux.HandleFunc("GET /v1/decisions", s.bounded(s.asked, s.asking(s.decisions, "limit", "session", "project", "decider")))
	mux.HandleFunc("GET /v1/decisions/stream", s.bounded(s.following, s.asking(s.stream)))
	mux.HandleFunc("GET /metrics", s.bounded(s.asked, s.metrics))
	open := http.NewServeMux()
	open.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { send(w, http.StatusOK, plainText, []byte("ok\n")) })
	open.Handle("/", s.withToken(mux))
	return s.fromHere(open)
}

// fromHere lets pass what a program of this machine asked by one of this machine's names.
// A page in a browser that has a name of its own for this machine sends that name (DNS
// rebinding), and a page's request names the page.
func (s *Server) fromHere(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !slices.Contains(s.hosts, strings.ToLower(r.Host)):
			s.refuse(w, r, http.StatusMisdirectedRequest, "this is not the host that was asked for")
		case hasAny(r.Header, "Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Referer"):
			s.refuse(w, r, http.StatusForbidden, "pages of browsers may ask nothing here")
		case hasAny(r.Header, "Forwarded", "X-Forwarded-For", "Via"):
			s.refuse(w, r, http.StatusForbidden, "what another machine asked is not passed on to here")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// Send sends a hook as a harness does, and gives the answer. Another status than 200 is an
// error.
func Send(to, token string, message []byte) ([]byte, error) {
	r, err := http.NewRequest(http.MethodPost, to, bytes.NewReader(message))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", jsonText)
	r.Header.Set("Authorization", "Bearer "+token)
	client := http.Client{Timeout: limit.Probe, Transport: &http.Transport{DisableKeepAlives: true}, // no proxy
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, hook.Plain(strings.TrimSpace(string(out[:min(len(out), 300)]))))
	}
	return out, err
}

func hasAny(h http.Header, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return len(h.Values(name)) > 0 })
}

// withToken lets pass who has the token.
func (s *Server) withToken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said := r.Header.Values("Authorization")
		scheme, token, _ := strings.Cut(strings.Join(said, ","), " ")
		sum := sha256.Sum256([]byte(token))
		if subtle.ConstantTimeCompare(sum[:], s.token[:]) != 1 || !strings.EqualFold(scheme, "Bearer") {
			w.Header().Set("WWW-Authenticate", "Bearer")
			s.refuse(w, r, http.StatusUnauthorized, "the token is missing or wrong")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// bounded lets so many requests pass at a time as a channel has room for.
func (s *Server) bounded(room chan struct{}, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
			next(w, r)
		default:
			s.refuse(w, r, http.StatusServiceUnavailable, "too many requests at once")
		}
	}
}

// asking lets requests pass that have no parameters but these, each once: a misspelt one
// would ask for everything.
func (s *Server) asking(next http.HandlerFunc, names ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		values, err := url.ParseQuery(r.URL.RawQuery)
		known := err == nil
		for name, all := range values {
			known = known && len(all) == 1 && slices.Contains(names, name)
		}
		switch {
		case known:
			next(w, r)
		case len(names) == 0:
			s.refuse(w, r, http.StatusBadRequest, "this takes no parameters")
		default:
			s.refuse(w, r, http.StatusBadRequest, "this takes the parameters "+strings.Join(names, ", ")+", each once, and no others")
		}
	}
}

const (
	plainText = "text/plain; charset=utf-8"
	jsonText  = "application/json"
)

// refuse answers that there is no answer. Nothing of the request is repeated but its path.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	s.Counts.refused(status)
	s.Log("http: %s %s: %d, %s", word(r.Method), hook.Plain(r.URL.Path), status, why)
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	send(w, status, plainText, []byte(harness.Named(why)+"\n"))
}

// word is a word of a request for the log.
func word(s string) string { return hook.Plain(s[:min(len(s), 20)]) }

// send writes an answer, for which a client has a time.
func send(w http.ResponseWriter, status int, kind string, body []byte) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(limit.HTTPWrite))
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // who does not read it has no answer
}

// home is a folder that is there, for a program that needs none.
func home() string {
	if dir, err := os.UserHomeDir(); err == nil {
		return dir
	}
	return string(os.PathSeparator)
}
