package usage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/testing/testrun"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// clock is a clock with a fixed time.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func request(kind string) Request {
	return Request{Provider: judge.Provider{Type: kind}.Complete(), Session: "s", Tokens: 100, Cost: 50, Priced: true}
}

// try claims a request and ends it.
func try(t *testing.T, b *Book, r Request, o Outcome) error {
	t.Helper()
	c, err := b.Begin(t.Context(), r, judge.Budget{})
	if err == nil {
		err = c.End(t.Context(), o)
	}
	return err
}

func paused(err error) *PausedError {
	var p *PausedError
	errors.As(err, &p)
	return p
}

func TestCircuit(t *testing.T) {
	c := &clock{noon}
	b := Open(t.TempDir(), c.now)
	r, failed := request(judge.OpenAI), Outcome{Health: Failed}
	for range 2 {
		if err := try(t, b, r, failed); err != nil {
			t.Fatal(err)
		}
	}
	if err := try(t, b, r, Outcome{Health: Alive}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 { // failures in a row only
		if err := try(t, b, r, failed); err != nil {
			t.Fatal(i, err)
		}
	}
	for i, pause := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 10 * time.Minute, 10 * time.Minute} {
		if p := paused(try(t, b, r, failed)); p == nil || p.Trial || !p.Until.Equal(c.at.Add(pause)) {
			t.Fatalf("%d: %+v", i, p)
		}
		c.at = c.at.Add(pause)
		if err := try(t, b, r, failed); err != nil {
			t.Fatal(err)
		}
	}
	if err := try(t, b, request(judge.Ollama), failed); err != nil {
		t.Errorf("another provider: %v", err)
	}
	other := r
	other.Provider.Endpoint = "https://other.example"
	if err := try(t, b, other, failed); err != nil {
		t.Errorf("another endpoint: %v", err)
	}
	c.at = c.at.Add(10 * time.Minute)
	if err := try(t, b, r, Outcome{Health: Alive}); err != nil {
		t.Fatal(err)
	}
	if err := try(t, b, r, failed); err != nil {
		t.Errorf("after a trial that succeeded: %v", err)
	}
}

// One process makes the trial, the others go on to the next provider. One that dies in its
// trial does not keep the provider shut.
func TestOneTrial(t *testing.T) {
	c := &clock{noon}
	folder := t.TempDir()
	r := request(judge.OpenAI)
	for range 3 {
		if err := try(t, Open(folder, c.now), r, Outcome{Health: Failed}); err != nil {
			t.Fatal(err)
		}
	}
	c.at = c.at.Add(time.Minute)
	trial, err := Open(folder, c.now).Begin(t.Context(), r, judge.Budget{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(folder, c.now).Begin(t.Context(), r, judge.Budget{}); paused(err) == nil || !paused(err).Trial {
		t.Errorf("a second trial: %v", err)
	}
	if err := trial.End(t.Context(), Outcome{}); err != nil { // given up before it could tell
		t.Fatal(err)
	}
	if _, err := Open(folder, c.now).Begin(t.Context(), r, judge.Budget{}); err != nil {
		t.Errorf("after a trial that was given up: %v", err)
	}
	c.at = c.at.Add(r.Provider.Timeout + probeGrace + time.Second)
	if _, err := Open(folder, c.now).Begin(t.Context(), r, judge.Budget{}); err != nil {
		t.Errorf("after a trial whose process died: %v", err)
	}
}

func TestRetryAfter(t *testing.T) {
	c := &clock{noon}
	b, r := Open(t.TempDir(), c.now), request(judge.OpenAI)
	if err := try(t, b, r, Outcome{Health: Failed, RetryAfter: 90 * time.Second}); err != nil {
		t.Fatal(err)
	}
	c.at = c.at.Add(89 * time.Second)
	if _, err := b.Begin(t.Context(), r, judge.Budget{}); paused(err) == nil {
		t.Errorf("got %v", err)
	}
	c.at = c.at.Add(time.Second)
	if err := try(t, b, r, Outcome{Health: Failed, RetryAfter: 1000 * time.Hour}); err != nil {
		t.Fatal(err)
	}
	c.at = c.at.Add(time.Hour)
	if _, err := b.Begin(t.Context(), r, judge.Budget{}); err != nil {
		t.Errorf("a provider shuts itself for more than an hour: %v", err)
	}
}

// A clock that is set back keeps a provider shut no longer than it could have been, and
// gives no second budget.
func TestClocks(t *testing.T) {
	c := &clock{noon}
	b, r := Open(t.TempDir(), c.now), request(judge.OpenAI)
	for range 3 {
		if err := try(t, b, r, Outcome{Health: Failed}); err != nil {
			t.Fatal(err)
		}
	}
	c.at = noon.Add(-24 * time.Hour)
	if _, err := b.Begin(t.Context(), r, judge.Budget{CallsPerDay: 4}); err != nil {
		t.Errorf("got %v", err)
	}
	if _, err := b.Begin(t.Context(), request(judge.Ollama), judge.Budget{CallsPerDay: 4}); err == nil {
		t.Error("yesterday has a budget of its own again")
	}
	c.at = noon.Add(-5 * 24 * time.Hour)
	if _, err := b.Begin(t.Context(), request(judge.Ollama), judge.Budget{CallsPerDay: 4}); err != nil {
		t.Errorf("a clock that had been days ahead: %v", err)
	}
}

func TestBudgets(t *testing.T) {
	c := &clock{noon}
	b := Open(t.TempDir(), c.now)
	claim := func(r Request, budget judge.Budget) *Claim {
		t.Helper()
		got, err := b.Begin(t.Context(), r, budget)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	end := func(c *Claim, o Outcome) {
		t.Helper()
		if err := c.End(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(r Request, budget judge.Budget, want string) {
		t.Helper()
		_, err := b.Begin(t.Context(), r, budget)
		var s *SpentError
		if !errors.As(err, &s) || !strings.Contains(s.Why, want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	r := request(judge.OpenAI)
	first := claim(r, judge.Budget{TokensPerDay: 100})
	refused(r, judge.Budget{TokensPerDay: 199}, "99 are left, and this may take 100; it is full again in 12h0m0s")
	end(first, Outcome{Known: true, Tokens: 10, Cost: 5, Health: Alive})
	second := claim(r, judge.Budget{TokensPerDay: 110, MoneyPerDay: 55})
	refused(r, judge.Budget{MoneyPerDay: 104}, "this may cost 0.00005")
	end(second, Outcome{Unsent: true, Health: Failed}) // it cost nothing, and is not counted as a call
	third := claim(r, judge.Budget{CallsPerDay: 2, CallsPerSession: 2, TokensPerDay: 110})
	refused(r, judge.Budget{CallsPerDay: 2}, "2 calls a day")
	refused(r, judge.Budget{CallsPerSession: 2}, "2 calls for this session")
	elsewhere := r
	elsewhere.Session = "other"
	end(claim(elsewhere, judge.Budget{CallsPerSession: 1}), Outcome{Unsent: true})
	end(third, Outcome{Health: Failed}) // its usage is unknown: all of the claim
	refused(r, judge.Budget{TokensPerDay: 209}, "99 are left")
	// Spending beyond the claim is recorded as well.
	end(claim(r, judge.Budget{}), Outcome{Known: true, Tokens: 1000, Cost: 1000, Health: Alive})
	refused(r, judge.Budget{TokensPerDay: 1200}, "90 are left")
	unpriced := r
	unpriced.Priced = false
	refused(unpriced, judge.Budget{MoneyPerDay: judge.MostMoney}, "no price is known for gpt-4o-mini")
	// The next day, a session goes on, and what was claimed yesterday gives nothing back.
	late := claim(r, judge.Budget{})
	c.at = c.at.Add(12 * time.Hour)
	end(claim(elsewhere, judge.Budget{TokensPerDay: 100, CallsPerDay: 1, MoneyPerDay: 50}), Outcome{Known: true, Tokens: 60, Health: Alive})
	end(late, Outcome{Unsent: true})
	refused(elsewhere, judge.Budget{TokensPerDay: 159}, "99 are left")
	refused(r, judge.Budget{CallsPerSession: 3}, "3 calls for this session")
}

// A planted or damaged file does not reset the budget.
func TestForged(t *testing.T) {
	c := &clock{noon}
	folder := t.TempDir()
	b, r := Open(folder, c.now), request(judge.OpenAI)
	if err := try(t, b, r, Outcome{Health: Alive}); err != nil {
		t.Fatal(err)
	}
	other, key := t.TempDir(), make([]byte, state.KeySize)
	for name, plant := range map[string]func() error{
		"text":      func() error { return os.WriteFile(b.path(), []byte(`{"v":1}`), 0o600) },
		"empty":     func() error { return os.WriteFile(b.path(), nil, 0o600) },
		"other key": func() error { return state.WriteSigned(b.path(), key, purpose, "", []byte(`{"v":1}`)) },
		"large":     func() error { return os.WriteFile(b.path(), make([]byte, maxFile+100), 0o600) },
		"link": func() error {
			return errors.Join(os.Remove(b.path()), os.Symlink(filepath.Join(other, "x"), b.path()))
		},
	} {
		if err := plant(); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Begin(t.Context(), r, judge.Budget{CallsPerDay: 100}); err == nil || !strings.Contains(err.Error(), "remove "+b.path()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := errors.Join(os.Remove(b.path()), os.WriteFile(b.path(), []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := try(t, b, r, Outcome{Health: Alive}); err != nil {
		t.Errorf("without a budget it is begun anew: %v", err)
	}
	info, err := os.Stat(b.path())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// The file reveals neither sessions nor endpoints.
func TestNamesAreNotStored(t *testing.T) {
	c := &clock{noon}
	b, r := Open(t.TempDir(), c.now), request(judge.OpenAI)
	r.Session, r.Provider.Endpoint = "session-of-mine", "https://inner.example"
	if err := try(t, b, r, Outcome{Health: Failed}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(b.path())
	if err != nil || strings.Contains(string(data), "session-of-mine") || strings.Contains(string(data), "inner") {
		t.Errorf("%s, %v", data, err)
	}
}

// The file does not grow with sessions and endpoints.
func TestForgets(t *testing.T) {
	f := file{Sessions: map[string]sessionUsage{}}
	for i := range maxSessions + 10 {
		f.spend(&Claim{session: fmt.Sprint(i)}, noon.Add(time.Duration(i)*time.Second))
	}
	if _, old := f.Sessions["9"]; len(f.Sessions) != maxSessions || old {
		t.Errorf("%d sessions", len(f.Sessions))
	}
	for i := range maxProviders + 10 {
		f.judge(noon.Add(time.Duration(i)*time.Second), &Claim{provider: fmt.Sprint(i)}, Outcome{Health: Failed})
	}
	if _, old := f.Providers["9"]; len(f.Providers) != maxProviders || old {
		t.Errorf("%d providers", len(f.Providers))
	}
}

// TestHelperProcess is a process that asks until it may not.
func TestHelperProcess(t *testing.T) {
	folder := os.Getenv("USAGE_FOLDER")
	if folder == "" {
		t.Skip("it is started by TestManyProcesses")
	}
	b := Open(folder, time.Now)
	for range 20 {
		c, err := b.Begin(context.Background(), request(judge.OpenAI), judge.Budget{CallsPerDay: 70, TokensPerDay: 5000, MoneyPerDay: judge.Dollar})
		var s *SpentError
		switch {
		case errors.As(err, &s):
			return
		case errors.Is(err, state.ErrBusy):
			continue
		case err != nil:
			t.Fatal(err)
		}
		fmt.Println("sent")
		if err := c.End(context.Background(), Outcome{Known: true, Tokens: 90, Health: Alive}); err != nil && !errors.Is(err, state.ErrBusy) {
			t.Fatal(err)
		}
	}
}

// 64 processes do not spend more than one may.
func TestManyProcesses(t *testing.T) {
	folder := t.TempDir()
	var wait sync.WaitGroup
	out := make([][]byte, 64)
	for i := range out {
		wait.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestHelperProcess$", "-test.v")
			cmd.Env = append(os.Environ(), "USAGE_FOLDER="+folder)
			var err error
			if out[i], err = cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out[i])
			}
		})
	}
	wait.Wait()
	sent := 0
	for _, o := range out {
		sent += strings.Count(string(o), "sent\n")
	}
	// 5000 tokens at 90 each, of which 100 must be left to begin.
	if sent > 55 || sent == 0 {
		t.Errorf("%d were sent", sent)
	}
}

// What an earlier version spent is read, and what a newer one spent is not replaced.
func TestOtherVersions(t *testing.T) {
	for _, folder := range testrun.EarlierState(t) {
		key, err := state.ReadKey(folder)
		if err != nil {
			t.Fatal(err)
		}
		if f, err := Open(folder, time.Now).read(key); err != nil || f.Calls == 0 || f.Day == "" {
			t.Errorf("%s: %+v, %v", folder, f, err)
		}
	}
	b := Open(t.TempDir(), (&clock{noon}).now)
	if err := try(t, b, request(judge.OpenAI), Outcome{}); err != nil {
		t.Fatal(err)
	}
	key, err := state.ReadKey(b.folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := state.WriteSigned(b.path(), key, purpose, "", []byte(`{"v":99,"more":1}`)); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(b.path())
	if err := try(t, b, request(judge.OpenAI), Outcome{}); err == nil || !strings.Contains(err.Error(), "a newer Cardea wrote it") {
		t.Error(err)
	}
	if after, err := os.ReadFile(b.path()); string(after) != string(before) {
		t.Errorf("%q %v", after, err)
	}
}
