package session

import (
	"os"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/redact"
)

// A call is followed from process to process: left alone, shown, ran.
func TestPrompted(t *testing.T) {
	folder := t.TempDir()
	at := func(do func(*Session) bool) bool {
		t.Helper()
		s := loadAt(t, folder)
		out := do(s)
		if err := s.Save(redact.New()); err != nil {
			t.Fatal(err)
		}
		return out
	}
	begins := func(name string, mode cardea.Mode) {
		at(func(s *Session) bool { s.LeftAlone(name, mode); return true })
	}
	shows := func(name string, mode cardea.Mode) bool {
		return at(func(s *Session) bool { return s.Showing(name, mode) })
	}
	ran := func(name string, mode cardea.Mode) bool {
		return at(func(s *Session) bool { return s.Ran(name, mode) })
	}
	begins("make", cardea.ModeDefault)
	if !shows("make", cardea.ModeDefault) || !ran("make", cardea.ModeDefault) {
		t.Error("it was shown, and ran")
	}
	if ran("make", cardea.ModeDefault) {
		t.Error("it counts twice")
	}
	if shows("other", cardea.ModeDefault) {
		t.Error("it never began")
	}
	begins("make", cardea.ModeDefault)
	if ran("make", cardea.ModeDefault) {
		t.Error("nobody was asked")
	}
	begins("make", cardea.ModeDefault)
	if shows("make", cardea.ModeAcceptEdits) || ran("make", cardea.ModeDefault) {
		t.Error("the mode changed before it was shown")
	}
	begins("make", cardea.ModeDefault)
	if !shows("make", cardea.ModeDefault) || ran("make", cardea.ModeBypass) {
		t.Error("the mode changed while it was shown")
	}
	for i := range maxPrompted + 1 {
		begins(strings.Repeat("x", i+1), cardea.ModeDefault)
	}
	if shows("x", cardea.ModeDefault) || !shows("xx", cardea.ModeDefault) {
		t.Error("the oldest is forgotten first")
	}
	// Who edits the file cannot say that a person was asked.
	begins("make", cardea.ModeDefault)
	s := loadAt(t, folder)
	text, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	forged := strings.ReplaceAll(string(text), `"mode":"default"`, `"mode":"default","shown":"0123456789abcdef01234567"`)
	if forged == string(text) || strings.Contains(forged, "make") {
		t.Fatalf("the file: %s", text)
	}
	if err := os.WriteFile(s.path, []byte(forged), 0o600); err != nil {
		t.Fatal(err)
	}
	if ran("make", cardea.ModeDefault) {
		t.Error("a forged word counts")
	}
}

func loadAt(t *testing.T, folder string) *Session {
	t.Helper()
	store, err := Open(folder, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Load("claude-code", "s1")
	if err != nil {
		t.Fatal(err)
	}
	return s
}
