package readonly

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"cardea.dev/internal/command/gitindex"
)

// TestIndex reads indexes that git itself wrote, in each of its versions.
func TestIndex(t *testing.T) {
	git := func(dir string, args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	for format, hash := range map[string]int{"sha1": 20, "sha256": 32} {
		for _, version := range []string{"2", "3", "4"} {
			t.Run(format+"-"+version, func(t *testing.T) {
				dir := t.TempDir()
				git(dir, "init", "-q", "--object-format="+format)
				put := func(name string) {
					t.Helper()
					if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644); err != nil {
						t.Fatal(err)
					}
					git(dir, "add", "-f", name)
					git(dir, "update-index", "--index-version", version)
					if version == "3" {
						git(dir, "add", "-N", "-f", ".")
					}
				}
				look := func() (bool, bool) {
					t.Helper()
					data, err := os.ReadFile(filepath.Join(dir, ".git/index"))
					if err != nil {
						t.Fatal(err)
					}
					for cut := range data { // no length causes a panic
						links(gitindex.Index{Data: data[:cut], Hash: hash})
					}
					return links(gitindex.Index{Data: data, Hash: hash}), secrets(gitindex.Index{Data: data, Hash: hash})
				}
				put("src/a.go")
				put("src/environment.go")
				put("testdata/server.key")
				put(".env.example")
				put("a/very/long/name/that/goes/on/and/on/for/some/time/so/that/padding/moves.txt")
				if links, secrets := look(); links || secrets {
					t.Errorf("links %v, secrets %v in an index without", links, secrets)
				}
				put(".envrc.d/.env")
				if links, secrets := look(); links || !secrets {
					t.Errorf("links %v, secrets %v with a tracked .env", links, secrets)
				}
				git(dir, "rm", "-q", "--cached", ".envrc.d/.env")
				git(dir, "init", "-q", "--object-format="+format, "inner")
				git(dir+"/inner", "commit", "-q", "--allow-empty", "-m", "x")
				git(dir, "add", "inner")
				if links, secrets := look(); !links || secrets {
					t.Errorf("links %v, secrets %v with a link to another repository", links, secrets)
				}
			})
		}
	}
}

func BenchmarkCheckIndex(b *testing.B) {
	dir := b.TempDir()
	run := func(args ...string) {
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
	run("init", "-q")
	for i := range 100 {
		for j := range 100 {
			name := filepath.Join(dir, "src", "package"+string(rune('a'+i%26))+string(rune('a'+i/26)), "file"+string(rune('a'+j%26))+string(rune('a'+j/26))+".go")
			os.MkdirAll(filepath.Dir(name), 0o755)
			os.WriteFile(name, nil, 0o644)
		}
	}
	run("add", ".")
	data, err := os.ReadFile(filepath.Join(dir, ".git/index"))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(len(data)), "bytes")
	for b.Loop() {
		secrets(gitindex.Index{Data: data, Hash: 20})
	}
}
