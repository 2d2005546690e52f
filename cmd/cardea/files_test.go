package main

import (
	"archive/zip"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev/internal/testing/testrun"
)

// newListed returns a project with secrets, and lists of entries for Bash.
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
	for name, member := range map[string]string{"x.zip": ".claude/settings.json", "y.zip": "a.txt"} {
		var packed bytes.Buffer
		z := zip.NewWriter(&packed)
		if _, err := z.Create(member); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(w.app, name), packed.String())
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

// typical is the list of a developer, everything a list that allows all of Bash.
const (
	typical = "Bash(git status:*) | Bash(git diff:*) | Bash(git log:*) | Bash(git add:*) | Bash(git commit:*) | Bash(git show:*) | Bash(git tag:*) | Bash(git notes:*) | Bash(ls:*) | " +
		"Bash(cat:*) | Bash(grep:*) | Bash(find:*) | Bash(sed -n:*) | Bash(head:*) | Bash(wc:*) | Bash(jq:*) | Bash(node:*) | Bash(sort:*) | Bash(xxd:*) | Bash(echo:*) | Bash(xargs cat:*) | " +
		"Bash(pytest:*) | Bash(kubectl apply:*) | Bash(tee:*) | Bash(git hash-object:*)"
	everything = "Bash | Write | Edit"
)

// TestFilesOfWords checks which files the words of a line name, through other names,
// patterns and the output of other parts. A table has sections "= list of allows = list of
// denies". Its lines have the expectation, a tab and the command. Expectations are shut
// (asked about or denied), notallow, notshut and allow.
func TestFilesOfWords(t *testing.T) {
	w := (*wall)(nil)
	rows, err := testrun.ReadCases("../../testdata/walls/files.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if lists, ok := strings.CutPrefix(row.Text(), "= "); ok {
			allow, deny, _ := strings.Cut(lists, " = ")
			w = newListed(t, map[string]string{"typical": typical, "everything": everything}[allow], deny)
			w.git("init", "-q")
			w.git("add", "-A")
			w.git("commit", "-qm", "x")
			continue
		}
		want, line := row.Columns[0], strings.ReplaceAll(row.Text(), "{H}", w.home)
		args := []string{"try", "--json"}
		if len(row.Columns) == 3 {
			args = append(args, "--role", row.Columns[1])
		}
		got := w.here(append(args, "--", line))
		if !map[string]bool{"shut": shut(got), "notallow": got != "allow", "notshut": !shut(got), "allow": got == "allow"}[want] {
			t.Errorf("%s: %s, and not %s: %q", row.At(), got, want, line)
		}
	}
}

// TestRevisions checks git commands that replace work files by those of a revision, in a
// repository whose configuration names programs.
func TestRevisions(t *testing.T) {
	w := newListed(t, everything, "Bash(nothing)")
	w.git("init", "-q", "-b", "main")
	w.git("add", "-A")
	w.git("commit", "-qm", "x")
	w.git("remote", "add", "origin", "https://x.example/r")
	branch := func(name, file, text string) {
		w.git("checkout", "-q", "-b", name, "main")
		write(t, filepath.Join(w.app, file), text)
		w.git("add", "-A")
		w.git("commit", "-qm", name)
		w.git("checkout", "-q", "main")
	}
	branch("docs", "README.md", "more")
	branch("own", ".claude/settings.json", `{"disableAllHooks":true}`)
	branch("deep", "src/.claude/settings.local.json", "{}")
	w.git("update-ref", "refs/remotes/origin/docs", "docs")
	w.git("update-ref", "refs/remotes/origin/own", "own")
	write(t, filepath.Join(w.app, "README.md"), "stashed")
	w.git("stash", "-q", "-u")
	pwned := filepath.Join(w.home, "pwned")
	for _, name := range []string{
		"core.fsmonitor",
		"diff.external",
		"core.pager",
		"core.sshCommand",
		"filter.x.clean",
		"filter.x.smudge",
		"diff.x.textconv",
		"core.alternateRefsCommand",
		"core.editor",
		"alias.diff-tree",
	} {
		w.git("config", name, "touch "+pwned+"; false")
	}
	w.git("config", "core.hooksPath", ".hooks")
	write(t, filepath.Join(w.app, ".gitattributes"), "* filter=x diff=x\n")
	for line, want := range map[string]bool{
		"git checkout own": true, "git switch own": true, "git merge own": true, "git rebase own": true, "git cherry-pick own": true, "git reset --hard own": true, "git reset own": true,
		"git checkout deep": true, "git checkout own~0": true, "git cherry-pick main..own": true, "git -C src checkout own": true, "git checkout -b new own": true,
		"git worktree add ../w own": true, "git stash -u && git checkout own": true, "git merge -m docs own": true, "git pull origin own": true,
		"git checkout none": true, `git checkout "$x"`: true, "git pull ../x main": true, "git stash -u": true, "git stash push -u -- '*.json'": true,
		"git stash save -u '[.]claude/settings.json'": true, "git stash -u -- ':^x'": true, "git stash push -u -- ':!x'": true, "git stash push -- ':(top,glob)**/*.json'": true,
		"git checkout docs": false, "git switch docs": false, "git merge docs": false, "git rebase docs": false, "git cherry-pick docs": false, "git checkout -b new": false,
		"git switch -c new": false, "git worktree add ../w docs": false, "git pull origin docs": false, "git merge -m own docs": false, "git reset docs": false,
		"git stash": false, "git stash list": false, "git stash pop": false, "git stash push -u -- src": false, "git stash push -u -- ':!.claude' ':!.cardea'": false,
	} {
		got := w.here([]string{"try", "--json", "--", line})
		for range 20 { // git may be too slow on a busy machine
			if shut(got) && !want {
				got = w.here([]string{"try", "--json", "--", line})
			}
		}
		if shut(got) != want {
			t.Errorf("%s: %q", got, line)
		}
	}
	w.git("config", "remote.origin.url", "../x")
	if got := w.here([]string{"try", "--json", "--", "git pull origin docs"}); !shut(got) {
		t.Errorf("%s: pulls from another folder", got)
	}
	if _, err := os.Stat(pwned); err == nil {
		t.Error("git has started a program of the repository's configuration")
	}
}
