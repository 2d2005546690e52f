package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev/internal/testrun"
)

// newListed is a project with secrets in it, and a list of entries for Bash.
func newListed(t *testing.T, allow, deny string) *wall {
	t.Helper()
	w := newWall(t, "")
	if err := os.RemoveAll(filepath.Join(w.app, ".git")); err != nil {
		t.Fatal(err)
	}
	quoted := func(list string) string { return `"` + strings.ReplaceAll(list, " | ", `","`) + `"` }
	for path, text := range map[string]string{
		".claude/settings.json": `{"permissions":{"allow":[` + quoted(allow) + `],"deny":[` + quoted(deny) + `]}}`, "app/.claude/settings.json": "{}\n",
		"app/.env": "SECRET=hunter2\n", "app/.env1": "A=b\n", "app/.gitignore": ".env\n", "app/data.txt": "data\n", "app/data.json": "{}\n", "app/e/one": "one\n",
		"app/src/a.go": "package a\n", "app/tests/a_test.go": "package a\n", "app/e2/.claude/settings.json": "{}\n", ".aws/credentials": "key\n",
	} {
		write(t, filepath.Join(w.home, path), text)
	}
	return w
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// git runs git in the project of a wall.
func (w *wall) git(args ...string) {
	w.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.email=a@b", "-c", "user.name=n", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir, cmd.Env = w.app, []string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH")}
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("git %q: %v: %s", args, err, bytes.TrimSpace(out))
	}
}

// typical is the list of a developer, everything one that allows all of Bash.
const (
	typical = "Bash(git status:*) | Bash(git diff:*) | Bash(git log:*) | Bash(git add:*) | Bash(git commit:*) | Bash(git show:*) | Bash(git tag:*) | Bash(git notes:*) | Bash(ls:*) | " +
		"Bash(cat:*) | Bash(grep:*) | Bash(find:*) | Bash(sed -n:*) | Bash(head:*) | Bash(wc:*) | Bash(jq:*) | Bash(node:*) | Bash(sort:*) | Bash(xxd:*) | Bash(echo:*) | Bash(xargs cat:*) | " +
		"Bash(pytest:*) | Bash(kubectl apply:*) | Bash(tee:*) | Bash(git hash-object:*)"
	everything = "Bash | Write | Edit"
)

// TestFilesOfWords checks which files the words of a line name, by way of other names, of
// patterns and of what other parts print. A table has sections "= list of allows = list of
// denies", and lines of what is wanted, a tab and the command: shut (asked about or
// denied), notallow, notshut, allow.
func TestFilesOfWords(t *testing.T) {
	w := (*wall)(nil)
	for _, row := range testrun.Lines(t, "../../testdata/walls/files.txt") {
		if lists, ok := strings.CutPrefix(row, "= "); ok {
			allow, deny, _ := strings.Cut(lists, " = ")
			w = newListed(t, map[string]string{"typical": typical, "everything": everything}[allow], deny)
			w.git("init", "-q")
			w.git("add", "-A")
			w.git("commit", "-qm", "x")
			continue
		}
		want, line, _ := strings.Cut(row, "\t")
		line = strings.NewReplacer("⏎", "\n", "{H}", w.home).Replace(line)
		args := []string{"try", "--json"}
		if role, rest, ok := strings.Cut(line, "\t"); ok {
			args, line = append(args, "--role", role), rest
		}
		got := w.here(append(args, "--", line))
		if !map[string]bool{"shut": shut(got), "notallow": got != "allow", "notshut": !shut(got), "allow": got == "allow"}[want] {
			t.Errorf("%s, and not %s: %q", got, want, line)
		}
	}
}
