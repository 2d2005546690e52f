package bash

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/testing/testrun"
)

// tree fills the folder on which the moving programs run.
func tree(t *testing.T, root string) {
	t.Helper()
	for _, f := range []string{"a", "b.txt", "c.txt", "d/f", "d/.h", "d/sub/g", "e/x.txt", "e/.y", "t/a", "t/d/f", "t/keep/k", "t/.s"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, f)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, f), []byte(f), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"l": "d/sub", "lf": "b.txt", "e/up": "../d"} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// followed returns a path with symlinks followed as far as it exists.
func followed(p string) string {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		return real
	}
	if dir := path.Dir(p); dir != p {
		return path.Join(followed(dir), path.Base(p))
	}
	return p
}

// contents returns the files below a folder with their contents.
func contents(t *testing.T, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(p)
			out[p] = "link " + to
			return err
		case d.Type().IsRegular():
			data, err := os.ReadFile(p)
			out[p] = string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestMovesAgainstTheSystem checks that real cp, mv, ln and install change only files
// that the analysis reports as written or deleted. CARDEA_MOVES=all runs every line. A
// long run takes every 13th.
func TestMovesAgainstTheSystem(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Fatal("bash is needed: ", err)
	}
	programs := []string{
		"mv",
		"mv -f",
		"mv -n",
		"mv -T",
		"mv --no-target-dir",
		"mv -v",
		"mv -b",
		"cp",
		"cp -r",
		"cp -R",
		"cp -a",
		"cp -rT",
		"cp -r --parents",
		"cp -r --backup=numbered",
		"ln -s",
		"ln -sf",
		"ln -sfn",
		"ln",
		"install",
		"install -D",
		"install -d",
	}
	sources := []string{"a", "d", "d/", "d/.", "e/*", "*.txt", "e/.*", "d/sub", "./d", "$PWD/a", "e/x.txt b.txt", "a d", "d/* a", "none", "*/f", "{a,d}", "no* a", "no* d", "~/a"}
	targets := []string{"t", "t/", "t/.", "none", "none/", "b.txt", ".", "t/d", "t/new", "./t", "$PWD/t", "~/t", "t*", "..", "d"}
	every := testrun.Pick(53, 13)
	changed, runs := 0, 0
	for _, program := range programs {
		for _, source := range sources {
			for _, target := range targets {
				for _, form := range []string{"%s %s %s", "%s -t %[3]s %[2]s", "shopt -s nullglob; %s %s %s", "cd d && %s ../%s ../%s"} {
					runs++
					if os.Getenv("CARDEA_MOVES") != "all" && runs%every != 0 {
						continue
					}
					changed += move(t, fmt.Sprintf(form, program, source, target))
				}
			}
		}
	}
	if changed < runs/every/4 {
		t.Errorf("only %d files changed in %d runs", changed, runs)
	}
}

// TestLinksAgainstTheSystem checks that a program that writes through links which the
// line creates or moves changes only reported files, in either order.
func TestLinksAgainstTheSystem(t *testing.T) {
	makes := []string{
		"ln -s %s q",
		"ln -sfn %s q",
		"ln -s %s .; ln -s %[1]s q",
		"ln -s $PWD/%s q",
		"ln -st e $PWD/%s",
		"ln -s ../%s e",
		"ln -s ../%s e/q",
		"ln -s %s z; ln -s z q",
		"cp -s $PWD/%s q",
		"mv l q",
		"cp -a l q",
		"cp -P e/up e/q; ln -s e/q q",
		"mv lf q",
		"mv e/u* q; ln -s e/l e/q",
		"x=%s; ln -s $x q",
		"ln -s ~/%s* q",
		"ln %s q",
		"cd e; ln -s ../%s q; cd ..",
		"mkdir q; ln -s ../%s q",
	}
	targets := []string{"d", "d/sub", "b.txt", "t", "none", "d/../t", "l", "d/sub/.."}
	uses := []string{
		"echo x > q",
		"echo x > q/f",
		"echo x > e/q/f",
		"cd q && echo x > f",
		"cd -P q && echo x > ../a",
		"echo x > q/../a",
		"rm -r q/sub",
		"rm -rf q/",
		"cp a q",
		"cp -r e q/",
		"mv a q/a",
		"ln a q/z",
		"tee q/h < a",
		"rm q",
		"echo x > e/d/f",
		"echo x > d/q/f",
		"truncate -s 0 q/f",
		"sed -i s/f/g/ q/f q",
		"mkdir -p q/new && echo x > q/new/n",
		"echo x | tee -a sub/g",
		"for f in q/*; do echo x > $f; done",
	}
	every := testrun.Pick(53, 17)
	changed, runs := 0, 0
	for _, m := range makes {
		for _, target := range targets {
			for _, use := range uses {
				for _, form := range []string{"%s; %s", "for i in 1 2; do %[2]s; %[1]s; done"} {
					runs++
					if os.Getenv("CARDEA_MOVES") != "all" && runs%every != 0 {
						continue
					}
					first := m
					if strings.Contains(m, "%") {
						first = fmt.Sprintf(m, target)
					}
					changed += move(t, fmt.Sprintf(form, first, use))
				}
			}
		}
	}
	if changed < runs/every/4 {
		t.Errorf("only %d files changed in %d runs", changed, runs)
	}
}

// move runs a line in a fresh tree, and counts the files that it changed.
func move(t *testing.T, line string) (changed int) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "r")
	work := filepath.Join(root, "w")
	tree(t, work)
	before := contents(t, root)
	isDir := func(p string) bool { info, err := os.Stat(p); return err == nil && info.IsDir() }
	names := func(p string) (out []string, ok bool) {
		entries, err := os.ReadDir(p)
		for _, e := range entries {
			out = append(out, e.Name())
		}
		return out, err == nil
	}
	env := Env{Cwd: work, System: knowledge.System{Home: work, Roots: []string{work}, IsDir: isDir, Names: names, Resolve: followed}}
	accesses := Analyse(line, env)
	run := exec.Command("bash", "-c", line)
	run.Dir, run.Env = work, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + work}
	_ = run.Run() // a program that fails half way has also changed files
	after := contents(t, root)
	for _, m := range []map[string]string{before, after} {
		for p := range m {
			if before[p] == after[p] {
				continue
			}
			changed++
			if !covered(p, &accesses) {
				t.Errorf("%s changes %s, which is not among %v", line, strings.TrimPrefix(p, root), effectsOf(line, env))
				return changed
			}
		}
	}
	return changed
}

// covered reports whether a line writes or deletes a file.
func covered(p string, r *Analysis) bool {
	if len(r.Opaque) > 0 {
		return true
	}
	for _, part := range r.Parts {
		if len(part.Opaque) > 0 {
			return true
		}
		for _, a := range part.Access {
			if a.Kind != cardea.Write && a.Kind != cardea.Delete {
				continue
			}
			switch {
			case a.Path == "" || a.Path == p || a.Spelled == p || a.Recursive && !a.Glob && strings.HasPrefix(p, strings.TrimSuffix(a.Path, "/")+"/"):
				return true
			case a.Glob && matchedBy(a, p):
				return true
			}
		}
	}
	return false
}

// matchedBy reports whether the pattern of an access matches a file, or where that
// matters, a folder above it.
func matchedBy(a cardea.Access, p string) bool {
	for {
		if ok, err := path.Match(a.Pattern, p); ok || err != nil || a.Pattern == "" {
			return true
		}
		if !a.Recursive || p == "/" || p == "." {
			return false
		}
		p = path.Dir(p)
	}
}
