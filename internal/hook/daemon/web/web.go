// Package web answers requests to the daemon over HTTP, from this machine only: hooks that
// a harness sends by POST, recorded decisions, and figures for Prometheus.
//
// A TCP port is open to all users of a machine and to every page in a browser. So the
// kernel must say that the same user sent a request. The request must have the token, name
// this machine as its host, and not come from a browser. All others are refused. A harness
// blocks a call whose hook was refused (docs/http.md).
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

// Options holds what a server needs of the daemon.
type Options struct {
	// Check answers a call as the daemon does. lines returns the command lines that apply, e
	// records why the call is left, unended receives the work that goes on after the answer.
	Check func(c control.CheckRequest, lines func() [][]string, e *hook.Handover, unended *sync.WaitGroup) (control.CheckResult, error)
	// Other returns the name of the variable by which a caller's files are in another folder
	// than the daemon's, or "".
	Other func(v control.Variables) string
	// ByAgent reports whether an agent started the process that asks. It is false for the
	// agent itself.
	ByAgent func(pid int) bool
	// Cardea is the program that answers the calls that the daemon leaves.
	Cardea string
	// Environ is the daemon's environment.
	Environ []string
	// Token is the token that requests must have.
	Token string
	// Ledger opens the ledger for reading.
	Ledger func() (*ledger.Ledger, error)
	// Status returns the daemon's own part of /v1/status. It may be nil.
	Status func() map[string]any
	// Counts holds the figures.
	Counts *Counts
	// Gauges are additional figures, read at each request.
	Gauges []Gauge
	// Now returns the current time.
	Now func() time.Time
	// Log writes a line to the daemon's log.
	Log func(format string, args ...any)
}

// Server answers at one address of this machine.
type Server struct {
	Options
	listener *listener
	token    [sha256.Size]byte
	hosts    []string
	places   *places
	// asked limits the requests that are not hooks, following the open streams, large the
	// messages that are too large for the daemon.
	asked, following, large chan struct{}
	ending                  chan struct{}
	started                 time.Time
}

// The limits of work at a time.
const (
	maxConns     = 256
	maxAsked     = 16
	maxFollowing = 8
	maxLarge     = 2
	// maxHead is the longest head of a request, in bytes.
	maxHead = 16 << 10
)

// CheckAddress returns an error if an address to listen at is not one of this machine only.
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

// Open listens at an address, or uses the socket given if that is not nil.
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

// Addr returns the address at which the server listens.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Serve answers until ctx ends, and returns when all open requests are answered.
func (s *Server) Serve(ctx context.Context) error {
	h := &http.Server{Handler: s.handler(), ReadHeaderTimeout: limit.HTTPHead, ReadTimeout: limit.HTTPBody, IdleTimeout: limit.HTTPIdle, MaxHeaderBytes: maxHead,
		ErrorLog: quiet(s.Log), ConnState: s.listener.note, ConnContext: withConn}
	done := make(chan error, 1)
	go func() {
		<-ctx.Done()
		close(s.ending)
		// Open requests are answered. Those that hang have their own limit.
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

// handler returns the handler of all requests.
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

// fromHere passes only requests of programs on this machine, under one of its names. A
// browser page with its own host name for this machine sends that name (DNS rebinding), and
// a page's request names the page.
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

// Send sends a hook as a harness does and returns the answer. It fails for any status but 200.
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

// withToken passes only requests with the token.
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

// bounded passes at most cap(room) requests at a time.
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

// asking passes only requests whose parameters are all in names, each once. A misspelled
// parameter would otherwise return everything.
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

// refuse sends an error. The response repeats nothing of the request, and the log only its
// method and path.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	s.Counts.refused(status)
	s.Log("http: %s %s: %d, %s", word(r.Method), hook.Plain(r.URL.Path), status, why)
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	send(w, status, plainText, []byte(harness.Named(why)+"\n"))
}

// word returns a word of a request, safe for the log.
func word(s string) string { return hook.Plain(s[:min(len(s), 20)]) }

// send sends a response. The client must read it within a time limit.
func send(w http.ResponseWriter, status int, kind string, body []byte) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(limit.HTTPWrite))
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that does not read gets no answer
}

// home returns an existing folder, for a program that does not depend on its folder.
func home() string {
	if dir, err := os.UserHomeDir(); err == nil {
		return dir
	}
	return string(os.PathSeparator)
}
