package search

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cardea.dev/internal/memory/embedding"
	"cardea.dev/internal/memory/meaning"
)

// embedder is a server with the APIs of Ollama and OpenAI. It knows the built-in table.
type embedder struct {
	*httptest.Server
	mu    sync.Mutex
	texts []string
	keys  []string
	// model is the model that it serves; short makes it cut the vectors to half of their length.
	model string
	short bool
	// refuses is a text whose batch it refuses. There is no vector of silent.
	refuses, silent string
}

func newEmbedder(t *testing.T) *embedder {
	t.Helper()
	table, err := embedding.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	e := &embedder{model: "m"}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Model string
			Input []string
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil || request.Model != e.model || r.Method != http.MethodPost {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		if e.refuses != "" && slices.Contains(request.Input, e.refuses) {
			http.Error(w, "refused", http.StatusInternalServerError)
			return
		}
		e.mu.Lock()
		e.texts, e.keys = append(e.texts, request.Input...), append(e.keys, r.Header.Get("Authorization"))
		e.mu.Unlock()
		var vectors [][]float64
		var data []map[string]any
		for i, text := range request.Input {
			v, _ := table.Vector(text)
			list := make([]float64, len(v))
			for i, x := range v {
				list[i] = float64(x) / 300
			}
			if e.short {
				list = list[:len(list)/2]
			}
			if text == e.silent {
				list = nil
			}
			vectors = append(vectors, list)
			data = append([]map[string]any{{"index": i, "embedding": list}}, data...) // in any order
		}
		switch r.URL.Path {
		case "/api/embed":
			_ = json.NewEncoder(w).Encode(map[string]any{"model": "m", "embeddings": vectors})
		case "/v1/embeddings":
			_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data})
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(e.Close)
	return e
}

// A server of either kind takes the place of the table, and is asked for one vector in a
// call.
func TestServers(t *testing.T) {
	for kind, path := range map[string]string{meaning.Ollama: "", meaning.OpenAI: "/v1/"} {
		e := newEmbedder(t)
		b := newBench(t)
		b.teach("user", append(many(100), "ask * npm test")...)
		r := b.request("", "yarn test", "user")
		r.Embedder = meaning.Embedder{Kind: kind, URL: e.URL + path, Model: "m", Key: "k3y"}
		reply, err := folders{}.answer(t.Context(), r)
		if err != nil || len(reply.Named) != 0 || !reply.Stale || len(e.texts) != 1 {
			t.Fatalf("%s: %+v, %v, %d texts", kind, reply, err, len(e.texts))
		}
		b.makeMissing(r)
		e.texts = nil
		reply, err = folders{}.answer(t.Context(), r)
		if err != nil || len(reply.Named) != 1 || reply.Named[0].Subject != "npm test" || reply.Stale || strings.Join(e.texts, "; ") != "yarn test" {
			t.Errorf("%s: %+v, %v, %q", kind, reply, err, e.texts)
		}
		for _, k := range e.keys {
			if k != "Bearer k3y" {
				t.Errorf("the key is sent as %q", k)
			}
		}
		// The vectors of one model say nothing to another.
		if reply, err := (folders{}).find(t.Context(), builtin{b.table}, b.request("", "yarn test", "user")); err != nil || len(reply.Named) != 1 || reply.Named[0].ID == "" {
			t.Errorf("%+v, %v", reply, err)
		}
		e.model = "other"
		r.Embedder.Model = "other"
		if reply, err := (folders{}).answer(t.Context(), r); err != nil || len(reply.Named) != 0 || !reply.Stale {
			t.Errorf("another model: %+v, %v", reply, err)
		}
	}
}

// Each failure is an error that says what to do, and nothing that the server says is
// repeated.
func TestServersThatFail(t *testing.T) {
	b := newBench(t)
	b.teach("user", "ask * npm test")
	serve := func(h http.HandlerFunc) string {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		return s.URL
	}
	say := func(text string) string {
		return serve(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, text) })
	}
	stop := make(chan struct{})
	defer close(stop) // before servers wait for their answers
	var leaked string
	other := serve(func(_ http.ResponseWriter, r *http.Request) { leaked = r.Header.Get("Authorization") })
	for name, tt := range map[string]struct{ kind, url, model, want string }{
		"nobody there":          {meaning.Ollama, "http://127.0.0.1:1", "m", "cannot be reached"},
		"an error":              {meaning.Ollama, serve(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "secret", 500) }), "m", "status 500"},
		"a redirect":            {meaning.Ollama, serve(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, http.StatusTemporaryRedirect) }), "m", "status 307"},
		"no JSON":               {meaning.OpenAI, say("secret"), "m", "not understood"},
		"other JSON":            {meaning.Ollama, say(`{"embeddings": "secret"}`), "m", "not understood"},
		"too few vectors":       {meaning.Ollama, say(`{"embeddings": []}`), "m", "0 vectors for 1 text"},
		"a huge vector":         {meaning.Ollama, say(`{"embeddings": [[` + strings.Repeat("1,", 5000) + `1]]}`), "m", "more than 4000"},
		"no answer":             {meaning.Ollama, serve(func(_ http.ResponseWriter, r *http.Request) { <-stop }), "m", "in time"},
		"in the clear":          {meaning.OpenAI, "http://example.com/v1", "m", "near.embedder.url"},
		"a password in the URL": {meaning.OpenAI, "https://me:pw@example.com/v1", "m", "near.embedder.url"},
		"no model":              {meaning.OpenAI, "http://127.0.0.1:1", "", "names no model"},
		"another kind":          {"telepathy", "http://127.0.0.1:1", "m", "no kind"},
	} {
		r := b.request("", "yarn test", "user")
		r.Embedder = meaning.Embedder{Kind: tt.kind, URL: tt.url, Model: tt.model, Key: "k3y"}
		wait := 20 * time.Second
		if name == "no answer" {
			wait = 100 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		_, err := folders{}.answer(ctx, r)
		cancel()
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "k3y") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if leaked != "" {
		t.Errorf("a redirect got the key %q", leaked)
	}
	// No direction is no error: nothing is near.
	for _, text := range []string{`{"embeddings": [[]]}`, `{"embeddings": [[0, 0]]}`, `{"embeddings": [null]}`} {
		r := b.request("", "yarn test", "user")
		r.Embedder = meaning.Embedder{Kind: meaning.Ollama, URL: say(text), Model: "m"}
		if reply, err := (folders{}).answer(t.Context(), r); err != nil || len(reply.Named) != 0 {
			t.Errorf("%s: %+v, %v", text, reply, err)
		}
	}
}
