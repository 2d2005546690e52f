package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/memory/embedding"
	"cardea.dev/internal/memory/lesson"
	"cardea.dev/internal/memory/meaning"
)

// bench is a state folder and folders of lessons.
type bench struct {
	t     testing.TB
	root  string
	key   []byte
	table *embedding.Table
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{t: t, root: t.TempDir()}
	key, err := state.LoadKey(filepath.Join(b.root, "state"))
	if err != nil {
		t.Fatal(err)
	}
	b.key = key
	if b.table, err = embedding.Builtin(); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) place(name string) lesson.ScopeFolder {
	return lesson.ScopeFolder{Dir: filepath.Join(b.root, name), State: filepath.Join(b.root, "state"), Cache: filepath.Join(b.root, "cache"), Key: b.key}
}

// teach adds lessons: "allow tester npm test".
func (b *bench) teach(place string, list ...string) {
	b.t.Helper()
	w, err := lesson.NewWriter(b.place(place))
	if err != nil {
		b.t.Fatal(err)
	}
	text := redact.New().Text
	var drafts []lesson.Draft
	for _, l := range list {
		f := strings.SplitN(l, " ", 3)
		effect, err := cardea.ParseEffect(f[0])
		if err != nil {
			b.t.Fatal(err)
		}
		drafts = append(drafts, lesson.Draft{Effect: effect, Tool: text("Bash"), Subject: text(f[2]), Role: text(f[1]), Dir: text("."), By: lesson.ByPerson,
			When: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)})
	}
	if err := w.Teach(drafts...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) request(role, text, place string) meaning.Request {
	return meaning.Request{Dir: filepath.Join(b.root, place), State: filepath.Join(b.root, "state"), Cache: filepath.Join(b.root, "cache"),
		Tool: "Bash", Role: role, Text: text, Threshold: 0.85, Wanted: 4}
}

// named returns the subjects that a request finds: "npm test, yarn test".
func (b *bench) named(r meaning.Request) (list string, stale bool) {
	b.t.Helper()
	reply, err := folders{}.find(b.t.Context(), builtin{b.table}, r)
	if err != nil {
		b.t.Fatal(err)
	}
	var out []string
	for _, n := range reply.Named {
		out = append(out, n.Subject)
	}
	return strings.Join(out, ", "), reply.Stale
}

func (b *bench) expect(r meaning.Request, want string, stale bool) {
	b.t.Helper()
	if got, s := b.named(r); got != want || s != stale {
		b.t.Errorf("%s %q: %q stale %v, want %q stale %v", r.Role, r.Text, got, s, want, stale)
	}
}

// many returns lessons that are like nothing that tests ask for.
func many(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("allow * ffmpeg -i clip%c%c%c.mp4 song.mp3", 'a'+i%26, 'a'+i/26%26, 'a'+i/676%26))
	}
	return out
}

// Roles and places do not mix, and each effect has its own answer.
func TestAnswer(t *testing.T) {
	for _, more := range []int{0, 500} {
		b := newBench(t)
		b.teach("user", append(many(more), "allow tester npm test", "ask * git push --force origin main", "deny coder terraform destroy", "allow * git push origin main")...)
		b.teach("project", "ask * yarn test", "allow tester pnpm test")
		b.expect(b.request("tester", "bun test", "user"), "npm test", false)
		b.expect(b.request("coder", "bun test", "user"), "", false)
		b.expect(b.request("tester", "bun test", "project"), "yarn test, pnpm test", false)
		b.expect(b.request("coder", "bun test", "project"), "yarn test", false)
		b.expect(b.request("", "bun test", "project"), "yarn test", false)
		b.expect(b.request("coder", "tofu destroy", "user"), "terraform destroy", false)
		b.expect(b.request("tester", "tofu destroy", "user"), "", false)
		b.expect(b.request("coder", "git push --force origin develop", "user"), "git push --force origin main", false)
		b.expect(b.request("coder", "git pull origin main", "user"), "", false)
		b.expect(b.request("coder", "", "user"), "", false)
		b.expect(b.request("coder", "yarn test", "nowhere"), "", false)
		other := b.request("coder", "yarn test", "project")
		other.Tool = "PowerShell"
		b.expect(other, "", false)
		none := b.request("coder", "yarn test", "project")
		none.Threshold = 0
		b.expect(none, "", false)
		if state.Exists(filepath.Join(b.root, "cache", "near")) {
			t.Error("vectors of the built-in table are stored")
		}

		zeroed, err := embedding.Zeroed(embedding.Data())
		if err != nil {
			t.Fatal(err)
		}
		if b.table, err = embedding.Open(zeroed); err != nil {
			t.Fatal(err)
		}
		b.expect(b.request("tester", "bun test", "project"), "", false)
	}
}

// TestUnreadableFile checks that a file that cannot be read hides no ask of another one, and
// that no lesson allows beside it.
func TestUnreadableFile(t *testing.T) {
	for lessons, want := range map[[2]string]string{
		{"ask * npm test", "allow.jsonl"}: "npm test",
		{"allow * npm test", "ask.jsonl"}: "",
		{"allow * npm test", ""}:          "npm test",
	} {
		b := newBench(t)
		b.teach("user", lessons[0])
		if lessons[1] != "" {
			if err := os.Mkdir(filepath.Join(lesson.Folder(b.place("user").Dir), lessons[1]), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		b.expect(b.request("", "yarn test", "user"), want, false)
	}
}

// A thousand allows that are nearer do not hide an ask.
func TestAllowsHideNoAsk(t *testing.T) {
	b := newBench(t)
	list := []string{"ask * git push origin hotfix"}
	for i := range 700 {
		list = append(list, fmt.Sprintf("allow * git push origin feature/%c%c", 'a'+i%26, 'a'+i/26))
	}
	b.teach("user", list...)
	r := b.request("", "git push origin feature/zz", "user")
	if got, _ := b.named(r); !strings.Contains(got, "hotfix") || strings.Count(got, ",") != r.Wanted {
		t.Error(got)
	}
}

// Of many lessons those nearest are named, of equally near ones those first in the alphabet. Of few
// lessons all near ones are.
func TestNearest(t *testing.T) {
	b := newBench(t)
	b.teach("user", "allow tester npm test -- 9", "allow tester npm test", "allow tester npm test -- 1", "allow tester npm run test")
	r := b.request("tester", "npm test", "user")
	r.Wanted = 2
	if got, _ := b.named(r); strings.Count(got, ",") != 3 || !strings.HasSuffix(got, ", npm run test") {
		t.Error(got)
	}
	b.teach("user", many(maxFew)...)
	b.expect(r, "npm test, npm test -- 1", false)
}

func TestServe(t *testing.T) {
	b := newBench(t)
	b.teach("user", "allow * npm test")
	in, err := json.Marshal(b.request("", "yarn test", "user"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Serve(bytes.NewReader(bytes.Repeat(append(in, '\n'), 2)), &out); err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(out.Bytes()) {
		var reply meaning.Reply
		if err := json.Unmarshal(line, &reply); err != nil || len(reply.Named) != 1 || reply.Named[0].Similarity < 0.85 {
			t.Errorf("%s, %v", line, err)
		}
	}
	for _, bad := range []string{"[]", "{", `{"dir": 3}`} {
		if err := Serve(strings.NewReader(bad), &out); err == nil {
			t.Errorf("%q is taken for a request", bad)
		}
	}
}

// BenchmarkCheckMeaning finds a lesson by meaning among many: as the first request of a process,
// which reads the lessons and makes their vectors, and as a later one.
func BenchmarkCheckMeaning(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000, 100_000} {
		s := newBench(b)
		s.teach("user", append(commands(n-1), "ask * npm test")...)
		m, r := builtin{s.table}, s.request("", "yarn test", "user")
		find := func(f folders) {
			if reply, err := f.find(b.Context(), m, r); err != nil || len(reply.Named) != 1 {
				b.Fatal(reply, err)
			}
		}
		b.Run(fmt.Sprint(n, "/first"), func(b *testing.B) {
			for b.Loop() {
				find(folders{})
			}
		})
		b.Run(fmt.Sprint(n, "/later"), func(b *testing.B) {
			known := folders{}
			find(known)
			for b.Loop() {
				find(known)
			}
		})
	}
}

// commands returns n lessons about commands as people allow them.
func commands(n int) []string {
	forms := []string{"git add src/m%d/f%d.ts", "go test ./pkg/p%d/q%d", "npx prettier --write src/c%d/x%d.ts", "cargo test -p crate%d%d",
		"git commit -m 'change %d of %d'", "kubectl get pods -n ns%d-%d", "make target%d%d", "docker compose up -d svc%d-%d",
		"curl -sS https://h%d.example.com/%d", "node scripts/s%d/t%d.js"}
	out := make([]string, n)
	for i := range out {
		out[i] = "allow * " + fmt.Sprintf(forms[i%len(forms)], i%97, i)
	}
	return out
}
