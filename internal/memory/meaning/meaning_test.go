package meaning

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/memory/lesson"
)

// store returns a store with one lesson, an allow of "npm test" for testers.
func store(t *testing.T) *lesson.Store {
	t.Helper()
	root := t.TempDir()
	p := lesson.ScopeFolder{Dir: filepath.Join(root, "user"), State: filepath.Join(root, "state"), Cache: filepath.Join(root, "cache")}
	var err error
	if p.Key, err = state.LoadKey(p.State); err != nil {
		t.Fatal(err)
	}
	w, err := lesson.NewWriter(p)
	if err != nil {
		t.Fatal(err)
	}
	text := redact.New().Text
	if err := w.Teach(lesson.Draft{Effect: cardea.Allow, Tool: text("Bash"), Subject: text("npm test"), Role: text("tester"), Dir: text("."), By: lesson.ByPerson, When: time.Now()}); err != nil {
		t.Fatal(err)
	}
	return lesson.Open(p)
}

// engine returns a program in the place of cardea-engine: a shell script.
func engine(t *testing.T, script string) *Engine {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	path := filepath.Join(t.TempDir(), "cardea-engine")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	e := &Engine{Find: func() (string, error) { return path, nil }, Threshold: 0.85}
	t.Cleanup(e.Close)
	return e
}

// Near returns only lessons that the files have, whatever the engine names.
func TestNearBelievesTheFiles(t *testing.T) {
	s := store(t)
	id := s.Lookup("npm test")[0].ID.String()
	for reply, want := range map[string]int{
		`{"named":[{"subject":"npm test","id":"` + id + `","similarity":0.9}]}`:                      1,
		`{"named":[{"subject":"npm test","id":"` + strings.Repeat("0", 64) + `","similarity":0.9}]}`: 0,
		`{"named":[{"subject":"rm -rf /","id":"` + id + `","similarity":1}]}`:                        0,
		`{"named":[{"subject":"","id":"","similarity":1}], "stale": true}`:                           0,
		`{}`: 0,
	} {
		e := engine(t, "while read x; do echo '"+reply+"'; done")
		for range 2 { // one process answers all requests
			got, err := e.Near(t.Context(), s, "Bash", "tester", "yarn test")
			if err != nil || len(got) != want {
				t.Errorf("%s: %v, %v", reply, got, err)
			}
		}
		if got, err := e.Near(t.Context(), s, "Bash", "coder", "yarn test"); err != nil || len(got) != 0 {
			t.Errorf("another role: %v, %v", got, err)
		}
		if got, err := e.Near(t.Context(), s, "Write", "tester", "yarn test"); err != nil || len(got) != 0 {
			t.Errorf("another tool: %v, %v", got, err)
		}
	}
}

// An engine that does not answer properly is asked once, and says why.
func TestEnginesThatFail(t *testing.T) {
	s := store(t)
	for script, want := range map[string]string{
		"exit 1":                "ended without an answer",
		"read x; echo nonsense": "install cardea and cardea-engine anew",
		"read x; echo '{\"error\":\"the key is damaged\"}'; cat": "the key is damaged",
		"head -c 5000000 /dev/zero":                              "more than",
		"sleep 600":                                              "no answer in time",
	} {
		e := engine(t, script)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		if !strings.Contains(want, "time") {
			cancel()
			ctx, cancel = context.WithTimeout(t.Context(), 20*time.Second)
		}
		defer cancel()
		_, err := e.Near(ctx, s, "Bash", "tester", "yarn test")
		if err == nil || !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "in time") {
			t.Errorf("%s: %v", script, err)
		}
		begin := time.Now()
		if _, again := e.Near(t.Context(), s, "Bash", "tester", "yarn test"); !errors.Is(again, err) || time.Since(begin) > time.Second {
			t.Errorf("%s, asked again: %v", script, again)
		}
	}
	e := &Engine{Find: func() (string, error) { return "", errors.New("cardea-engine is missing") }}
	if _, err := e.Near(t.Context(), s, "Bash", "", "x"); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Error(err)
	}
	if got, err := e.Near(t.Context(), nil, "Bash", "", "x"); err != nil || got != nil {
		t.Error("without lessons the engine is asked")
	}
}
