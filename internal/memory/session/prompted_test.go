package session

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/redact"
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
		return at(func(s *Session) bool { shown, _ := s.Ran(name, mode); return shown })
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
	begins("make", cardea.ModeAuto)
	if _, unshown := loadAt(t, folder).Ran("make", cardea.ModeAuto); !unshown {
		t.Error("it ran without being shown")
	}
	if _, unshown := loadAt(t, folder).Ran("make", cardea.ModeDefault); unshown {
		t.Error("the mode changed before it ran")
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

// A call that begins is a line after the object, and the rest of the file stays the same. Once
// there are as many lines as followed calls, the file is rewritten without the oldest.
func TestPromptedLines(t *testing.T) {
	folder := t.TempDir()
	save := func(s *Session) {
		t.Helper()
		if err := s.Save(redact.New()); err != nil {
			t.Fatal(err)
		}
	}
	s := loadAt(t, folder)
	s.First(folder)
	save(s)
	object, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxPrompted {
		s := loadAt(t, folder)
		s.LeftAlone(strings.Repeat("x", i+1), cardea.ModeDefault)
		save(s)
		text, err := os.ReadFile(s.path)
		if err != nil {
			t.Fatal(err)
		}
		if lines := bytes.Count(text, []byte("\n")); !bytes.HasPrefix(text, object) || lines != i+2 {
			t.Fatalf("after %d calls: %s", i+1, text)
		}
	}
	s = loadAt(t, folder)
	s.LeftAlone("another", cardea.ModeDefault)
	save(s)
	text, err := os.ReadFile(s.path)
	if err != nil || bytes.Count(text, []byte("\n")) != 1 {
		t.Fatalf("a new file: %s, %v", text, err)
	}
	// What was cut off within a line is no call, nor is what follows in it.
	s = loadAt(t, folder)
	digest := s.CallID("cut")
	for _, tail := range []string{digest, digest + " default", digest + "\n", " default\n", "\n"} {
		if err := os.WriteFile(s.path, append(bytes.Clone(text), tail...), 0o600); err != nil {
			t.Fatal(err)
		}
		s := loadAt(t, folder)
		if s.Showing("cut", cardea.ModeDefault) {
			t.Errorf("%q is taken for a call", tail)
		}
		if s.Showing("x", cardea.ModeDefault) || !s.Showing("xx", cardea.ModeDefault) || !s.Showing("another", cardea.ModeDefault) {
			t.Errorf("with %q behind the object, others are lost", tail)
		}
	}
	// The same call in another mode is another call to be followed.
	for _, mode := range []cardea.Mode{cardea.ModeDefault, cardea.ModeAcceptEdits} {
		s = loadAt(t, folder)
		s.LeftAlone("twice", mode)
		save(s)
	}
	if loadAt(t, folder).Showing("twice", cardea.ModeDefault) || !loadAt(t, folder).Showing("twice", cardea.ModeAcceptEdits) {
		t.Error("the later mode does not count")
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
