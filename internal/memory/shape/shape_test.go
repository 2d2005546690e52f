package shape_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/disk"
	"cardea.dev/internal/harness/call"
	"cardea.dev/internal/memory/shape"
	"cardea.dev/internal/testing/sharedtest"
)

// bench is a project in which calls are compared.
type bench struct {
	project, home string
}

func newBench(t testing.TB) bench {
	t.Helper()
	b := bench{project: filepath.Join(t.TempDir(), "project"), home: t.TempDir()}
	for _, name := range []string{"src/a.ts", "src/app.ts", "src/components/a.ts", "tests/auth/test_login.py", "tests/api/test_x.py", "internal/auth/x.go", "internal/api/x.go", "lib/x.ts"} {
		file := filepath.Join(b.project, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// event returns the call of a line, analysed.
func (b bench) event(line string) *cardea.Event { return b.in(b.project, line) }

// in returns that of a line in a folder.
func (b bench) in(dir, line string) *cardea.Event {
	ev := &cardea.Event{Kind: cardea.PermissionRequest, Harness: "claude-code", Cwd: dir, Project: b.project, Home: b.home, Mode: cardea.ModeDefault,
		Call: &cardea.Call{Tool: "Bash", Name: "Bash", Known: true, Input: map[string]any{"command": line}}}
	return call.Analyse(ev, disk.System(b.home))
}

func (b bench) compare(allowed, candidate string) shape.Result {
	return shape.Compare(b.event(allowed), b.event(candidate), shape.Lookups{Resolve: paths.Resolve, Secret: func(text string) bool { return strings.Contains(text, "ghp_") }})
}

// pairs reads a table of lessons, candidates and whether they are similar.
func pairs(t *testing.T, text string, each func(allowed, candidate string, similar bool, why string)) {
	t.Helper()
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\n"); line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 4 || f[2] != "allow" && f[2] != "not" {
			t.Fatalf("no pair: %q", line)
		}
		each(f[0], f[1], f[2] == "allow", f[3])
	}
}

// Pairs of a lesson and a candidate, by hand: ours, and those of the shared test data
// where they are there.
func TestPairs(t *testing.T) {
	for name, read := range map[string]func(t *testing.T) []byte{
		"own": func(t *testing.T) []byte {
			data, err := os.ReadFile("testdata/pairs.tsv")
			if err != nil {
				t.Fatal(err)
			}
			return data
		},
		"shared": func(t *testing.T) []byte { return sharedtest.Read(t, "corpus", "near.tsv") },
	} {
		t.Run(name, func(t *testing.T) {
			b, allowed, of := newBench(t), 0, 0
			pairs(t, string(read(t)), func(first, second string, similar bool, why string) {
				got := b.compare(first, second)
				t.Logf("%v\t%s\t%s\t%s", got.Same, first, second, got.Words)
				switch {
				case !similar && got.Same:
					t.Errorf("%q is allowed by %q (%s), and must not be: %s", second, first, got.Words, why)
				case similar:
					if of++; got.Same {
						allowed++
					} else {
						t.Logf("%q is not allowed by %q: %s", second, first, got.Words)
					}
				}
			})
			t.Logf("%d of %d similar pairs pass", allowed, of)
			if of == 0 || allowed*100 < of*80 {
				t.Errorf("only %d of %d similar pairs pass", allowed, of)
			}
		})
	}
}

// The words say in what a call differs, as it is written.
func TestWordsSayWhatDiffers(t *testing.T) {
	b := newBench(t)
	for _, c := range [][3]string{
		{"tail -5 x", "tail -20 x", "another shape: in tail, -20 may not stand for -5"},
		{"go test ./internal/auth", "go test ./internal/...", "another shape: ./internal/... covers more than what was allowed"},
		{"go test ./internal/auth", "go test ./lib", "another shape: ./lib lies outside of internal"},
		{"cargo build --release -j4", "cargo build -j4 --release", "another shape: its words stand in another order"},
		{"git push origin x", "git push --force origin x", "another shape: it has the option --force"},
	} {
		if got := b.compare(c[0], c[1]); got.Same || got.Words != c[2] {
			t.Errorf("%q for %q: %q, want %q", c[1], c[0], got.Words, c[2])
		}
	}
}
