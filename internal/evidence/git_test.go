package evidence

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/bash"
)

func call(kind cardea.Kind, cwd, text string) *cardea.Event {
	a := bash.Analyse(text, bash.Env{Cwd: cwd, Home: "/home/x", IsDir: func(dir string) bool {
		info, err := os.Stat(dir)
		return err == nil && info.IsDir()
	}})
	return &cardea.Event{Kind: kind, Cwd: cwd, Call: &cardea.Call{Tool: "Bash", Known: true, Input: map[string]any{"command": text}, Parts: a.Parts, Opaque: a.Opaque}}
}

func publishes(p *cardea.Part) bool {
	return len(p.Command) > 1 && p.Command[0] == "git" && (p.Command[1] == "commit" || p.Command[1] == "push")
}

// Each repository, and each working tree, has evidence of its own.
func TestRepositories(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(names ...string) string { return filepath.Join(append([]string{top}, names...)...) }
	for _, dir := range []string{"a/.git", "a/src", "a/nested/.git", "a/tree", "a/sub", "b/.git", "b/src", "mono/.git", "mono/pkg"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for file, text := range map[string]string{"a/tree/.git": "gitdir: " + at("a") + "/.git/worktrees/tree\n", "a/sub/.git": "gitdir: ../.git/modules/sub\n"} {
		if err := os.WriteFile(at(file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		project, cwd, lines, commit string
		holds                       bool
		elsewhere                   string
	}{
		{"a", "a", "npm test", "git commit -m x", true, ""},
		{"a", "a", "npm test", "git -C src commit -m x", true, ""},
		{"a", "a", "npm test", "cd nested && git commit -m x", true, ""},
		{"a", "a", "npm test", "git -C sub push", true, ""},
		{"mono/pkg", "mono/pkg", "npm test", "cd .. && git commit -m x", true, ""},
		{"a", "a", "npm test", "git -C ../b commit -m x", false, "b"},
		{"a", "a", "npm test", "git -C ../b/src commit -C HEAD", false, "b"},
		{"a", "a", "npm test", "git --git-dir=../b/.git push", false, "b"},
		{"a", "a", "npm test", "git --git-dir ../b/.git --work-tree ../b commit -am x", false, "b"},
		{"a", "a", "npm test", "GIT_WORK_TREE=../b git commit -am x", false, "b"},
		{"a", "a", "npm test", "git commit -m x && git -C ../b push", false, "b"},
		{"a", "a", "npm test", "cd tree && git commit -m x", false, "a/tree"},
		{"a", "a", "npm test\ncd ../b && npm test", "git -C ../b commit -m x", true, "b"},
		{"a", "a", "cd tree && npm test", "git -C tree commit -m x", true, "a/tree"},
		{"a", "a", "cd ../b && npm test", "git commit -m x", false, ""},
		{"a", "a", "cd ../b/src && npm test", "git -C ../b commit -m x", false, "b"},
		{"a", "a", "cd ../b && npm test\necho x > ../b/a.js", "git -C ../b commit -m x", false, "b"},
		{"a", "a", "cd ../b && npm test\ngit -C ../b stash pop", "git -C ../b commit -m x", false, "b"},
		{"a", "a", "cd ../b && npm test", "echo x > ../b/a.js; git -C ../b commit -am x", false, "b"},
		{"a", "b", "npm test", "git commit -m x", true, "b"},
	} {
		s := New(t.TempDir(), at(c.project), at(c.project))
		for line := range strings.SplitSeq(c.lines, "\n") {
			for _, kind := range []cardea.Kind{"PreToolUse", "PostToolUse"} {
				if err := s.Note(call(kind, at(c.cwd), line), []string{"npm test"}); err != nil {
					t.Fatal(err)
				}
			}
		}
		held := s.Holds(call("PreToolUse", at(c.cwd), c.commit), []string{"npm test"}, publishes)
		elsewhere := strings.TrimPrefix(strings.Join(held.Elsewhere, " "), top+"/")
		if (len(held.Passed) == 1) != c.holds || elsewhere != c.elsewhere || held.Hidden {
			t.Errorf("after %q, %q: %+v", c.lines, c.commit, held)
		}
	}
	for _, line := range []string{`git -C "$X" push`, `cd "$X" && git push`, `git --git-dir="$X" push`} {
		if held := New(t.TempDir(), at("a"), "").Holds(call("PreToolUse", at("a"), line), nil, publishes); !held.Hidden {
			t.Errorf("%q hides nothing", line)
		}
	}
}

// What git does with its own files keeps evidence, unless the line makes it start
// a program.
func TestGitKeepsTheTree(t *testing.T) {
	for line, want := range map[string]bool{
		"git add -A": true, "git commit -m x": true, "git -c user.name=x commit -m x": true, "git -c color.ui=never diff": true, "git commit -c HEAD": true,
		"git -c core.pager=cat log": true, "git -C commit commit -m x": true, "GIT_AUTHOR_DATE=now git commit -m x": true, "GIT_EDITOR=true git commit --amend": true,
		"git push -u origin main": true, "git diff --exit-code": true, "git push --exec-x": true, "git push --e ./x": false,
		"git tag v1": true, "git checkout -qb new": true, "git switch -c new": true, "git -c user.name=x checkout -b new": true,
		"git checkout main": false, "git checkout -b new origin/main": false, "git checkout -b new -f": false, "git checkout -b new --detach": false, "git switch main": false, "git checkout .": false,
		"git -c core.editor=./e checkout -b new": false, "git -c user.name=x checkout x": false,
		"git stash": false, "git merge x": false, "git -c diff.external=./e diff": false, "git -c core.pager=./e log": false, "git --config-env=core.pager=X log": false,
		"git --exec-path=. status": false, "GIT_EXTERNAL_DIFF=./e git diff": false, "GIT_EDITOR=./e git commit": false, "git fetch --upload-p=./e .": false,
		"git push --receive-pack ./e .": false, "git push --exec=./e .": false, "git -c \"$X\" diff": false, "git --git-dir=x diff": false,
	} {
		parts := call("PreToolUse", "/p", line).Call.Parts
		if got := keepsTree(&parts[len(parts)-1]); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
