package call_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/bash"
	"cardea.dev/internal/command/disk"
	"cardea.dev/internal/command/knowledge"
)

// searches are lines with operands that a search finds; wc is a program that reads them. If the
// analysis reports complete knowledge, every operand that real bash passes to wc must be in the
// reported folder.
var searches = []string{
	`find . | xargs wc`,
	`find src -name '*.go' | xargs wc -l`,
	`find src -type f -exec wc {} \;`,
	`find src -exec wc {} +`,
	`find . -name '*.go' -not -path './x/*' | xargs wc`,
	`find src | sort | head -5 | xargs -n1 wc -l`,
	`find src -print0 | xargs -0 wc`,
	`find src | xargs -I{} wc {}`,
	`find src | xargs -I% wc % a.go`,
	`ls | xargs wc`,
	`ls '' *.go | xargs wc`,
	`ls -1 | grep -v x | xargs wc`,
	`grep -rl pack src | xargs wc`,
	`cat $(find src)`,
	`wc $(find src -name '*.go')`,
	"wc `ls`",
	`for f in *.go; do wc "$f"; done`,
	`for f in src/*; do wc $f; done`,
	`for f in $(find src); do wc "$f"; done`,
	`for f in a.go src/*.go; do wc "$f"; done`,
	`find src | while read -r f; do wc "$f"; done`,
	`find src -print0 | while IFS= read -r -d '' f; do wc "$f"; done`,
	`find . | while read f; do wc $f; done`,
	`cd src && find . | xargs wc`,
	`(cd src; find .) | xargs wc`,
	`for f in *; do (cd src; wc "$f"); done`,
	`find . -printf '/etc/passwd\n' | xargs wc`,
	`find src -exec echo /etc/passwd \; | xargs wc`,
	`find src 2>&1 | xargs wc`,
	`find src nowhere |& xargs wc`,
	`find src | xargs -d/ wc`,
	`{ find src; echo /etc/passwd; } | xargs wc`,
	`echo /etc/passwd | { find src; cat; } | xargs wc`,
	`echo /etc/passwd | { find src; grep e; } | xargs wc`,
	`find src | sed 's,^,/,' | xargs wc`,
	`find src | head -c 3 | xargs wc`,
	`touch 'src/x y' && find src | xargs wc`,
	`for f in src/*; do touch "src/-n z"; wc $f; done`,
	`for f in src/*; do f=/etc/passwd; wc $f; done`,
	`find src | while read -r f; do read f < list; wc "$f"; done`,
	`find ../outside | xargs wc`,
	`find "my dir" | xargs wc`,
	`find src -name '[!.]*' | xargs wc`,
	`find . -maxdepth 1 -name '.*' | xargs wc`,
	`find src -iname '*.GO' -o -name x | xargs wc`,
	`f() { find "$@"; }; f src | xargs wc`,
	`find src | xargs env -C / wc`,
	`find src | xargs -a list wc`,
	`find nowhere | xargs wc`,
	`find . -print -name '*.go' | xargs wc`,
	`find . -exec wc {} \; -name '*.go'`,
	`find . -print0 -name x | xargs -0 wc`,
	`find . -name x -prune -o -print | xargs wc`,
	`find . -quit -name '*.go' | xargs wc`,
	`find . -name '*n' | while IFS=n read -r f; do wc "$f"; done`,
	`find . -name '*x' | while IFS=$'x' read -r f; do wc $f; done`,
	`find . -type f -name '*.go' -maxdepth 2 | xargs wc`,
	`wc $(pwd)/a.go`,
	`wc "$(pwd)"`,
	`wc $(git rev-parse --show-toplevel)`,
	`find src | tac | xargs wc`,
	`find src | tail -n +2 | xargs wc`,
	`for f in */; do wc "$f"; done`,
	`for f in .*; do wc "$f"; done`,
	`git ls-files | xargs wc`,
	`git ls-files src '*.txt' | sort | xargs wc -l`,
	`git ls-files -z | xargs -0 wc`,
	`git ls-files -z | xargs wc`,
	`git ls-files | xargs -0 wc`,
	`git ls-files -z | sort -z | xargs -0 wc`,
	`git ls-files | xargs -d '\0' wc`,
	`git ls-files -z | xargs -d '\0' wc`,
	`git ls-files -z | xargs -0 -d '\n' wc`,
	`git-ls-files | xargs wc`,
	`git grep -l -- pack HEAD | xargs wc`,
	`wc $(git ls-files)`,
	`wc $(git ls-files -z)`,
	`wc "$(git ls-files)"`,
	`git grep -l pack | xargs wc`,
	`git grep -l pack HEAD | xargs wc`,
	`git grep -lz pack | xargs -0 wc`,
	`git grep -l -e pack -- src | xargs wc`,
	`echo y >> a.go; git diff --name-only | xargs wc`,
	`git diff --name-only --diff-filter=M | xargs wc`,
	`git diff --name-only HEAD~1 | xargs wc`,
	`git diff --name-only --cached | xargs wc`,
	`cd src && git ls-files | xargs wc`,
	`cd src && git grep -l pack | xargs wc`,
	`cd src && git diff --name-only | xargs wc`,
	`cd src && git ls-files .. | xargs wc`,
	`cd src && git ls-files :/ | xargs wc`,
	`git -C src ls-files | xargs wc`,
	`git ls-files -o | xargs wc`,
	`git ls-files -s | xargs wc`,
	`git ls-files --format=%(path)x | xargs wc`,
	`git ls-files | xargs -I{} wc {}`,
	`git ls-files | xargs -I{} wc {}x`,
	`git ls-files | xargs -d/ wc`,
	`for f in $(git ls-files); do wc "$f"; done`,
	`for f in a.go $(git ls-files src); do wc $f; done`,
	`IFS=/; wc $(git ls-files)`,
	`git ls-files | while read -r f; do wc "$f"; done`,
	`git ls-files | while read -r -d '' f; do wc "$f"; done`,
	`git ls-files -z | while IFS= read -r -d '' f; do wc "$f"; done`,
	`GIT_INDEX_FILE=x git ls-files | xargs wc`,
	`git add x.untracked && git ls-files | xargs wc`,
	`git rm -q --cached a.go; git ls-files | xargs wc`,
	`ls *.go | xargs wc`,
	`ls src/*.go | xargs wc`,
	`ls a.go x.txt | xargs wc`,
	`ls s* | xargs wc`,
	`ls src | xargs wc`,
	`ls *.zzz | xargs wc`,
	`shopt -s nullglob; ls *.zzz | xargs wc`,
	`shopt -s dotglob; ls *n | xargs wc`,
	`wc $(ls src/*.go)`,
}

func TestFoundNamesAgainstBash(t *testing.T) {
	bashPath, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal("bash is needed: ", err)
	}
	for _, hostile := range []string{"", "src/a b.go", "src/-l.go", "src/it's.go", "+x", "src/x\ny.go", "src/-", "my dir/z", "src/..x/..", `src/a\b`, "src/a:b", "src/[a]b", "src/é", "link"} {
		t.Run(hostile, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			dir, bin, record := root+"/work", root+"/bin", root+"/record"
			files := []string{"a.go", "x.txt", ".hidden", "src/b.go", "src/deep/c.go", "src/x", "list", "../outside/o"}
			switch {
			case hostile == "link":
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink("/etc", dir+"/etc"); err != nil {
					t.Fatal(err)
				}
			case hostile != "" && !strings.Contains(hostile, ".."):
				files = append(files, hostile)
			}
			for _, f := range files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, f)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, f), []byte("package x\n/etc/passwd\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			git := []string{"git", "-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.com"}
			commit := append(git, "commit", "-q", "--allow-empty", "-m", "x")
			for _, c := range [][]string{{"git", "init", "-q", dir}, commit, append(git, "add", "-A"), commit, {"mkdir", bin}, {"touch", dir + "/x.untracked"}} {
				if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
					t.Fatalf("%v: %v %s", c, err, out)
				}
			}
			stub := fmt.Sprintf("#!%s\nprintf '%%s\\0' \"$PWD\" \"$@\" $'\\1' >> %s\n", bashPath, record)
			if err := os.WriteFile(bin+"/wc", []byte(stub), 0o755); err != nil {
				t.Fatal(err)
			}
			known := 0
			for _, line := range searches {
				an := bash.Analyse(line, bash.Env{Cwd: dir, System: knowledge.System{
					Home: root, Roots: []string{dir}, IsDir: disk.IsDir, Resolve: paths.Resolve, TopLevel: disk.TopLevel, PlainNames: disk.PlainNames,
					PlainTracked: disk.PlainTracked, Names: disk.Names, Exported: func(string) bool { return false },
				}})
				tracked, unseen := disk.Opened(&cardea.Access{Path: dir, Recursive: true, Selection: cardea.Selection{Tracked: true}})
				certain := true
				var access []cardea.Access
				for _, p := range an.Parts {
					if len(p.Command) > 0 && p.Command[0] == "wc" {
						certain = certain && p.Knowledge == cardea.Complete && len(p.Opaque) == 0
						access = append(access, p.Access...)
					}
				}
				if !certain {
					continue // whatever it is passed is covered
				}
				os.Remove(record)
				cmd := exec.Command(bashPath, "-c", line)
				cmd.Dir, cmd.Env = dir, []string{"PATH=" + bin + ":/usr/bin:/bin", "HOME=" + root, "LANG=C.UTF-8"}
				cmd.Run() // many of the lines fail
				known++
				for _, call := range strings.Split(read(t, record), "\x00\x01\x00") {
					words := strings.Split(call, "\x00")
					for _, w := range words[1:] {
						if w == "-l" && strings.Contains(line, "wc -l") {
							continue
						}
						if i := slices.IndexFunc(access, func(a cardea.Access) bool { return a.Selection.Tracked }); i >= 0 && unseen == "" && !slices.Contains(tracked, words[0]+"/"+w) && len(access) == 1 && w != "" {
							t.Errorf("%s\n wc is passed %q in %s, which git does not track", line, w, words[0])
						}
						if !told(words[0], w, access) {
							t.Errorf("%s\n wc is passed %q in %s, which is in none of %+v", line, w, words[0], access)
						}
					}
				}
				for _, f := range []string{"src/x y", "src/-n z"} {
					os.Remove(filepath.Join(dir, f))
				}
				if strings.Contains(line, "git add") || strings.Contains(line, "git rm") {
					exec.Command("git", "-C", dir, "reset", "-q").Run()
				}
			}
			if hostile == "" && known < 20 {
				t.Errorf("only %d lines are known", known)
			}
		})
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(data), "\x00\x01\x00")
}

// told reports whether the accesses cover a word that a program got.
func told(dir, word string, access []cardea.Access) bool {
	if strings.HasPrefix(word, "-") || strings.HasPrefix(word, "+") {
		return false
	}
	at := word
	if !filepath.IsAbs(at) {
		at = dir + "/" + word
	}
	at = filepath.Clean(at) // links below belong to the program that trusts the access
	for _, a := range access {
		below := at == a.Path || strings.HasPrefix(at, a.Path+"/")
		matches, _ := filepath.Match(filepath.Base(a.Pattern), filepath.Base(at))
		if at == a.Path || below && a.Recursive || below && a.Glob && (matches || filepath.Base(word) == filepath.Base(a.Pattern)) {
			return true
		}
	}
	return false
}
