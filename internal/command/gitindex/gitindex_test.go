package gitindex_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev/internal/command/gitindex"
)

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestAgainstGit compares the entries with those that git itself lists.
func TestAgainstGit(t *testing.T) {
	for format, hash := range map[string]int{"sha1": 20, "sha256": 32} {
		for _, version := range []string{"2", "4"} {
			t.Run(format+"-"+version, func(t *testing.T) {
				dir := t.TempDir()
				git(t, dir, "init", "-q", "--object-format="+format)
				for _, name := range []string{"a", "b c.txt", "src/a.go", "src/ab.go", "ünï", "deep/" + strings.Repeat("x", 200), strings.Repeat("y/", 60) + "z", "src/a\tb"} {
					if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.Symlink("a", dir+"/link"); err != nil {
					t.Fatal(err)
				}
				git(t, dir, "add", "-A")
				git(t, dir, "update-index", "--chmod=+x", "a")
				git(t, dir, "update-index", "--index-version", version)
				data, err := os.ReadFile(dir + "/.git/index")
				if err != nil {
					t.Fatal(err)
				}
				var got strings.Builder
				f := gitindex.Index{Data: data, Hash: hash}.Find(func(name string, mode uint32) bool {
					fmt.Fprintf(&got, "%06o %s\x00", mode, name)
					return false
				})
				want := git(t, dir, "ls-files", "-z", "--format=%(objectmode) %(path)")
				if f != (gitindex.Found{}) || got.String() != want {
					t.Errorf("%+v\n%q, git lists\n%q", f, got.String(), want)
				}
			})
		}
	}
}

// TestElsewhere checks that an index with a part in another place is reported as such.
func TestElsewhere(t *testing.T) {
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	for _, name := range []string{"src/a", "deploy/b"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "x")
	look := func() gitindex.Found {
		t.Helper()
		data, err := os.ReadFile(dir + "/.git/index")
		if err != nil {
			t.Fatal(err)
		}
		return gitindex.Index{Data: data, Hash: 20}.Find(func(string, uint32) bool { return false })
	}
	if f := look(); f != (gitindex.Found{}) {
		t.Errorf("a plain index: %+v", f)
	}
	git(t, dir, "update-index", "--split-index")
	if f := look(); !f.Elsewhere {
		t.Errorf("a split index: %+v", f)
	}
	git(t, dir, "update-index", "--no-split-index")
	git(t, dir, "sparse-checkout", "init", "--cone", "--sparse-index")
	git(t, dir, "sparse-checkout", "set", "src")
	if f := look(); !f.Elsewhere {
		t.Errorf("a sparse index: %+v", f)
	}
}

func FuzzFind(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00aaaaaaaaaaaaaaaaaaaa"))
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01" + strings.Repeat("x", 100)))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, hash := range []int{20, 32} {
			n := 0
			gitindex.Index{Data: data, Hash: hash}.Find(func(name string, _ uint32) bool { n++; return false })
			if n > len(data) {
				t.Errorf("%d entries in %d bytes", n, len(data))
			}
		}
	})
}
