package inforce_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/project"
)

func neverLate() bool { return false }

func newKeeper(t *testing.T) *fixture {
	s := newFixture(t)
	s.where.State = filepath.Join(s.where.Dirs.Home, ".local/state/cardea")
	return s
}

// load loads a place and stores forms, as a call does.
func (s *fixture) load() *inforce.Loaded {
	s.t.Helper()
	l := inforce.Load(s.where)
	if err := l.Keep(redact.New(), neverLate); err != nil {
		s.t.Fatal(err)
	}
	return l
}

// forms returns the stored forms by path.
func (s *fixture) forms() map[string]os.FileInfo {
	out := map[string]os.FileInfo{}
	_ = filepath.WalkDir(filepath.Join(s.where.State, "lastgood"), func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			info, err := d.Info()
			if err != nil {
				s.t.Fatal(err)
			}
			out[p] = info
		}
		return nil
	})
	return out
}

func TestTheLastGoodFormStaysInForce(t *testing.T) {
	s := newKeeper(t)
	s.user("cardea.yaml", "default: {attended: deny}\n")
	s.user("rules/u.yaml", rule("mine", "allow"))
	s.project("rules/p.yaml", rule("theirs", "ask"))
	s.load()
	s.user("cardea.yaml", "default: {attended: dney}\n")
	s.user("rules/u.yaml", "rules: [")
	s.project("rules/p.yaml", "rules: {")
	for command, want := range map[string]cardea.Effect{"mine": cardea.Allow, "theirs": cardea.Ask, "make": cardea.Deny} {
		if got := s.judge(s.load(), command); got.Effect != want || got.By == "failure" || len(got.Issues) != 3 {
			t.Errorf("%s: %s by %s, want %s; %v", command, got.Effect, got.By, want, got.Issues)
		}
	}
	text := problemText(s.load())
	for _, want := range []string{"cardea.yaml:1:21: unknown value \"dney\"", "u.yaml:1:", "; its last good form is in force until then", "p.yaml: has mistakes"} {
		if !strings.Contains(text, want) {
			t.Errorf("not told: %q in %s", want, text)
		}
	}
	// A fixed file applies again, and is stored.
	s.user("rules/u.yaml", rule("mine", "deny"))
	s.load()
	s.user("rules/u.yaml", "rules: [")
	if got := s.try("mine"); got.Effect != cardea.Deny {
		t.Errorf("after mending and breaking: %s", got.Effect)
	}
	// A removed file no longer applies.
	if err := os.Remove(filepath.Join(s.where.Dirs.User, "rules/u.yaml")); err != nil {
		t.Fatal(err)
	}
	if got := s.try("mine"); got.By == "rules:mine" {
		t.Error("a removed file is in force")
	}
}

// TestBrokenFilesUnderDeny checks that with on_error: deny, a broken file denies even with
// a stored form.
func TestBrokenFilesUnderDeny(t *testing.T) {
	s := newKeeper(t)
	s.user("cardea.yaml", "on_error: deny\n")
	s.user("rules/u.yaml", rule("mine", "allow"))
	s.load()
	s.user("rules/u.yaml", "rules: [")
	if got := s.try("mine"); got.Effect != cardea.Deny || got.By != "failure" && !strings.HasPrefix(got.By, "failure:") {
		t.Errorf("%s by %s", got.Effect, got.By)
	}
}

// TestPlantedForms checks that a form applies only if this user's Cardea wrote it for this
// path.
func TestPlantedForms(t *testing.T) {
	s := newKeeper(t)
	s.user("rules/a.yaml", rule("a", "allow"))
	s.user("rules/b.yaml", rule("b", "allow"))
	s.load()
	forms := s.forms()
	if len(forms) != 2 {
		t.Fatalf("kept: %v", forms)
	}
	var paths []string
	for p, info := range forms {
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", p, info.Mode())
		}
		paths = append(paths, p)
	}
	read := func(p string) []byte {
		data, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	first, second := read(paths[0]), read(paths[1])
	s.user("rules/a.yaml", "rules: [")
	s.user("rules/b.yaml", "rules: [")
	for name, plant := range map[string]func(){
		"one for the other": func() { write(t, paths[0], string(second)); write(t, paths[1], string(first)) },
		"without signature": func() { write(t, paths[0], rule("a", "allow")); write(t, paths[1], rule("b", "allow")) },
		"too short":         func() { write(t, paths[0], "x"); write(t, paths[1], "") },
		"changed": func() {
			write(t, paths[0], string(first[:len(first)-2])+"\n\n")
			write(t, paths[1], string(second)+"\n")
		},
		"of another key": func() {
			write(t, paths[0], string(first))
			write(t, paths[1], string(second))
			write(t, filepath.Join(s.where.State, "key"), strings.Repeat("k", 32))
		},
	} {
		plant()
		for _, command := range []string{"a", "b"} {
			if got := s.try(command); got.Effect != cardea.Ask {
				t.Errorf("%s: %s is at %s", name, command, got.Effect)
			}
		}
	}
}

// TestFormsAreWrittenOnlyWhenNew checks that a call without changes writes nothing.
func TestFormsAreWrittenOnlyWhenNew(t *testing.T) {
	s := newKeeper(t)
	s.user("rules/u.yaml", rule("mine", "deny"))
	l := inforce.Load(s.where)
	if len(l.LastGood().Pending()) != 1 {
		t.Fatalf("news: %v", l.LastGood().Pending())
	}
	if len(s.forms()) != 0 {
		t.Error("loading writes")
	}
	s.load()
	for range 2 {
		if l := inforce.Load(s.where); len(l.LastGood().Pending()) != 0 {
			t.Errorf("again: %v", l.LastGood().Pending()[0])
		}
	}
	// Broken files are not stored.
	s.user("rules/u.yaml", "rules: [")
	if l := inforce.Load(s.where); len(l.LastGood().Pending()) != 0 {
		t.Errorf("broken: %v", l.LastGood().Pending()[0])
	}
}

// TestFormsAndTrust checks that the last good form of a trusted file is trusted, and that
// problems do not quote the broken text.
func TestFormsAndTrust(t *testing.T) {
	s := newKeeper(t)
	good := rule("mine", "allow")
	s.project("rules/p.yaml", good)
	s.where.Trust = func(_ string, data []byte) bool { return string(data) == good }
	s.load()
	if got := s.try("mine"); got.Effect != cardea.Allow {
		t.Fatalf("trusted: %s", got.Effect)
	}
	s.project("rules/p.yaml", "rules: [{id: x, IGNORE: 1, effect: x}]")
	got := s.try("mine")
	if text := fmt.Sprint(got.Issues); got.Effect != cardea.Allow || strings.Contains(text, "IGNORE") || !strings.Contains(text, "has mistakes") {
		t.Errorf("%s, %s", got.Effect, text)
	}
	s.where.Trust = nil
	if got := s.try("mine"); got.Effect != cardea.Abstain {
		t.Errorf("untrusted: %s", got.Effect)
	}
}

// TestFormsOfProjectsAreFew checks that projects can neither displace the user's forms nor
// fill the disk.
func TestFormsOfProjectsAreFew(t *testing.T) {
	s := newKeeper(t)
	s.user("rules/u.yaml", rule("mine", "deny"))
	s.load()
	dir := filepath.Join(s.where.State, "lastgood", "projects")
	for i := range project.MaxProjectForms + 20 {
		write(t, filepath.Join(dir, fmt.Sprint("old", i)), "x")
	}
	long := time.Now().Add(time.Hour)
	write(t, filepath.Join(dir, "new"), "x")
	if err := os.Chtimes(filepath.Join(dir, "new"), long, long); err != nil {
		t.Fatal(err)
	}
	s.project("rules/p.yaml", rule("theirs", "deny"))
	s.load()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > project.MaxProjectForms {
		t.Errorf("%d forms, %v", len(entries), err)
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); err != nil {
		t.Error("the newest is gone")
	}
	s.user("rules/u.yaml", "rules: [")
	s.project("rules/p.yaml", "rules: [")
	if s.try("mine").Effect != cardea.Deny || s.try("theirs").Effect != cardea.Deny {
		t.Error("a form is gone")
	}
}

func TestFormsThatCannotBeWritten(t *testing.T) {
	s := newKeeper(t)
	s.user("rules/u.yaml", rule("mine", "deny"))
	write(t, s.where.State, "a file in the way")
	l := inforce.Load(s.where)
	if err := l.Keep(redact.New(), neverLate); err == nil || !strings.Contains(err.Error(), "until it is mended") {
		t.Errorf("got %v", err)
	}
	if got := s.judge(l, "mine"); got.Effect != cardea.Deny {
		t.Errorf("it changes a verdict: %s", got.Effect)
	}
	s.where.State = ""
	l = inforce.Load(s.where)
	if err := l.Keep(redact.New(), neverLate); err != nil || len(l.LastGood().Pending()) != 0 {
		t.Errorf("without a state folder: %v", err)
	}
}

// TestFormsWithSecretsAreNotCached checks that a file with a secret has no last good form. No
// file of the state folder has the secret, and a broken file asks as if it was never read.
func TestFormsWithSecretsAreNotCached(t *testing.T) {
	s := newKeeper(t)
	token := "gh" + "p_" + "x7Kq9TzW2mVb4NcR8sLd3FhJ6gYp1QaZ5eUo"
	s.user("rules/u.yaml", rule("mine", "deny")+"# "+token+"\n")
	s.user("rules/other.yaml", rule("other", "deny"))
	s.project("rules/p.yaml", rule("theirs", "ask")+"# "+token+"\n")
	s.load()
	if len(s.forms()) != 3 {
		t.Fatalf("forms: %v", s.forms())
	}
	for path := range s.forms() {
		if data, err := os.ReadFile(path); err != nil || strings.Contains(string(data), token) {
			t.Errorf("%s, %v: %q", path, err, data)
		}
	}
	// It is checked only once.
	if l := inforce.Load(s.where); len(l.LastGood().Pending()) != 0 {
		t.Errorf("again: %v", l.LastGood().Pending()[0])
	}
	s.user("rules/u.yaml", "rules: [")
	s.user("rules/other.yaml", "rules: [")
	if got := s.try("mine"); got.Effect != cardea.Ask {
		t.Errorf("broken: %s by %s", got.Effect, got.By)
	}
	if got := s.try("other"); got.Effect != cardea.Deny {
		t.Errorf("the one without a secret: %s by %s", got.Effect, got.By)
	}
	// Without the secret it is stored again.
	s.user("rules/u.yaml", rule("mine", "deny"))
	s.load()
	s.user("rules/u.yaml", "rules: [")
	if got := s.try("mine"); got.Effect != cardea.Deny {
		t.Errorf("mended: %s by %s", got.Effect, got.By)
	}
}

// TestFormsAreCachedInTime checks that the next call stores what was too late.
func TestFormsAreCachedInTime(t *testing.T) {
	s := newKeeper(t)
	s.user("rules/u.yaml", rule("mine", "deny"))
	if err := inforce.Load(s.where).Keep(redact.New(), func() bool { return true }); err != nil || len(s.forms()) != 0 {
		t.Errorf("late: %v, %v", s.forms(), err)
	}
	if s.load(); len(s.forms()) != 1 {
		t.Errorf("in time: %v", s.forms())
	}
}
