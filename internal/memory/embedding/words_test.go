package embedding

import (
	"fmt"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"npm test":                        "npm/0 test/0",
		"git push --force origin main":    "git/0 push/0 force/2 origin/3 main/3",
		"kubectl get pods -n staging":     "kubectl/0 get/0 pods/1 n/2 staging/3",
		"docker compose up -d db":         "docker/0 compose/0 up/1 d/2 db/3",
		"docker-compose up -d db":         "docker/0 compose/0 up/1 d/2 db/3",
		`git commit -m "fix the login"`:   "git/0 commit/0 m/2 fix/3 the/3 login/3",
		"/usr/bin/git status":             "git/0 status/0",
		"C:/tools/git.exe status":         "git/0 status/0",
		"cat /home/x/project/src/a.ts":    "cat/0 src/3 a/3 ts/3",
		"cd web && npm run test:unit":     "cd/0 web/0 npm/0 run/0 test/1 unit/1",
		"make; make install":              "make/0 make/0 install/0",
		"FOO=1 go test ./...":             "FOO/3 go/0 test/0",
		"git show 1a2b3c4d5e":             "git/0 show/0",
		"kill -9 4321":                    "kill/0",
		"curl https://x.example/a/b?k=v":  "curl/0 a/3 b/3",
		"pytest --cov=src tests/auth":     "pytest/0 cov/2 src/3 tests/3 auth/3",
		"$(git rev-parse HEAD)":           "git/0 rev/0 parse/0 HEAD/1",
		"":                                "",
		"''":                              "",
		"--":                              "",
		"日本 語":                            "日本/0 語/3",
		"a\x00b":                          "a/0 b/0",
		"\"" + strings.Repeat("\\", 1000): "",
	} {
		var got []string
		Words(text, func(word string, group Group) { got = append(got, fmt.Sprintf("%s/%d", word, group)) })
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q: %s, want %s", text, s, want)
		}
	}
}

// What is only noise changes nothing.
func TestNoise(t *testing.T) {
	table := open(t)
	for _, pair := range [][2]string{
		{"git log -n 10", "git log -n 25"},
		{"docker-compose up", "docker compose up"},
		{"/usr/bin/npm test", "npm test"},
		{`grep "TODO" src/a.go`, "grep TODO src/a.go"},
		{"git show 1a2b3c4", "git show 9f8e7d6"},
		{"CAT readme.md", "cat README.md"},
	} {
		a, ok := table.Vector(pair[0])
		b, ok2 := table.Vector(pair[1])
		if !ok || !ok2 || a != b {
			t.Errorf("%q and %q have different vectors", pair[0], pair[1])
		}
	}
}

// Texts that say nothing have no vector, and so are like nothing.
func TestTextsWithoutVector(t *testing.T) {
	table := open(t)
	for _, text := range []string{"", "   ", "123 456", "''", strings.Repeat("echo hello ", maxText/10), "\x00\xff"} {
		if v, ok := table.Vector(text); ok {
			t.Errorf("%.20q has the vector %v", text, v)
		}
	}
	zeroed := zeroed(t)
	for _, text := range []string{"npm test", "git push origin main"} {
		if _, ok := zeroed.Vector(text); ok {
			t.Errorf("%q has a vector of a table that is zero", text)
		}
	}
}

// A table begins with its digest.
func TestDigest(t *testing.T) {
	if got := builtin[len(magic):][:idSize]; got != string(digest([]byte(builtin))) {
		t.Errorf("%x", got)
	}
}

func zeroed(t testing.TB) *Table {
	t.Helper()
	data, err := Zeroed(builtin)
	if err != nil {
		t.Fatal(err)
	}
	table, err := Open(data)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// A vector is made at every call, and the engine makes one for each lesson.
func TestVectorTakesNoMemory(t *testing.T) {
	table := open(t)
	for _, text := range []string{"npm run test:unit -- src/a/b.ts", "äöü 日本 한국어 " + strings.Repeat("x", 500)} {
		if n := testing.AllocsPerRun(100, func() { table.Vector(text) }); n != 0 {
			t.Errorf("%.20q: %v allocations", text, n)
		}
	}
}

func TestSimilarity(t *testing.T) {
	var zero, a, b Vector
	a[0], b[0], b[1] = 127, -127, 0
	if Similarity(&zero, &a) != 0 || Similarity(&a, &a) != 1 || Similarity(&a, &b) != -1 {
		t.Error("similarities of simple vectors")
	}
}

// A damaged table is an error or finds nothing; it does not crash.
func FuzzOpen(f *testing.F) {
	f.Add([]byte(builtin[:100]), 0)
	f.Fuzz(func(t *testing.T, change []byte, at int) {
		b := []byte(builtin)
		if at < 0 || at+len(change) > len(b) {
			return
		}
		copy(b[at:], change)
		if table, err := Open(string(b)); err == nil {
			table.Vector("git push --force origin main && docker-compose up 日本")
		}
		if table, err := Open(string(b[:at])); err == nil && at < len(b) {
			t.Errorf("%d of %d bytes are a table: %v", at, len(b), table.count)
		}
	})
}

func FuzzVector(f *testing.F) {
	f.Add("git push --force origin main")
	f.Add("İ한é\u0301 " + strings.Repeat("ß", 200))
	table := open(f)
	f.Fuzz(func(t *testing.T, text string) {
		v, ok := table.Vector(text)
		if ok == (v == Vector{}) {
			t.Errorf("%v, %v", v, ok)
		}
	})
}

func BenchmarkCheckVector(b *testing.B) {
	table := open(b)
	for _, text := range []string{"npm test", "pytest --cov tests/auth/test_login.py -k 'not slow'", "cd src && npm run build 2>&1 | tee build.log"} {
		b.Run(strings.Fields(text)[0], func(b *testing.B) {
			for b.Loop() {
				table.Vector(text)
			}
		})
	}
}
