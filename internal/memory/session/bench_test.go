package session

import (
	"fmt"
	"testing"
)

// BenchmarkCheckSession asks what is known of a session of a team: first, when its files
// are read and their signatures checked, for which the budget is 10 ms, and then in
// memory, for which it is 100 ns.
func BenchmarkCheckSession(b *testing.B) {
	s, err := Open(b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	session, err := s.Load("claude-code", "one")
	if err != nil {
		b.Fatal(err)
	}
	session.First("/work/p")
	if err := session.Save(nil); err != nil {
		b.Fatal(err)
	}
	if _, err := s.Register("one", someday, func(r *Registered) error {
		for i := range 20 {
			if err := r.Put(Registration{Agent: fmt.Sprint("a", i), Role: "coder", RegisteredAt: someday, RegisteredBy: "person:x"}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			known, err := s.Load("claude-code", "one")
			if err != nil || known.First("/elsewhere") != "/work/p" {
				b.Fatal(known, err)
			}
			if r, err := s.Registered("one", someday); err != nil || len(r.Agents) != 20 {
				b.Fatal(r, err)
			}
		}
	})
	known, err := s.Load("claude-code", "one")
	if err != nil {
		b.Fatal(err)
	}
	r, err := s.Registered("one", someday)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("in memory", func(b *testing.B) {
		for b.Loop() {
			if a, ok := r.Agent("a17"); !ok || a.Role != "coder" || known.First("/elsewhere") != "/work/p" || r.IsDisabled() {
				b.Fatal(a, ok)
			}
		}
	})
}
