package call_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/disk"
	"cardea.dev/internal/harness/call"
)

// TestOpens compares what parts open with what real programs open: every file has an x,
// and the programs list the files in which they find one.
func TestOpens(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run := func(line string) []string {
		cmd := exec.Command("bash", "-c", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.Output()
		if exit, is := err.(*exec.ExitError); err != nil && (!is || exit.ExitCode() > 1 && len(out) == 0) {
			t.Fatalf("%s: %v", line, err)
		}
		var files []string
		for name := range strings.Lines(string(out)) {
			name = strings.TrimSpace(name)
			if i := strings.Index(name, ":"); i > 0 && strings.Contains(line, "HEAD") {
				name = name[i+1:]
			}
			if name != "" {
				files = append(files, filepath.Join(dir, name))
			}
		}
		slices.Sort(files)
		return slices.Compact(files)
	}
	for name, text := range map[string]string{
		"a.md": "x", ".env": "x", "src/a.go": "x", "src/.env": "x", "src/deep/k.pem": "x", "build/out.js": "x", "node_modules/m/index.js": "x", "docs/data.json": "x",
		"docs/build":     "x",
		"vendor/v.go":    "x",
		"log/a.log":      "x",
		"log/keep.log":   "x",
		".gitignore":     "x\n.env\n/build\nnode_modules/\n*.log\n!keep.log\nvendor/*.tmp\n",
		"src/.gitignore": "x\n!.env\n",
		".hidden/h":      "x",
		"vendor/x.tmp":   "x",
		".ignore":        "x\n!/build\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run("git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -q -m x && git rm -q --cached vendor/v.go && echo xx > src/a.go && git add src/a.go && echo xxx > a.md")
	// The line that is judged, and the one that lists what it opens.
	for _, c := range []struct{ line, list string }{
		{"grep -r x .", "grep -rl x . --exclude-dir=.git"},
		{"grep -r x . --include='*.go'", "grep -rl x . --include='*.go' --exclude-dir=.git"},
		{"grep -r x . --exclude=.env --exclude-dir=node_modules", ""},
		{"grep -r x src --exclude=*.pem", ""},
		{"grep -r x . --exclude='*.go' --include='a.*'", ""},
		{"grep -r x . --include='a.*' --exclude='*.go'", ""},
		{"grep -r x . --include='*.md' --include='*.json'", ""},
		{"grep -r x . --exclude=docs/data.json", ""},
		{"rg x", "rg -l x"},
		{"rg x src", "rg -l x src"},
		{"rg --hidden x", "rg -l --hidden x -g '!.git'"},
		{"rg -uu x", "rg -l -uu x -g '!.git/**'"},
		{"rg x build", "rg -l x build"},
		{"rg x node_modules", "rg -l x node_modules"},
		{"rg x -g '*.go'", "rg -l x -g '*.go'"},
		{"rg x -g '!*.go'", "rg -l x -g '!*.go'"},
		{"rg x -g '*.{go,md}'", "rg -l x -g '*.{go,md}'"},
		{"rg x -g '!*.go' -g 'a.*'", "rg -l x -g '!*.go' -g 'a.*'"},
		{"rg x -g 'src/**'", "rg -l x -g 'src/**'"},
		{"rg x log", "rg -l x log"},
		{"find . -type f -exec cat {} +", "find . -type f -not -path './.git/*'"},
		{"find . -path ./src -prune -o -type f -print | xargs cat", "find . -path ./src -prune -o -type f -print | grep -v /.git/"},
		{"find . -maxdepth 1 -type f | xargs grep x", "find . -maxdepth 1 -type f"},
		{"cp -r src /tmp/nowhere", "find src -type f"},
		{"git grep x", "git grep -l x"},
		{"git grep x -- src docs", "git grep -l x -- src docs"},
		{"git grep x src", "git grep -l x src"},
		{"git grep x HEAD", "git grep -l x HEAD"},
		{"git show", "git show --format= --name-only"},
		{"git show HEAD -- src", "git show --format= --name-only HEAD -- src"},
		{"git log -p", "git log --format= --name-only"},
		{"git log -p -1 -- '*.go'", "git log --format= --name-only -1 -- '*.go'"},
		{"git diff", "git diff --name-only"},
		{"git diff --cached", "git diff --cached --name-only"},
		{"git diff HEAD", "git diff HEAD --name-only"},
		{"git diff HEAD -- docs", "git diff HEAD --name-only -- docs"},
		{"git archive HEAD", "git ls-tree -r --name-only HEAD"},
		{"git archive HEAD src docs", "git ls-tree -r --name-only HEAD src docs"},
		{"git grep x HEAD -- src '*.md'", "git grep -l x HEAD -- src '*.md'"},
		{"git log -p -1", "git log --format= --name-only -1"},
		{"git log -n1 -p --oneline", "git log --format= --name-only -1"},
		{"git show :/x -- src", "git show --format= --name-only :/x -- src"},
		{"git diff-tree -p --root HEAD", "git diff-tree -r --root --no-commit-id --name-only HEAD"},
		{"git diff-index -p HEAD -- docs", "git diff-index --name-only HEAD -- docs"},
		{"git diff-index -p --cached HEAD", "git diff-index --cached --name-only HEAD"},
		{"git diff-files -p", "git diff-files --name-only"},
		{"git add -p", "git diff --name-only HEAD"},
		{"git worktree add ../w", "git ls-tree -r --name-only HEAD"},
		{"git checkout-index -a --prefix=x/", "git ls-files"},
		{"git add -u && git diff --cached", "git diff --name-only HEAD && git ls-files -o --exclude-standard"},
	} {
		list := c.list
		if list == "" {
			list = strings.Replace(c.line, "grep -r", "grep -rl", 1) + " --exclude-dir=.git"
		}
		ev := &cardea.Event{Kind: cardea.PreToolUse, Harness: "claude-code", Cwd: dir, Project: dir, Call: &cardea.Call{Tool: "Bash", Known: true, Input: map[string]any{"command": c.line}}}
		system := disk.System(dir)
		system.Roots = []string{dir}
		ev = call.Analyse(ev, system)
		var files []string
		for i := range ev.Call.Parts {
			if o := ev.Call.Opens(i); o != nil {
				if files = append(files, o.Files...); o.Unseen != "" {
					t.Errorf("%s: %s", c.line, o.Unseen)
				}
			}
		}
		slices.Sort(files)
		files = slices.DeleteFunc(slices.Compact(files), func(f string) bool { return strings.HasSuffix(f, "/.git/config") })
		real := run(list)
		if len(real) == 0 && !strings.Contains(c.line, "-- docs") {
			t.Errorf("%s opens nothing", list)
		}
		if !slices.Equal(files, real) {
			t.Errorf("%s opens %q, not %q", c.line, real, files)
		}
	}
}
