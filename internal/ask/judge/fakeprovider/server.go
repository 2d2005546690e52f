// Package fakeprovider is a test server with the APIs of Anthropic, GitHub Models, OpenAI, Ollama
// and compatible endpoints. It can fail in all the ways in which they fail, and refuses requests
// that they would refuse. The vendors' own Go packages read its answers
// (internal/ask/judge/sdktest).
package fakeprovider

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"cardea.dev/internal/ask/judge"
)

// Key is the key that the server accepts.
const Key = "sk-test-4f9c2b7e81d3a6054f9c2b7e81d3a605"

// The numbers of tokens in the server's answers.
const (
	TokensIn  = 812
	TokensOut = 41
)

// Asked is a question as it arrived.
type Asked struct {
	// Type is the type of provider, Path the path after its endpoint.
	Type, Path string
	Header     http.Header
	Body       []byte
	// Model, System and User are the contents of the question, MaxTokens and Temperature its
	// settings.
	Model, System, User string
	MaxTokens           int
	Temperature         *float64
}

// Behaviour describes how a provider answers.
type Behaviour struct {
	// Text is the model's answer: JSON, or something else.
	Text string
	// Fail is one of the ways to fail, "" for none.
	Fail string
	// RetryAfter is sent with 429 and 529, "" for none.
	RetryAfter string
}

// The ways to fail.
const (
	Refusal      = "refusal"      // the model declines
	Truncated    = "truncated"    // the bound of tokens is reached
	NoTool       = "no tool"      // text in place of an answer
	Malformed    = "malformed"    // a body that is no JSON
	OtherJSON    = "other JSON"   // JSON of another kind
	Slow         = "slow"         // no answer until the server ends
	Drip         = "drip"         // a body without an end, byte by byte
	Unauthorized = "unauthorized" // 401
	RateLimited  = "rate limited" // 429
	ServerError  = "server error" // 500
	Overloaded   = "overloaded"   // 529
	Cut          = "cut"          // the connection ends in the body
	Reset        = "reset"        // the connection ends at once
	Huge         = "huge"         // a body beyond all bounds
	HugeHeader   = "huge header"  // the same of headers
	Redirect     = "redirect"     // 307 to another address
	Echo         = "echo"         // an error that repeats the key
	NoUsage      = "no usage"     // an answer that does not say what it took
	LyingUsage   = "lying usage"  // an answer that says it took less than nothing
)

// Failures returns all ways to fail to answer.
func Failures() []string {
	return []string{Refusal, Truncated, NoTool, Malformed, OtherJSON, Slow, Drip, Unauthorized, RateLimited, ServerError, Overloaded, Cut, Reset, Huge, HugeHeader, Redirect, Echo}
}

// Good is an answer in the requested form.
const Good = `{"decision":"allow","confidence":0.93,"reason":"It only lists files.","rule":null}`

// Server is a server of all types of providers.
type Server struct {
	server *httptest.Server
	end    chan struct{}
	mu     sync.Mutex
	answer func(Asked) Behaviour
	asked  []Asked
	other  int
}

// Start starts a server that answers every question with [Good]. It ends with the test.
func Start(t testing.TB) *Server {
	s := &Server{end: make(chan struct{}), answer: func(Asked) Behaviour { return Behaviour{Text: Good} }}
	s.server = httptest.NewServer(s)
	t.Cleanup(func() {
		close(s.end)
		s.server.CloseClientConnections()
		s.server.Close()
	})
	return s
}

// Answer sets how questions are answered from now on.
func (s *Server) Answer(how func(Asked) Behaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = how
}

// Asked returns the questions that arrived, in order. others is the number of other requests: for
// lists of models, and followed redirects.
func (s *Server) Asked() (questions []Asked, others int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Asked(nil), s.asked...), s.other
}

// Endpoint returns the endpoint for a type of provider.
func (s *Server) Endpoint(kind string) string {
	e := s.server.URL + "/" + kind
	switch kind {
	case judge.GitHubModels:
		e += "/inference"
	case judge.OpenAI, judge.Compatible:
		e += "/v1"
	}
	return e
}

// Provider returns the entry of a chain that asks this server.
func (s *Server) Provider(kind string) judge.Provider {
	p := judge.Provider{Type: kind, Endpoint: s.Endpoint(kind)}
	if kind == judge.Compatible {
		p.Model = "local"
	}
	return p.Complete()
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	kind, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	body, err := io.ReadAll(io.LimitReader(r.Body, 8<<20))
	if err != nil {
		return
	}
	if r.Method == http.MethodGet {
		s.mu.Lock()
		s.other++
		s.mu.Unlock()
		s.list(w, r, kind, path)
		return
	}
	a := Asked{Type: kind, Path: path, Header: r.Header.Clone(), Body: body}
	status, wrong := a.read()
	s.mu.Lock()
	how := s.answer
	s.asked = append(s.asked, a)
	s.mu.Unlock()
	if wrong != "" {
		fail(w, kind, status, "invalid_request_error", wrong)
		return
	}
	s.behave(w, r, a, how(a))
}

// behave answers a question.
func (s *Server) behave(w http.ResponseWriter, r *http.Request, a Asked, b Behaviour) {
	if b.RetryAfter != "" {
		w.Header().Set("Retry-After", b.RetryAfter)
	}
	switch b.Fail {
	case Slow:
		s.wait(r, time.Hour)
	case Drip:
		w.Header().Set("Content-Type", "application/json")
		for s.wait(r, 5*time.Millisecond) {
			_, _ = io.WriteString(w, " ")
			w.(http.Flusher).Flush()
		}
	case Malformed:
		_, _ = io.WriteString(w, `{"id": "x", <html>`)
	case OtherJSON:
		_, _ = io.WriteString(w, `{"decision":"allow","confidence":1,"reason":"r","rule":null}`)
	case Unauthorized:
		fail(w, a.Type, http.StatusUnauthorized, "authentication_error", "invalid key")
	case RateLimited:
		fail(w, a.Type, http.StatusTooManyRequests, "rate_limit_error", "too many requests")
	case ServerError:
		fail(w, a.Type, http.StatusInternalServerError, "api_error", "internal server error")
	case Overloaded:
		fail(w, a.Type, 529, "overloaded_error", "overloaded")
	case Echo:
		fail(w, a.Type, http.StatusBadRequest, Key, "your key is "+a.Header.Get("Authorization")+a.Header.Get("X-Api-Key")+"\n"+a.User)
	case Redirect:
		w.Header().Set("Location", s.server.URL+"/elsewhere")
		w.WriteHeader(http.StatusTemporaryRedirect)
	case Cut:
		w.Header().Set("Content-Length", "4000")
		_, _ = io.WriteString(w, string(success(a, b))[:20])
	case Reset:
		if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_ = conn.Close()
		}
	case Huge:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, strings.Repeat(" ", 8<<20)+string(success(a, b)))
	case HugeHeader:
		w.Header().Set("X-Filler", strings.Repeat("x", 1<<20))
		_, _ = w.Write(success(a, b))
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(success(a, b))
	}
}

// wait waits, and reports whether the client is still connected.
func (s *Server) wait(r *http.Request, d time.Duration) bool {
	select {
	case <-s.end:
		return false
	case <-r.Context().Done():
		return false
	case <-time.After(d):
		return true
	}
}

// fail sends an error in the form of a type of provider.
func fail(w http.ResponseWriter, kind string, status int, name, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	var body any
	switch kind {
	case judge.Anthropic:
		body = object{"type": "error", "error": object{"type": name, "message": text}, "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy"}
	case judge.Ollama:
		body = object{"error": text}
	default:
		body = object{"error": object{"message": text, "type": name, "param": nil, "code": name}}
	}
	_ = json.NewEncoder(w).Encode(body)
}

type object = map[string]any

// list answers requests that cost no tokens.
func (s *Server) list(w http.ResponseWriter, r *http.Request, kind, path string) {
	if status, wrong := authorized(kind, r.Header); wrong != "" {
		fail(w, kind, status, "authentication_error", wrong)
		return
	}
	model := Provider(kind).Model
	var body any
	switch kind + " " + path {
	case "anthropic v1/models/" + model:
		body = object{"type": "model", "id": model, "display_name": "Model", "created_at": "2025-10-01T00:00:00Z"}
	case "openai v1/models/" + model:
		body = object{"id": model, "object": "model", "created": 1686935002, "owned_by": "openai"}
	case "github-models catalog/models":
		body = []any{object{"id": model, "name": "Model", "publisher": "OpenAI"}}
	case "openai-compatible v1/models":
		body = object{"object": "list", "data": []any{object{"id": "local", "object": "model", "created": 1686935002, "owned_by": "me"}}}
	case "ollama api/tags":
		body = object{"models": []any{object{"name": model + ":latest", "model": model + ":latest", "size": 2019393189}}}
	default:
		fail(w, kind, http.StatusNotFound, "not_found_error", "there is nothing")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

// Provider returns the entry of a chain for a type, with all its defaults.
func Provider(kind string) judge.Provider { return judge.Provider{Type: kind}.Complete() }

// authorized returns the status and reason for refusing a request, or "".
func authorized(kind string, h http.Header) (int, string) {
	switch kind {
	case judge.Ollama, judge.Compatible:
		return 0, ""
	case judge.Anthropic:
		if h.Get("X-Api-Key") != Key || h.Get("Authorization") != "" {
			return http.StatusUnauthorized, "invalid x-api-key"
		}
		if h.Get("Anthropic-Version") != "2023-06-01" {
			return http.StatusBadRequest, "anthropic-version: header is required"
		}
	default:
		if h.Get("Authorization") != "Bearer "+Key || h.Get("X-Api-Key") != "" {
			return http.StatusUnauthorized, "Incorrect API key provided"
		}
	}
	return 0, ""
}

func missing(what string) (int, string) {
	return http.StatusBadRequest, fmt.Sprintf("%s: Field required", what)
}
