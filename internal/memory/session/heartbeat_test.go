package session

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestBeat(t *testing.T) {
	state := t.TempDir()
	s, err := Open(state, nil)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	if _, ok := s.LastEvent("claude-code"); ok {
		t.Error("a heartbeat before the first")
	}
	for _, tt := range []struct{ at, want time.Duration }{
		{0, 0}, {30 * time.Second, 0}, {time.Minute, time.Minute}, {-time.Hour, -time.Hour}, // the clock was put back
	} {
		if err := s.RecordEvent("claude-code", begin.Add(tt.at)); err != nil {
			t.Fatal(err)
		}
		if last, ok := s.LastEvent("claude-code"); !ok || !last.Equal(begin.Add(tt.want)) {
			t.Errorf("after %s: %v, %v", tt.at, last, ok)
		}
	}
}

// The name of a harness comes from the wire in the end, and a file that is no
// file is not written through.
func TestBeatStaysInItsFolder(t *testing.T) {
	state := t.TempDir()
	s, err := Open(state, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "../x", "a/b", "A", "a b"} {
		if err := s.RecordEvent(name, time.Now()); err != nil {
			t.Error(err)
		}
	}
	if left, _ := os.ReadDir(state); len(left) > 0 {
		t.Errorf("wrote %v", left)
	}
	target := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(target, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(state, "heartbeat"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(state, "heartbeat/claude-code")); err != nil {
		t.Fatal(err)
	}
	if err := s.RecordEvent("claude-code", time.Now()); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(target); err != nil || string(data) != "precious" {
		t.Errorf("%q, %v", data, err)
	}
	if err := os.RemoveAll(filepath.Join(state, "heartbeat")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "heartbeat"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.RecordEvent("claude-code", time.Now()); err == nil {
		t.Error("a heartbeat that cannot be written is not told")
	}
	var none *Store
	if err := none.RecordEvent("claude-code", time.Now()); err != nil {
		t.Error(err)
	}
}
