package candidate

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/memory/lesson"
)

var monday = time.Date(2026, 11, 16, 10, 0, 0, 0, time.UTC)

func draft(subject, digest string) []lesson.Draft {
	r := redact.New()
	return []lesson.Draft{{Effect: cardea.Allow, Tool: r.Text("Bash"), Subject: r.Text(subject), Dir: r.Text("."), Files: map[string]string{"a.sh": digest}}}
}

func TestAnswers(t *testing.T) {
	s := New(t.TempDir(), "/p")
	show := func(call, subject, digest string) {
		t.Helper()
		if err := s.Showing(call, draft(subject, digest), true); err != nil {
			t.Fatal(err)
		}
	}
	ran := func(call string, when time.Time) *Candidate {
		t.Helper()
		c, err := s.Ran(call, when)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := ran("c1", monday); c != nil {
		t.Errorf("nothing was shown: %+v", c)
	}
	show("c1", "bash a.sh", "1")
	first := ran("c1", monday)
	if first == nil || Days(first.Answers) != 1 || first.Subjects() != "Bash bash a.sh" || !first.ReadsOnly {
		t.Fatalf("%+v", first)
	}
	if c := ran("c1", monday); c != nil {
		t.Error("one answer counts twice")
	}
	show("c2", "bash a.sh", "1")
	if c := ran("c2", monday.Add(time.Hour)); len(c.Answers) != 2 || Days(c.Answers) != 1 || c.ID != first.ID {
		t.Errorf("the same day: %+v", c)
	}
	show("c3", "bash a.sh", "1")
	if c := ran("c3", monday.AddDate(0, 0, 1)); Days(c.Answers) != 2 {
		t.Errorf("another day: %+v", c)
	}
	// The script is another one now: earlier answers about it do not apply.
	show("c4", "bash a.sh", "2")
	if c := ran("c4", monday.AddDate(0, 0, 2)); Days(c.Answers) != 1 || len(c.Answers) != 1 {
		t.Errorf("other content: %+v", c)
	}
	show("c5", "bash b.sh", "1")
	other := ran("c5", monday)
	all, err := s.All()
	if err != nil || len(all) != 2 || all[0].ID != other.ID {
		t.Fatalf("%+v, %v", all, err)
	}
	lessons := all[0].Lessons(redact.New().Text("liam"), redact.Text{}, monday)
	if len(lessons) != 1 || lessons[0].Effect != cardea.Allow || lessons[0].Subject.String() != "bash b.sh" || lessons[0].Files["a.sh"] != "1" || lessons[0].By != lesson.ByPerson {
		t.Errorf("%+v", lessons)
	}
	if err := s.Remove(first.ID); err != nil {
		t.Fatal(err)
	}
	if all, err = s.All(); err != nil || len(all) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	if all, err := New(s.folder, "/q").All(); err != nil || len(all) > 0 {
		t.Errorf("another project: %+v, %v", all, err)
	}
}

// A file written without the key is not trusted, and concurrent writers lose nothing.
func TestForgedAndMany(t *testing.T) {
	s := New(t.TempDir(), "/p")
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			call := strings.Repeat("c", i+1)
			for {
				if err := s.Showing(call, draft("make "+call, ""), false); err == nil {
					break
				}
			}
			for {
				if _, err := s.Ran(call, monday); err == nil {
					return
				}
			}
		})
	}
	all.Wait()
	if got, err := s.All(); err != nil || len(got) != 16 {
		t.Fatalf("%d, %v", len(got), err)
	}
	files, err := filepath.Glob(filepath.Join(s.folder, "candidates", "*.signed"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], []byte(strings.Replace(string(text), "make cc", "rm -rf ", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := s.All(); err == nil || len(got) > 0 {
		t.Errorf("forged: %+v, %v", got, err)
	}
}
