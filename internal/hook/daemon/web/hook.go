package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/script"
	"cardea.dev/internal/harness/claudecode"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/hook/control"
)

// wanted holds the flags of check in a hook's address.
type wanted struct {
	args  []string
	limit time.Duration
}

// wantedOf parses the query of a hook's address. Only Claude Code may send hooks: the other
// harnesses that send hooks by POST let a call run if the daemon is absent.
func wantedOf(q url.Values) (w wanted, err error) {
	for name, values := range q {
		if len(values) != 1 {
			return w, fmt.Errorf("%s is there twice", hook.Plain(name))
		}
		switch value := values[0]; name {
		case "harness":
			if value != claudecode.Name {
				return w, errors.New("only claude-code may send hooks over HTTP, since it alone blocks a call whose hook fails")
			}
		case "limit":
			if w.limit, err = time.ParseDuration(value); err != nil || w.limit <= 0 || w.limit > limit.Setting {
				return w, errors.New("limit is no length of time such as 8s")
			}
		case "unattended":
			if value != "true" {
				return w, errors.New("unattended can only be true")
			}
		default:
			return w, fmt.Errorf("%s is not known; harness, limit and unattended are", hook.Plain(name))
		}
	}
	if !q.Has("harness") {
		return w, errors.New("the harness is not named")
	}
	w.limit = cmp.Or(w.limit, limit.Hook)
	w.args = []string{"--harness", claudecode.Name, "--limit", w.limit.String()}
	if q.Has("unattended") {
		w.args = append(w.args, "--unattended")
	}
	return w, nil
}

// hook answers a harness's hook, with the bytes that "cardea check" writes.
func (s *Server) hook(w http.ResponseWriter, r *http.Request) {
	begin := time.Now()
	want, err := wantedOf(r.URL.Query())
	if err != nil {
		s.refuse(w, r, http.StatusBadRequest, err.Error())
		return
	}
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); !strings.EqualFold(strings.TrimSpace(kind), jsonText) {
		s.refuse(w, r, http.StatusUnsupportedMediaType, "the message must be application/json")
		return
	}
	who, err := callerOf(r)
	if err != nil {
		s.refuse(w, r, http.StatusForbidden, err.Error())
		return
	}
	if s.ByAgent(who.pid) {
		s.refuse(w, r, http.StatusForbidden, "an agent started the program that sends this; only the agent itself sends its hooks")
		return
	}
	if name := s.Other(who.variables); name != "" {
		s.refuse(w, r, http.StatusForbidden, "the caller's files are in another folder than the daemon's, by "+name+"; start both with the same HOME and XDG_*")
		return
	}
	message, done, err := s.message(w, r)
	if err != nil {
		s.refuse(w, r, statusOf(err), err.Error())
		return
	}
	defer done()
	// From here on, reading detects that the caller has gone, at any time.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	end, ok := s.places.take(r.Context(), who.pid)
	if !ok {
		s.refuse(w, r, http.StatusServiceUnavailable, "too many calls at once")
		return
	}
	var unended sync.WaitGroup
	// Work that hangs keeps its place, which limits the work that hangs.
	defer func() { go func() { unended.Wait(); end() }() }()
	c := control.CheckRequest{Args: want.args, Dir: who.dir, Variables: who.variables, Message: message}
	a, err := s.answer(r.Context(), c, who, want.limit-time.Since(begin), &unended)
	s.Counts.http(time.Since(begin))
	s.give(w, r, a, err)
}

// give sends the output of check.
func (s *Server) give(w http.ResponseWriter, r *http.Request, a control.CheckResult, err error) {
	switch {
	case err != nil:
		s.refuse(w, r, statusOf(err), err.Error())
	case a.Exit != hook.ExitOK:
		s.refuse(w, r, http.StatusUnprocessableEntity, hook.PlainText(strings.TrimSpace(string(a.Stderr))))
	default:
		if len(a.Stderr) > 0 {
			s.Log("http: told with an answer: %s", hook.PlainText(strings.TrimSpace(string(a.Stderr))))
		}
		send(w, http.StatusOK, jsonText, a.Stdout)
	}
}

// failure is an error with its HTTP status.
type failure struct {
	status int
	error
}

func statusOf(err error) int {
	var f failure
	if errors.As(err, &f) {
		return f.status
	}
	return http.StatusInternalServerError
}

func failed(status int, format string, args ...any) error {
	return failure{status, fmt.Errorf(format, args...)}
}

// message reads the message. Only a few messages that are too large for the daemon are held
// at a time. done gives the place back.
func (s *Server) message(w http.ResponseWriter, r *http.Request) (text []byte, done func(), err error) {
	most, done := int64(control.MaxMessage), func() {}
	if r.ContentLength > most {
		select {
		case s.large <- struct{}{}:
			most, done = hook.MaxInput, func() { <-s.large }
		default:
			return nil, nil, failed(http.StatusServiceUnavailable, "too many large messages at once")
		}
	}
	text, err = io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err == nil {
		return text, done, nil
	}
	done()
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return nil, nil, failed(http.StatusRequestEntityTooLarge, "the message is larger than %d MiB", most>>20)
	}
	return nil, nil, failed(http.StatusBadRequest, "the message did not come to its end")
}

// answer lets the daemon answer, or cardea if the daemon leaves the call.
func (s *Server) answer(ctx context.Context, c control.CheckRequest, who process, left time.Duration, unended *sync.WaitGroup) (control.CheckResult, error) {
	begin := time.Now()
	if len(c.Message) <= control.MaxMessage {
		e := &hook.Handover{}
		defer context.AfterFunc(ctx, func() { e.Note("the caller waits no longer") })()
		a, err := s.Check(c, func() [][]string { return who.lines }, e, unended)
		if err == nil {
			return a, nil
		}
		if ctx.Err() != nil {
			return a, failed(http.StatusRequestTimeout, "the caller waits no longer")
		}
	}
	return s.elsewhere(ctx, c, who, left-time.Since(begin))
}

// maxAnswer is the largest answer of cardea, in bytes.
const maxAnswer = control.MaxMessage + 4<<20

// elsewhere starts cardea to answer for the process that asked. cardea gets only those of the
// daemon's variables that it and its programs need. It looks up the caller's variables itself.
func (s *Server) elsewhere(ctx context.Context, c control.CheckRequest, who process, left time.Duration) (control.CheckResult, error) {
	if left <= 0 {
		return control.CheckResult{}, failed(http.StatusGatewayTimeout, "there is no time left")
	}
	s.Counts.elsewhere()
	p := script.Process{Path: s.Cardea, Dir: cmp.Or(c.Dir, home()), Env: clean(s.Environ), Stdin: c.Message, Limit: left, KeepGroup: true, MaxOutput: maxAnswer, MaxErrors: 64 << 10,
		Args: slices.Concat([]string{"check"}, c.Args, []string{"--limit", (left * 95 / 100).String(), "--caller", strconv.Itoa(who.pid)})}
	out, errs, err := p.Run(ctx)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return control.CheckResult{Stdout: out, Stderr: errs}, nil
	case errors.As(err, &exit) && exit.ExitCode() == hook.ExitDeny:
		return control.CheckResult{Exit: hook.ExitDeny, Stdout: out, Stderr: errs}, nil
	case errors.Is(err, script.ErrTime):
		return control.CheckResult{}, failed(http.StatusGatewayTimeout, "cardea gave no answer in time")
	}
	return control.CheckResult{}, failed(http.StatusBadGateway, "cardea could not answer: %v", err)
}

// stored lists the variables of the daemon that cardea gets, in addition to XDG_* and LC_*.
// It includes the keys of providers, and no variable that loads code or changes what
// programs look up.
const stored = " HOME PATH USER LOGNAME LANG LANGUAGE TZ TMPDIR ANTHROPIC_API_KEY OPENAI_API_KEY GITHUB_TOKEN "

// clean returns the environment for cardea.
func clean(environ []string) []string {
	var out []string
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if strings.Contains(stored, " "+name+" ") || strings.HasPrefix(name, "XDG_") || strings.HasPrefix(name, "LC_") {
			out = append(out, v)
		}
	}
	return out
}

// The most hooks that are answered at a time, in all and of one process.
const (
	maxCalls    = 64
	maxOfClient = 32
)

// places limits the calls at a time.
type places struct {
	all chan struct{}
	mu  sync.Mutex
	of  map[int]int
}

func newPlaces() *places { return &places{all: make(chan struct{}, maxCalls), of: map[int]int{}} }

// take waits a short time for a place for a call of a process. end gives it back.
func (p *places) take(ctx context.Context, pid int) (end func(), ok bool) {
	ctx, cancel := context.WithTimeout(ctx, limit.HTTPPlace)
	defer cancel()
	for !p.mayHave(pid) {
		select {
		case <-ctx.Done():
			return nil, false
		case <-time.After(limit.HTTPPlace / 100):
		}
	}
	select {
	case p.all <- struct{}{}:
		return func() { <-p.all; p.leaves(pid) }, true
	case <-ctx.Done():
		p.leaves(pid)
		return nil, false
	}
}

// mayHave counts a call of a process. It returns false if the process has too many.
func (p *places) mayHave(pid int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of[pid] >= maxOfClient {
		return false
	}
	p.of[pid]++
	return true
}

func (p *places) leaves(pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of[pid]--; p.of[pid] <= 0 {
		delete(p.of, pid)
	}
}
