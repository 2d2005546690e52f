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
	reply, err := find(b.t.Context(), builtin{b.table}, r)
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

// many returns lessons that are like nothing that is asked for, more than are looked at one
// by one.
func many(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("allow * ffmpeg -i clip%c%c%c.mp4 song.mp3", 'a'+i%26, 'a'+i/26%26, 'a'+i/676%26))
	}
	return out
}

// Roles and places do not mix, and each effect has its own answer.
func TestAnswer(t *testing.T) {
	for _, indexed := range []bool{false, true} {
		b := newBench(t)
		lessons := []string{"allow tester npm test", "ask * git push --force origin main", "deny coder terraform destroy", "allow * git push origin main"}
		if indexed {
			lessons = append(lessons, many(500)...)
		}
		b.teach("user", lessons...)
		b.teach("project", "ask * yarn test", "allow tester pnpm test")
		if indexed {
			if _, stale := b.named(b.request("tester", "npm test", "user")); !stale {
				t.Error("there is an index that nobody made")
			}
			if err := build(t.Context(), builtin{b.table}, b.request("tester", "", "user")); err != nil {
				t.Fatal(err)
			}
		}
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

// A thousand allows that are nearer do not hide an ask.
func TestAllowsHideNoAsk(t *testing.T) {
	b := newBench(t)
	list := []string{"ask * git push origin hotfix"}
	for i := range 700 {
		list = append(list, fmt.Sprintf("allow * git push origin feature/%c%c", 'a'+i%26, 'a'+i/26))
	}
	b.teach("user", list...)
	r := b.request("", "git push origin feature/zz", "user")
	if err := build(t.Context(), builtin{b.table}, r); err != nil {
		t.Fatal(err)
	}
	if got, _ := b.named(r); !strings.Contains(got, "hotfix") || strings.Count(got, ",") != r.Wanted {
		t.Error(got)
	}
}

// A lesson added after the index was made applies at once, if it is in no large file. A lesson that
// was removed is not found.
func TestStaleIndexes(t *testing.T) {
	b := newBench(t)
	b.teach("user", append(many(500), "allow * npm test")...)
	r := b.request("", "yarn test", "user")
	if err := build(t.Context(), builtin{b.table}, r); err != nil {
		t.Fatal(err)
	}
	b.expect(r, "npm test", false)
	b.teach("user", "ask * pnpm test")
	got, stale := b.named(r)
	if !stale || !strings.Contains(got, "npm test") || !strings.Contains(got, "pnpm test") {
		t.Errorf("%q, %v", got, stale)
	}
	if err := build(t.Context(), builtin{b.table}, r); err != nil {
		t.Fatal(err)
	}
	if again, stale := b.named(r); stale || strings.Count(again, ",") != strings.Count(got, ",") {
		t.Errorf("%q, %v", again, stale)
	}
}

// A forged index is not trusted, and is rebuilt.
func TestForgedIndex(t *testing.T) {
	b := newBench(t)
	b.teach("user", append(many(500), "allow * npm test")...)
	r := b.request("", "yarn test", "user")
	if err := build(t.Context(), builtin{b.table}, r); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(b.root, "cache", "near", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 || strings.Contains(f, "user") {
			t.Errorf("%s has mode %o", f, info.Mode().Perm())
		}
		if info.Size() == 0 {
			continue // the lock
		}
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for i := range data {
			if i%97 == 0 {
				data[i] ^= 1
			}
		}
		if err := os.WriteFile(f, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, stale := b.named(r); !stale || strings.Contains(got, "ffmpeg") {
		t.Errorf("%q, %v", got, stale)
	}
	if err := build(t.Context(), builtin{b.table}, r); err != nil {
		t.Fatal(err)
	}
	b.expect(r, "npm test", false)
}

// Without a key or a cache folder nothing is stored, and a few lessons are still found.
func TestWithoutCache(t *testing.T) {
	b := newBench(t)
	b.teach("user", "allow * npm test")
	r := b.request("", "yarn test", "user")
	r.Cache = ""
	b.expect(r, "npm test", false)
	if err := build(t.Context(), builtin{b.table}, r); err != nil {
		t.Error(err)
	}
}

func TestServe(t *testing.T) {
	b := newBench(t)
	b.teach("user", "allow * npm test")
	in, err := json.Marshal(b.request("", "yarn test", "user"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Serve(bytes.NewReader(append(in, '\n')), &out); err != nil {
		t.Fatal(err)
	}
	var reply meaning.Reply
	if err := json.Unmarshal(out.Bytes(), &reply); err != nil || len(reply.Named) != 1 || reply.Named[0].Similarity < 0.85 {
		t.Errorf("%s, %v", out.String(), err)
	}
	for _, bad := range []string{"[]", "{", `{"dir": 3}`} {
		if err := Serve(strings.NewReader(bad), &out); err == nil {
			t.Errorf("%q is taken for a request", bad)
		}
	}
}
