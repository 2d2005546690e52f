package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/ask/judge/fakeprovider"
	"cardea.dev/internal/command/redact"
)

// The installed engine asks providers for the hook's program.
func TestJudgeInstalled(t *testing.T) {
	s := install(t)
	server := fakeprovider.Start(t)
	q := judge.Question{System: redact.New().Text("judge"), User: redact.New().Text("ls"), Session: "s"}
	e := judge.Engine{Find: func() (string, error) { return s.exe("cardea-engine"), nil }, Environ: []string{"ANTHROPIC_API_KEY=" + fakeprovider.Key},
		Request: judge.Request{Config: judge.Config{Chain: []judge.Provider{{Type: judge.OpenAI}, server.Provider(judge.Anthropic)}}, State: t.TempDir(), Home: t.TempDir()}}
	a, err := e.Ask(t.Context(), q)
	if err != nil || a.Decision != cardea.Allow || a.Provider != judge.Anthropic || len(a.Failed) != 1 || a.Failed[0].Cause != judge.NoKey {
		t.Fatalf("got %+v, %v", a, err)
	}
	if there, err := e.Check(t.Context()); err != nil || len(there) != 2 || there[0].OK() || !there[1].OK() {
		t.Errorf("got %+v, %v", there, err)
	}
	// Budgets belong to the state folder, for all processes.
	e.Request.Config.Budget.CallsPerDay = 1
	var f *judge.Failure
	if _, err = e.Ask(t.Context(), q); !errors.As(err, &f) || !strings.Contains(err.Error(), "the budget of 1 calls a day is spent") {
		t.Errorf("got %v", err)
	}
	// An engine that hangs is ended at the deadline.
	server.Answer(func(fakeprovider.Asked) fakeprovider.Behaviour {
		return fakeprovider.Behaviour{Fail: fakeprovider.Slow}
	})
	e.Request.Config.Budget = judge.Budget{}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	begin := time.Now()
	if _, err = e.Ask(ctx, q); !errors.As(err, &f) || time.Since(begin) > 20*time.Second {
		t.Errorf("got %v after %s", err, time.Since(begin))
	}
	e.Find = func() (string, error) { return "", errors.New("cardea-engine is missing beside cardea") }
	if _, err = e.Ask(t.Context(), q); err == nil || !strings.Contains(err.Error(), "missing beside cardea") {
		t.Errorf("without the engine: %v", err)
	}
}

// Variables that a project can set in its harness's settings do not select another proxy,
// unless the person's settings trust them.
func TestJudgeVariables(t *testing.T) {
	s := install(t)
	asked := make(chan string, 10)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Host
		w.WriteHeader(http.StatusForbidden)
	}))
	defer proxy.Close()
	e := judge.Engine{Find: func() (string, error) { return s.exe("cardea-engine"), nil },
		Environ: []string{"OPENAI_API_KEY=" + fakeprovider.Key, "HTTPS_PROXY=" + proxy.URL, "https_proxy=" + proxy.URL, "ALL_PROXY=" + proxy.URL},
		Request: judge.Request{Config: judge.Config{Chain: []judge.Provider{{Type: judge.OpenAI, Endpoint: "https://api.invalid/v1"}}}, State: t.TempDir(), Home: t.TempDir()}}
	q := judge.Question{User: redact.New().Text("ls")}
	if _, err := e.Ask(t.Context(), q); err == nil || len(asked) != 0 {
		t.Errorf("%d over the proxy, %v", len(asked), err)
	}
	e.Trusted = []string{judge.ProxyVariables}
	if _, err := e.Ask(t.Context(), q); err == nil || len(asked) != 1 {
		t.Errorf("%d over the proxy that counts, %v", len(asked), err)
	}
}
