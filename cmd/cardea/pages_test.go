package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"cardea.dev/internal/cli"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/policy/rego"
	"cardea.dev/internal/hook"
)

// session runs a page of the docs: its blocks marked "console" in order, as a person with
// their own home folder and project.
type session struct {
	t          *testing.T
	home, dir  string
	lastEnding int
}

// TestComingFromIsTrue checks that the pages for users of other tools show the program's
// output. "$ cat FILE" writes the file, and a line "…" matches any lines.
func TestComingFromIsTrue(t *testing.T) {
	pages, err := filepath.Glob("../../docs/coming-from/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("there are no pages", err)
	}
	for _, page := range append(pages, "../../docs/auto-mode.md") {
		t.Run(filepath.Base(page), func(t *testing.T) {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			newSession(t).carriesOut(string(text))
		})
	}
}

func newSession(t *testing.T) *session {
	t.Helper()
	s := &session{t: t, home: t.TempDir()}
	s.dir = filepath.Join(s.home, "project")
	if err := os.MkdirAll(filepath.Join(s.dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	return s
}

// carriesOut runs the blocks of a page.
func (s *session) carriesOut(page string) {
	for _, b := range regexp.MustCompile("(?ms)^```console\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		for _, step := range strings.Split("\n"+b[1], "\n$ ")[1:] {
			command, shown, _ := strings.Cut(step, "\n")
			s.step(command, strings.TrimSuffix(shown, "\n"))
		}
	}
}

// step runs a command, and compares its output.
func (s *session) step(command, shown string) {
	words, stdin := s.words(command)
	switch {
	case words[0] == "cat":
		file := s.path(words[1])
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(shown+"\n"), 0o600); err != nil {
			s.t.Fatal(err)
		}
	case command == "echo $?":
		if want := strconv.Itoa(s.lastEnding); shown != want {
			s.t.Errorf("the exit code is %s, and shown is %q", want, shown)
		}
	case words[0] == "cardea":
		printed := strings.ReplaceAll(strings.TrimSpace(s.run(stdin, words[1:])), s.home, "/home/you")
		if !alike(strings.Split(printed, "\n"), strings.Split(shown, "\n")) {
			s.t.Errorf("$ %s prints\n%s\n\nand shown is\n%s", command, printed, shown)
		}
	default:
		s.t.Fatalf("the test does not know %q", command)
	}
}

// alike compares lines. A line "…" matches any lines.
func alike(printed, shown []string) bool {
	if len(shown) == 0 || len(printed) == 0 {
		return len(printed) == 0 && (len(shown) == 0 || len(shown) == 1 && shown[0] == "…")
	}
	if shown[0] == "…" {
		return alike(printed, shown[1:]) || alike(printed[1:], shown)
	}
	return printed[0] == shown[0] && alike(printed[1:], shown[1:])
}

// words returns the words of a command, and its standard input.
func (s *session) words(command string) (words []string, stdin string) {
	for _, m := range regexp.MustCompile(`'([^']*)'|(\S+)`).FindAllStringSubmatch(command, -1) {
		words = append(words, m[1]+m[2])
	}
	if n := len(words); n > 2 && words[n-2] == "<" {
		data, err := os.ReadFile(s.path(words[n-1]))
		if err != nil {
			s.t.Fatal(err)
		}
		return words[:n-2], strings.ReplaceAll(string(data), "/home/you", s.home)
	}
	return words, "abc234\n" // for a code
}

func (s *session) path(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(s.home, rest)
	}
	return filepath.Join(s.dir, name)
}

func (s *session) run(stdin string, args []string) string {
	env := func(name string) string { return map[string]string{"HOME": s.home, "USERPROFILE": s.home}[name] }
	var out bytes.Buffer
	p := cli.Process{
		Agent: func() error { return nil },
		Process: hook.Process{
			Engines: policy.Engines{Own: rego.Engine{}, Project: rego.Engine{}},
			Stdin:   strings.NewReader(stdin),
			Stdout:  &out,
			Stderr:  &out,
			Env:     env,
			Dir:     s.dir,
			Machine: project.ThisMachine(env),
			Now:     time.Now,
		},
		Person: func() error { return nil }, Code: func() string { return "abc234" }}
	p.Machine.Home = func() (string, error) { return s.home, nil }
	s.lastEnding = cli.Main(args, p)
	return out.String()
}
