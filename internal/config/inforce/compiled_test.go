package inforce_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/inforce"
)

// newCompiling returns a place that stores compiled rules, with a program that has its own
// stamp.
func newCompiling(t *testing.T) *fixture {
	s := newKeeper(t)
	s.where.Dirs.Cache = filepath.Join(s.where.Dirs.Home, ".cache/cardea")
	s.where.Program, s.where.Compiled = filepath.Join(s.where.Dirs.Home, "cardea"), true
	write(t, s.where.Program, "the program")
	return s
}

// compiled returns the compiled files.
func (s *fixture) compiled() []string {
	out, _ := filepath.Glob(filepath.Join(s.where.Dirs.Cache, "rules", "*"))
	return out
}

// says returns the decision about "mine", with and without compiled rules, which must
// agree.
func (s *fixture) says() cardea.Effect {
	s.t.Helper()
	plain := s.where
	plain.Compiled = false
	want := s.judge(inforce.Load(plain), "mine")
	got := s.judge(s.load(), "mine")
	if got.Effect != want.Effect || got.Reason != want.Reason {
		s.t.Errorf("compiled rules say %s (%s), and their text %s (%s)", got.Effect, got.Reason, want.Effect, want.Reason)
	}
	return got.Effect
}

// TestCompiledRulesAreNeverStale checks that a compiled file applies only to exactly its
// text and program. Size, time and inode cannot prove that, so they are not used.
func TestCompiledRulesAreNeverStale(t *testing.T) {
	s := newCompiling(t)
	path := filepath.Join(s.where.Dirs.User, "rules/u.yaml")
	when := time.Now().Add(-time.Hour)
	put := func(effect string) {
		t.Helper()
		s.user("rules/u.yaml", rule("mine", effect))
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	put("deny")
	if s.says() != cardea.Deny || len(s.compiled()) != 1 {
		t.Fatalf("nothing is compiled: %v", s.compiled())
	}
	put("halt") // the same size, time and inode
	if got := s.says(); got != cardea.Halt {
		t.Errorf("an edit in place: %s", got)
	}
	other := filepath.Join(s.where.Dirs.User, "rules/u.new")
	write(t, other, rule("mine", "deny"))
	if err := os.Chtimes(other, when, when); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	if got := s.says(); got != cardea.Deny {
		t.Errorf("another file in its place: %s", got)
	}
	for i := range 20 { // within one clock tick of the file system
		effect, want := "deny", cardea.Deny
		if i%2 > 0 {
			effect, want = "halt", cardea.Halt
		}
		s.user("rules/u.yaml", rule("mine", effect))
		if got := s.says(); got != want {
			t.Fatalf("edit %d: %s, want %s", i, got, want)
		}
	}
	// Another program reads the text.
	before, _ := os.ReadFile(s.compiled()[0])
	write(t, s.where.Program, "the program, newer")
	if s.says(); len(s.compiled()) != 1 {
		t.Fatal(s.compiled())
	}
	if after, _ := os.ReadFile(s.compiled()[0]); string(after) == string(before) {
		t.Error("another program took what was compiled by the first")
	}
	// A broken file has its last good form in force, and the compiled form of that is not used
	// for the broken text.
	s.user("rules/u.yaml", "rules: [")
	if got := s.says(); got != cardea.Halt && got != cardea.Deny {
		t.Errorf("broken: %s", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := s.says(); got == cardea.Halt || got == cardea.Deny {
		t.Errorf("removed: %s", got)
	}
}

// TestCompiledRulesAreNotForged checks that a damaged, cut, swapped or unsigned form is
// ignored and replaced.
func TestCompiledRulesAreNotForged(t *testing.T) {
	s := newCompiling(t)
	s.user("rules/u.yaml", rule("mine", "deny"))
	s.user("rules/v.yaml", rule("other", "allow"))
	s.says()
	files := s.compiled()
	if len(files) != 2 {
		t.Fatal(files)
	}
	one, _ := os.ReadFile(files[0])
	two, _ := os.ReadFile(files[1])
	flipped := append([]byte{}, one...)
	flipped[len(flipped)-3] ^= 1
	for name, planted := range map[string][]byte{"empty": nil, "cut": one[:len(one)/2], "half a signature": one[:20], "no signature": append(make([]byte, 32), one[32:]...),
		"longer": append(append([]byte{}, one...), 'x'), "changed": flipped, "of another file": two} {
		for _, file := range files {
			write(t, file, string(planted))
		}
		if got := s.says(); got != cardea.Deny {
			t.Errorf("%s: %s", name, got)
		}
	}
	// Another user's key, and none.
	if err := os.Remove(filepath.Join(s.where.State, "key")); err != nil {
		t.Fatal(err)
	}
	if got := s.says(); got != cardea.Deny {
		t.Errorf("without the key: %s", got)
	}
	// An untrusted project gains nothing from forms compiled while it was trusted.
	s.project("rules/p.yaml", rule("theirs", "allow"))
	s.where.Trust = all
	s.load()
	s.where.Trust = nil
	if v := s.judge(s.load(), "theirs"); v.Effect == cardea.Allow {
		t.Error("the compiled form of a project's rules is trusted where the project is not")
	}
}

// TestCompiledRulesOfManyWriters checks that concurrent writers leave a complete file, and
// that a process that cannot write uses the text.
func TestCompiledRulesOfManyWriters(t *testing.T) {
	s := newCompiling(t)
	s.user("rules/u.yaml", rule("mine", "deny"))
	s.load()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				for _, f := range s.compiled() {
					_ = os.Remove(f)
				}
				l := inforce.Load(s.where)
				if v := s.judge(l, "mine"); v.Effect != cardea.Deny {
					t.Errorf("%s", v.Effect)
				}
				_ = l.Keep(redact.New(), neverLate)
			}
		})
	}
	wg.Wait()
	write(t, filepath.Join(s.where.Dirs.Home, "blocked"), "a file")
	s.where.Dirs.Cache = filepath.Join(s.where.Dirs.Home, "blocked")
	l := inforce.Load(s.where)
	if v := s.judge(l, "mine"); v.Effect != cardea.Deny {
		t.Errorf("%s", v.Effect)
	}
	if err := l.Keep(redact.New(), neverLate); err == nil || !strings.Contains(err.Error(), "keep the index of rules") {
		t.Errorf("%v", err)
	}
}

// TestSecretsAreNotCompiled checks that a file with a possible secret is parsed at every
// call.
func TestSecretsAreNotCompiled(t *testing.T) {
	s := newCompiling(t)
	s.user("rules/u.yaml", "rules: [{id: mine, tool: Bash, match: {command: mine}, effect: deny, message: \"password: Xk29vmQ81zzLw0\"}]\n")
	if got := s.says(); got != cardea.Deny || len(s.compiled()) != 0 {
		t.Errorf("%s, %v", got, s.compiled())
	}
}
