package session

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"cardea.dev/internal/base/state"
)

// pauseStore makes a store with a pause of an hour that begins now.
func pauseStore(t *testing.T) (s *Store, now time.Time) {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "state"), nil)
	if err != nil {
		t.Fatal(err)
	}
	now = time.Now()
	if err := s.Pause(Pause{From: now, Until: now.Add(time.Hour), By: "person:liam"}); err != nil {
		t.Fatal(err)
	}
	return s, now
}

// A pause ends by itself, or when it is ended, and has a longest length.
func TestPauseEnds(t *testing.T) {
	s, now := pauseStore(t)
	for after, want := range map[time.Duration]bool{0: true, time.Minute: true, time.Hour - time.Second: true, time.Hour: false, 48 * time.Hour: false, -time.Second: true} {
		if p, err := s.Paused(now.Add(after)); err != nil || (p != nil) != want {
			t.Errorf("after %s: %v, %v", after, p, err)
		}
	}
	if p, err := s.Paused(now.Add(-time.Hour)); err == nil || p != nil {
		t.Errorf("before it began: %v, %v", p, err)
	}
	for _, length := range []time.Duration{-time.Hour, 0, LongestPause + time.Second, 1 << 62} {
		if s.Pause(Pause{From: now, Until: now.Add(length)}) == nil {
			t.Errorf("%s is taken", length)
		}
	}
	for _, want := range []bool{true, false} {
		if ended, err := s.EndPause(now); ended != want || err != nil {
			t.Errorf("%v, %v", ended, err)
		}
	}
	if p, err := s.Paused(now); p != nil || err != nil {
		t.Errorf("%v, %v", p, err)
	}
	late, now := pauseStore(t)
	if ended, err := late.EndPause(now.Add(2 * time.Hour)); ended || err != nil {
		t.Errorf("when it was over: %v, %v", ended, err)
	}
	var none *Store
	if p, err := none.Paused(now); p != nil || err != nil {
		t.Errorf("%v, %v", p, err)
	}
}

// A file that says what it cannot, or that another program wrote, pauses nothing.
func TestPauseIsNotBelieved(t *testing.T) {
	signed := func(t *testing.T, s *Store, name string, p any) {
		key, err := state.ReadKey(s.folder)
		if err == nil {
			err = state.WriteSignedJSON(s.pausePath(), key, pausePurpose, name, p)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	edit := func(t *testing.T, s *Store, change func(text []byte) []byte) {
		text, err := os.ReadFile(s.pausePath())
		if err == nil {
			err = os.WriteFile(s.pausePath(), change(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, do := range map[string]func(t *testing.T, s *Store, now time.Time) error{
		"another text": func(t *testing.T, s *Store, _ time.Time) error {
			edit(t, s, func(b []byte) []byte { b[40]++; return b })
			return nil
		},
		"empty": func(t *testing.T, s *Store, _ time.Time) error {
			edit(t, s, func([]byte) []byte { return nil })
			return nil
		},
		"no signature": func(t *testing.T, s *Store, _ time.Time) error {
			edit(t, s, func(b []byte) []byte { return b[32:] })
			return nil
		},
		"long": func(t *testing.T, s *Store, _ time.Time) error {
			edit(t, s, func(b []byte) []byte { return append(b, make([]byte, 1<<20)...) })
			return nil
		},
		"another key": func(_ *testing.T, s *Store, _ time.Time) error { return os.Remove(filepath.Join(s.folder, "key")) },
		"far end": func(t *testing.T, s *Store, now time.Time) error {
			signed(t, s, "", Pause{From: now, Until: now.AddDate(10, 0, 0)})
			return nil
		},
		"later": func(t *testing.T, s *Store, now time.Time) error {
			signed(t, s, "", Pause{From: now.Add(time.Hour), Until: now.Add(2 * time.Hour)})
			return nil
		},
		"no beginning": func(t *testing.T, s *Store, now time.Time) error {
			signed(t, s, "", map[string]any{"until": now.Add(time.Hour)})
			return nil
		},
		"of another purpose": func(t *testing.T, s *Store, now time.Time) error {
			signed(t, s, "x", Pause{From: now, Until: now.Add(time.Hour)})
			return nil
		},
		"written later": func(t *testing.T, s *Store, now time.Time) error {
			signed(t, s, "", Pause{From: now.Add(-time.Minute), Until: now.Add(time.Hour)})
			return nil
		},
		"a copy with the old time": func(t *testing.T, s *Store, now time.Time) error {
			from := now.Add(-time.Minute)
			signed(t, s, "", Pause{From: from, Until: now.Add(time.Hour)})
			return os.Chtimes(s.pausePath(), from, from)
		},
		"of the future": func(_ *testing.T, s *Store, now time.Time) error {
			return os.Chtimes(s.pausePath(), now.Add(time.Hour), now.Add(time.Hour))
		},
		"open to all": func(_ *testing.T, s *Store, _ time.Time) error { return os.Chmod(s.pausePath(), 0o644) },
		"a link": func(_ *testing.T, s *Store, _ time.Time) error {
			if err := os.Rename(s.pausePath(), s.pausePath()+"x"); err != nil {
				return err
			}
			return os.Symlink(s.pausePath()+"x", s.pausePath())
		},
		"a folder": func(_ *testing.T, s *Store, _ time.Time) error {
			if err := os.Remove(s.pausePath()); err != nil {
				return err
			}
			return os.Mkdir(s.pausePath(), 0o700)
		},
	} {
		s, now := pauseStore(t)
		if err := do(t, s, now); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if p, err := s.Paused(now); p != nil || err == nil {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
}
