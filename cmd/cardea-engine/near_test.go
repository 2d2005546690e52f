package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev/internal/memory/embedding"
)

// lesson returns a line of a file of lessons.
func lesson(effect, role, subject string) string {
	return fmt.Sprintf(`{"v":1,"effect":%q,"tool":"Bash","subject":%q,"role":%q,"dir":".","by":"person","who":"liam","when":"2026-11-20T10:00:00Z"}`, effect, subject, role)
}

// learning returns the programs without policies, which also start cardea-engine.
func learning(t *testing.T) *fixture {
	t.Helper()
	s := install(t)
	if err := os.RemoveAll(filepath.Join(s.user(), "policies")); err != nil {
		t.Fatal(err)
	}
	return s
}

// learn writes lessons of a scope's folder: "ask * npm run dev".
func (s *fixture) learn(folder string, list ...string) {
	files := map[string]string{}
	for _, l := range list {
		f := strings.SplitN(l, " ", 3)
		files[f[0]] += lesson(f[0], f[1], f[2]) + "\n"
	}
	for effect, text := range files {
		s.write(filepath.Join(folder, "lessons", effect+".jsonl"), text)
	}
}

func (s *fixture) user() string { return filepath.Join(s.home, ".config/cardea") }

// tried is the output of try about a command.
type tried struct {
	effect, text string
}

func (s *fixture) try(role, command string) tried {
	s.t.Helper()
	args := []string{"try", "-v", "--cwd", s.work}
	if role != "" {
		args = append(args, "--role", role)
	}
	text := s.run("", append(args, command)...)
	answer := s.run("", append(args, "--json", command)...)
	_, answer, _ = strings.Cut(answer, `"effect":"`)
	effect, _, _ := strings.Cut(answer, `"`)
	return tried{effect, text}
}

// near returns the text of the decider near: "like `npm run dev`, …".
func (t tried) near() string {
	var out []string
	for line := range strings.Lines(t.text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "like `") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "; ")
}

// zero replaces the table in the installed cardea-engine by one whose rows are zero.
func (s *fixture) zero() {
	s.t.Helper()
	path := s.exe("cardea-engine")
	program, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	zeroed, err := embedding.Zeroed(embedding.Data())
	if err != nil {
		s.t.Fatal(err)
	}
	at := bytes.Index(program, []byte(embedding.Data()))
	if at < 0 {
		s.t.Fatal("the table is not in cardea-engine")
	}
	copy(program[at:], zeroed)
	if err := os.Remove(path); err != nil { // other tests share the file
		s.t.Fatal(err)
	}
	s.write(path, string(program))
}

// The embedding alone changes these answers: with a table that is zero, and with
// near.embedding: 0, each change is gone.
func TestNearByMeaning(t *testing.T) {
	for _, tt := range []struct {
		name, role, command string
		user, project       []string
		effect, says        string
	}{
		{name: "an ask propagates", user: []string{"ask * npm run dev"}, command: "pnpm dev", effect: "ask", says: "like `npm run dev`"},
		{name: "a deny defers", user: []string{"deny * npm run dev"}, command: "pnpm dev", effect: "defer", says: "like `npm run dev`"},
		{name: "a lesson of the same shape allows", user: []string{"allow * git add src/app.ts"}, command: "git add src/components/deep/other.ts", effect: "allow", says: "like `git add src/app.ts`"},
		{name: "another shape is a hint", user: []string{"allow * npm test"}, command: "yarn test", effect: "abstain", says: "like `npm test`, allowed by liam on 2026-11-20; another shape"},
		{name: "an ask of one scope before an allow of another", user: []string{"allow * git add src/app.ts"}, project: []string{"ask * git add src/x/y.ts"},
			command: "git add src/components/deep/other.ts", effect: "ask", says: "like `git add src/x/y.ts`"},
		{name: "lessons of a role", role: "maintainer", user: []string{"allow * git add src/app.ts", "ask maintainer git add src/x/y.ts"},
			command: "git add src/components/deep/other.ts", effect: "ask", says: "like `git add src/x/y.ts`"},
		{name: "lessons of another role", role: "", user: []string{"allow * git add src/app.ts", "ask maintainer git add src/x/y.ts"},
			command: "git add src/components/deep/other.ts", effect: "allow", says: "like `git add src/app.ts`"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := learning(t)
			s.write(filepath.Join(s.work, "src/app.ts"), "")
			s.learn(s.user(), tt.user...)
			s.learn(filepath.Join(s.work, ".cardea"), tt.project...)
			got := s.try(tt.role, tt.command)
			if got.effect != tt.effect || !strings.Contains(got.near(), tt.says) {
				t.Errorf("%s, %q; want %s, %q", got.effect, got.near(), tt.effect, tt.says)
			}
			good, err := os.ReadFile(s.exe("cardea-engine"))
			if err != nil {
				t.Fatal(err)
			}
			s.zero()
			if got := s.try(tt.role, tt.command); got.effect != "abstain" || got.near() != "" {
				t.Errorf("with a table that is zero: %s, %q", got.effect, got.near())
			}
			if err := os.Remove(s.exe("cardea-engine")); err != nil { // it may still run
				t.Fatal(err)
			}
			s.write(s.exe("cardea-engine"), string(good))
			s.write(filepath.Join(s.user(), "cardea.yaml"), "version: 1\nnear: {embedding: 0}\n")
			if got := s.try(tt.role, tt.command); got.effect != "abstain" || got.near() != "" {
				t.Errorf("switched off: %s, %.300s", got.effect, got.text)
			}
		})
	}
}

// Similarity of meaning allows nothing.
func TestNearByMeaningNeverAllowsAnotherShape(t *testing.T) {
	s := learning(t)
	s.learn(s.user(), "allow * npm test", "allow * git push origin feature/a", "allow * terraform plan", "allow * docker compose up -d", "allow * cat README.md", "allow * rm -r dist")
	for _, command := range []string{
		"yarn test",
		"npm test > /etc/passwd",
		"git push origin feature/b",
		"git push -f origin feature/a",
		"tofu plan",
		"docker-compose up -d --build",
		"rm -r build",
		"rm -rf dist",
		"pnpm test; rm -rf ~",
	} {
		if got := s.try("", command); got.effect == "allow" {
			t.Errorf("%s is allowed: %s", command, got.near())
		}
	}
}

// Among many lessons the first call finds the one that is near.
func TestNearByMeaningAmongManyLessons(t *testing.T) {
	s := learning(t)
	list := []string{"ask * npm run dev"}
	for i := range 2000 {
		list = append(list, fmt.Sprintf("ask * ffmpeg -i clip%c%c%c.mp4 song.mp3", 'a'+i%26, 'a'+i/26%26, 'a'+i/676))
	}
	s.learn(s.user(), list...)
	if got := s.try("", "pnpm dev"); got.effect != "ask" {
		t.Errorf("%s, %s", got.effect, got.text)
	}
}
