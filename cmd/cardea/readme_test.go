package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cardea.dev/internal/cli"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/project"
)

// The session that the README shows is what the program prints.
func TestReadmeIsTrue(t *testing.T) {
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(data)
	home := t.TempDir()
	dir := filepath.Join(home, "project")
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	run := func(stdin string, args ...string) string {
		env := func(name string) string { return map[string]string{"HOME": home}[name] }
		var out, errs bytes.Buffer
		p := cli.Process{Agent: func() error { return nil }, Process: hook.Process{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs, Env: env, Dir: dir, Machine: project.ThisMachine(env), Now: time.Now}}
		if code := cli.Main(args, p); code != 0 || errs.Len() > 0 {
			t.Fatalf("%v exits %d: %s", args, code, errs.String())
		}
		return strings.ReplaceAll(out.String(), home, "/home/you")
	}
	try := run("", "try", "git add . && git push --force")
	if !strings.Contains(readme, try) {
		t.Errorf("the README does not show what try prints; it should be\n%s", try)
	}
	_, after, found := strings.Cut(readme, "$ cat call.json\n")
	call, _, _ := strings.Cut(after, "\n")
	if !found {
		t.Fatal("the README shows no call")
	}
	if answer := run(call, "check", "--harness", "claude-code"); !strings.Contains(readme, "< call.json\n"+answer) {
		t.Errorf("the README does not show what check prints; it should be\n%s", answer)
	}
}
