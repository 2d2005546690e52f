package lesson

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/redact"
)

// git runs a command of git in a project.
func git(t *testing.T, p ScopeFolder, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", filepath.Dir(p.Dir), "-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// Two branches that both change the lessons merge without a conflict. The result has all lessons of
// both, without those that either removed.
func TestMerge(t *testing.T) {
	remove := func(subject string) func(t *testing.T, p ScopeFolder) {
		return func(t *testing.T, p ScopeFolder) {
			var ids []ID
			for _, f := range Open(p).Lookup(subject) {
				ids = append(ids, f.ID)
			}
			if n, err := writer(t, p).Remove(ids, ByPerson, redact.New().Text("mia"), when); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
	}
	learn := func(effect cardea.Effect, subjects ...string) func(t *testing.T, p ScopeFolder) {
		return func(t *testing.T, p ScopeFolder) {
			for _, s := range subjects {
				teach(t, p, draft(effect, s))
			}
		}
	}
	both := func(of ...func(t *testing.T, p ScopeFolder)) func(t *testing.T, p ScopeFolder) {
		return func(t *testing.T, p ScopeFolder) {
			for _, f := range of {
				f(t, p)
			}
		}
	}
	for name, tt := range map[string]struct {
		ours, theirs func(t *testing.T, p ScopeFolder)
		want, gone   []string
	}{
		"both learn":                     {learn(cardea.Allow, "n1", "n3"), learn(cardea.Allow, "n2", "n4"), []string{"m", "n", "n1", "n2", "n3", "n4", "o"}, nil},
		"both learn the same":            {learn(cardea.Allow, "n1"), learn(cardea.Allow, "n1"), []string{"m", "n", "n1", "o"}, nil},
		"both learn at the end":          {learn(cardea.Allow, "x"), learn(cardea.Allow, "y"), []string{"m", "n", "o", "x", "y"}, nil},
		"both remove the same":           {remove("n"), remove("n"), []string{"m", "o"}, []string{"n"}},
		"both remove neighbours":         {remove("n"), remove("o"), []string{"m"}, []string{"n", "o"}},
		"one learns, the other removes":  {learn(cardea.Allow, "n1"), remove("n"), []string{"m", "n1", "o"}, []string{"n"}},
		"one learns beside what is gone": {both(learn(cardea.Allow, "o1"), remove("m")), both(remove("o"), learn(cardea.Allow, "n9")), []string{"n", "n9", "o1"}, []string{"m", "o"}},
		"one begins a file":              {learn(cardea.Deny, "d"), learn(cardea.Deny, "e"), []string{"m", "n", "o", "d", "e"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := here(t)
			p.Beside = map[string]string{".gitattributes": "lessons/*.jsonl merge=union\n"}
			learn(cardea.Allow, "m", "n", "o")(t, p)
			git(t, p, "init", "-q", "-b", "main")
			git(t, p, "add", "-A")
			git(t, p, "commit", "-qm", "begin")
			git(t, p, "checkout", "-qb", "theirs")
			tt.theirs(t, p)
			git(t, p, "add", "-A")
			git(t, p, "commit", "-qm", "theirs")
			git(t, p, "checkout", "-q", "main")
			tt.ours(t, p)
			git(t, p, "add", "-A")
			git(t, p, "commit", "-qm", "ours")
			git(t, p, "merge", "-q", "theirs", "-m", "merge")
			look := func(when string) {
				s := Open(p)
				defer s.Close()
				for _, subject := range tt.want {
					if got := s.Lookup(subject); len(got) != 1 {
						t.Errorf("%s: %s has %d lessons", when, subject, len(got))
					}
				}
				for _, subject := range tt.gone {
					if got := s.Lookup(subject); len(got) != 0 {
						t.Errorf("%s: %s is back", when, subject)
					}
				}
				if wrong := s.Issues(); len(wrong) > 0 {
					t.Errorf("%s: %v", when, wrong)
				}
			}
			look("merged")
			if _, err := writer(t, p).Build(0); err != nil {
				t.Fatal(err)
			}
			look("sorted")
			text := contents(t, file(p, "allow.jsonl"))
			if lines := strings.Split(strings.TrimSpace(text), "\n"); strings.Contains(text, "<<<<") || !sortedUnique(lines) {
				t.Errorf("the file is not in order:\n%s", text)
			}
		})
	}
}

func sortedUnique(lines []string) bool {
	for i := 1; i < len(lines); i++ {
		if lines[i-1] >= lines[i] {
			return false
		}
	}
	return true
}

// Without the attribute, git leaves its conflict marks. They are reported with their lines, and all
// other lines apply.
func TestMarksOfAConflict(t *testing.T) {
	p := here(t)
	teach(t, p, draft(cardea.Deny, "a"), draft(cardea.Deny, "c"))
	deny := file(p, "deny.jsonl")
	lines := strings.SplitAfter(contents(t, deny), "\n")
	put(t, deny, fmt.Sprintf("<<<<<<< HEAD\n%s=======\n%s>>>>>>> theirs\n", lines[0], lines[1]))
	s := Open(p)
	if got := s.Issues(); len(got) != 3 || got[1].Diagnostic.Line != 3 || got[0].Failure != cardea.BrokenFile {
		t.Errorf("%v", got)
	}
	expect(t, p, map[string]string{"a": "deny own 2", "c": "deny own 4"})
	teach(t, p, draft(cardea.Deny, "d"))
	expect(t, p, map[string]string{"a": "deny own 2", "c": "deny own 4", "d": "deny own 6"})
}
