package session

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cardea.dev/internal/base/state"
)

var someday = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

func register(t *testing.T, s *Store, session, agent, role string, now time.Time) {
	t.Helper()
	_, err := s.Register(session, now, func(r *Registered) error {
		return r.Put(Registration{Agent: agent, Role: role, RegisteredAt: now, RegisteredBy: "person:x"})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRegistrations(t *testing.T) {
	s, folder := open(t)
	now := time.Now()
	if r, err := s.Registered("one", now); err != nil || len(r.Agents) > 0 {
		t.Errorf("before: %+v, %v", r, err)
	}
	register(t, s, "one", "", "coder", now)
	register(t, s, "one", "a1", "tester", now)
	register(t, s, "one", "", "docs", now)
	r, err := s.Registered("one", now)
	main, _ := r.Agent("")
	sub, _ := r.Agent("a1")
	if err != nil || main.Role != "docs" || sub.Role != "tester" || len(r.Agents) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := s.Registered("two", now); err != nil || len(r.Agents) > 0 {
		t.Errorf("another session: %+v, %v", r, err)
	}
	// A change that fails changes nothing, and an id is nothing else.
	failed := errors.New("no")
	if _, err := s.Register("one", now, func(r *Registered) error { r.Agents = nil; return failed }); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
	for _, id := range []string{"", "a\nb", strings.Repeat("x", 2000)} {
		if _, err := s.Register(id, now, func(*Registered) error { return nil }); err == nil {
			t.Errorf("%q is an id", id)
		}
	}
	if all, problems := s.AllRegistered(now); len(all) != 1 || len(problems) > 0 {
		t.Errorf("%v, %v", all, problems)
	}
	// It is valid for a month after it was last needed.
	if r, err := s.Registered("one", now.Add(29*24*time.Hour)); err != nil || len(r.Agents) != 2 {
		t.Errorf("in a month: %+v, %v", r, err)
	}
	if r, err := s.Registered("one", now.Add(50*24*time.Hour)); err != nil || len(r.Agents) != 2 {
		t.Errorf("it was needed: %+v, %v", r, err)
	}
	if r, err := s.Registered("one", now.Add(90*24*time.Hour)); err != nil || len(r.Agents) != 0 {
		t.Errorf("in three months: %+v, %v", r, err)
	}
	// No file name contains an id.
	register(t, s, "../../evil", "", "coder", now)
	for _, f := range files(t, folder) {
		if strings.Contains(f, "evil") || strings.Contains(f, "one") {
			t.Errorf("%s names a session", f)
		}
	}
}

// A forged file is ignored and reported.
func TestForgedRegistrations(t *testing.T) {
	s, folder := open(t)
	register(t, s, "one", "", "coder", someday)
	key, err := state.ReadKey(folder)
	if err != nil {
		t.Fatal(err)
	}
	path := s.registrationPath(key, "one")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"changed": []byte(strings.Replace(string(good), "coder", "maint", 1)), "unsigned": good[state.SignatureSize:], "empty": nil, "cut": good[:len(good)-1],
	} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := s.Registered("one", someday); err == nil || len(r.Agents) > 0 || !strings.Contains(err.Error(), "for the session again") {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if all, problems := s.AllRegistered(someday); len(all) > 0 || len(problems) != 1 {
			t.Errorf("%s: %v, %v", name, all, problems)
		}
	}
	// The record of one session is invalid for another session.
	if err := os.WriteFile(s.registrationPath(key, "two"), good, 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Registered("two", someday); err == nil || len(r.Agents) > 0 {
		t.Errorf("moved: %+v, %v", r, err)
	}
	// Nor is a link, or a folder.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Registered("one", someday); err == nil || len(r.Agents) > 0 {
		t.Errorf("a folder: %+v, %v", r, err)
	}
}

func TestGrants(t *testing.T) {
	s, _ := open(t)
	if s.TakeGrant("lead", "x", someday) {
		t.Error("a grant of nobody's")
	}
	if err := s.Grant("lead", "x", someday); err != nil {
		t.Fatal(err)
	}
	if s.TakeGrant("lead", "y", someday) || s.TakeGrant("other", "x", someday) {
		t.Error("a grant for something else")
	}
	if !s.TakeGrant("lead", "x", someday.Add(time.Minute)) || s.TakeGrant("lead", "x", someday) {
		t.Error("once")
	}
	if err := s.Grant("lead", "x", someday); err != nil {
		t.Fatal(err)
	}
	if s.TakeGrant("lead", "x", someday.Add(time.Hour)) {
		t.Error("too late")
	}
}

// Many processes register, switch and look at once: no record is lost or torn.
func TestManyProcesses(t *testing.T) {
	const processes, rounds = 32, 5 // more can wait longer than a lock waits, on a busy machine
	if folder := os.Getenv("SESSION_TEST_STATE"); folder != "" {
		s, err := Open(folder, nil)
		if err != nil {
			t.Fatal(err)
		}
		agent := os.Getenv("SESSION_TEST_AGENT")
		for i := range rounds {
			register(t, s, "shared", agent, fmt.Sprintf("role-%d", i), time.Now())
			r, err := s.Registered("shared", time.Now())
			if err != nil {
				t.Fatal(err)
			}
			if own, ok := r.Agent(agent); !ok || own.Role != fmt.Sprintf("role-%d", i) {
				t.Fatalf("round %d: %+v", i, own)
			}
		}
		return
	}
	s, folder := open(t)
	var wg sync.WaitGroup
	for i := range processes {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestManyProcesses$")
			cmd.Env = append(os.Environ(), "SESSION_TEST_STATE="+folder, fmt.Sprintf("SESSION_TEST_AGENT=a%d", i))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	wg.Wait()
	r, err := s.Registered("shared", time.Now())
	if err != nil || len(r.Agents) != processes {
		t.Fatalf("%d agents, %v", len(r.Agents), err)
	}
	for _, a := range r.Agents {
		if a.Role != fmt.Sprintf("role-%d", rounds-1) {
			t.Errorf("%+v", a)
		}
	}
	left, err := filepath.Glob(filepath.Join(folder, "registered", state.TempPrefix+"*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
