package provider

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"cardea.dev/internal/ask/judge"
	"cardea.dev/internal/ask/judge/fakeprovider"
)

// program writes a script that notes that it ran, and does what body says.
func program(t *testing.T, dir, name, body string) (path string, runs func() int) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are for sh")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path, log := filepath.Join(dir, name), filepath.Join(t.TempDir(), "ran")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho ran >>"+log+"\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path, func() int {
		data, _ := os.ReadFile(log)
		return strings.Count(string(data), "ran")
	}
}

func TestKeyCommand(t *testing.T) {
	s := fakeprovider.Start(t)
	m := machine(t)
	m.Environ = []string{"PATH=/usr/bin:/bin"}
	path, runs := program(t, t.TempDir(), "vault", `test "$1 $2" = "read my key" && echo `+fakeprovider.Key)
	p := s.Provider(judge.OpenAI)
	p.KeyCommand = []string{path, "read", "my key"}
	c := New(judge.Config{Chain: []judge.Provider{p}}, m)
	for range 2 {
		if _, err := ask(t, c); err != nil {
			t.Fatal(err)
		}
	}
	if runs() != 1 {
		t.Errorf("it ran %d times in one process", runs())
	}
	p.KeyCommand, p.KeyShell = nil, path+` read "my key" | tr -d x`
	if _, err := ask(t, New(judge.Config{Chain: []judge.Provider{p}}, m)); err != nil {
		t.Error(err)
	}
	// The environment comes first, and then no command is run.
	before := runs()
	m.Environ = environ()
	if _, err := ask(t, New(judge.Config{Chain: []judge.Provider{p}}, m)); err != nil || runs() != before {
		t.Errorf("%v, %d runs", err, runs()-before)
	}
}

// The output of a command for a key is never reported.
func TestKeyCommandFails(t *testing.T) {
	const secret = "s3cr3t-in-the-output"
	for name, body := range map[string]string{
		"ended with exit status 3": "echo " + secret + "; echo " + secret + " >&2; exit 3",
		"it is empty":              "true",
		"is no key":                "echo " + secret + " and more",
		"it prints more than":      "yes " + secret,
	} {
		path, _ := program(t, t.TempDir(), "vault", body)
		s := fakeprovider.Start(t)
		m := machine(t)
		m.Environ = []string{"PATH=/usr/bin:/bin"}
		p := s.Provider(judge.OpenAI)
		p.KeyCommand = []string{path}
		_, err := ask(t, New(judge.Config{Chain: []judge.Provider{p}}, m))
		if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
		if asked, _ := s.Asked(); len(asked) != 0 {
			t.Errorf("%s: it was asked", name)
		}
	}
}

// A command that hangs is ended at the question's deadline, and next time it is left alone.
func TestKeyCommandHangs(t *testing.T) {
	path, runs := program(t, t.TempDir(), "vault", "sleep 1000")
	s := fakeprovider.Start(t)
	m := machine(t)
	m.Environ = []string{"PATH=/usr/bin:/bin"}
	p := s.Provider(judge.OpenAI)
	p.KeyCommand = []string{path}
	k := newKeys(m)
	begin := time.Now()
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := k.get(short, p); err == nil || time.Since(begin) > guard {
		t.Errorf("%v after %s", err, time.Since(begin))
	}
	failing, failed := program(t, t.TempDir(), "vault", "exit 1")
	p.KeyCommand = []string{failing}
	for range 5 {
		_, _ = ask(t, New(judge.Config{Chain: []judge.Provider{p}}, m))
	}
	if failed() != 3 || runs() != 1 {
		t.Errorf("it ran %d times, and the one that hangs %d times", failed(), runs())
	}
}

// A program of the project is not run in the place of the person's.
func TestKeyCommandOfTheProject(t *testing.T) {
	project := t.TempDir()
	_, planted := program(t, filepath.Join(project, "bin"), "vault", "echo planted")
	mine := t.TempDir()
	_, runs := program(t, mine, "vault", "command -v helper >/dev/null || echo "+fakeprovider.Key)
	program(t, filepath.Join(project, "bin"), "helper", "true")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(project, link); err != nil {
		t.Fatal(err)
	}
	m := machine(t)
	m.Project = project
	m.Environ = []string{"PATH=" + strings.Join([]string{"bin", "", ".", filepath.Join(project, "bin"), filepath.Join(link, "bin"), mine, "/usr/bin", "/bin"}, ":")}
	m.Dir = project
	p := judge.Provider{Type: judge.OpenAI, KeyCommand: []string{"vault"}}
	if key, err := newKeys(m).get(t.Context(), p); err != nil || key != fakeprovider.Key || planted() != 0 || runs() != 1 {
		t.Errorf("got %q, %v", key, err)
	}
	for _, name := range []string{"bin/vault", "./vault", "../x", "nowhere"} {
		p.KeyCommand = []string{name}
		if key, err := newKeys(m).get(t.Context(), p); err == nil || planted() != 0 {
			t.Errorf("%s: %q", name, key)
		}
	}
}
