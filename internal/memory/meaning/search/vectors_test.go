package search

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardea.dev/internal/base/state"
	"cardea.dev/internal/memory/lesson"
	"cardea.dev/internal/memory/meaning"
)

// makeMissing makes the vectors that a request needs.
func (b *bench) makeMissing(r meaning.Request) {
	b.t.Helper()
	m, err := modelOf(r.Embedder)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := makeMissing(b.t.Context(), m, r); err != nil {
		b.t.Fatal(err)
	}
}

// ask is a request to find lessons with the vectors of a server.
func (e *embedder) ask(b *bench, text, place string) meaning.Request {
	r := b.request("", text, place)
	r.Embedder = meaning.Embedder{Kind: meaning.Ollama, URL: e.URL, Model: e.model}
	return r
}

// expectServed compares what a request finds with the vectors of a server.
func (b *bench) expectServed(r meaning.Request, want string, stale bool) {
	b.t.Helper()
	reply, err := folders{}.answer(b.t.Context(), r)
	var got []string
	for _, n := range reply.Named {
		got = append(got, n.Subject)
	}
	if s := strings.Join(got, ", "); err != nil || s != want || reply.Stale != stale {
		b.t.Errorf("%s in %s: %q stale %v, %v, want %q stale %v", r.Text, filepath.Base(r.Dir), s, reply.Stale, err, want, stale)
	}
}

// A server is asked once for the vector of a text. A new lesson is found after that; the others are
// found until then. A lesson that was removed is not found.
func TestServedVectors(t *testing.T) {
	e, b := newEmbedder(t), newBench(t)
	b.teach("user", append(many(100), "ask * npm test", "ask other npm test")...)
	r := e.ask(b, "yarn test", "user")
	b.makeMissing(r)
	if slices.Sort(e.texts); len(slices.Compact(e.texts)) != len(e.texts) || len(e.texts) != 102 {
		t.Errorf("the server was asked for %d vectors", len(e.texts))
	}
	b.expectServed(r, "npm test", false)

	b.teach("user", "ask * pnpm test")
	b.expectServed(r, "npm test", true)
	e.texts = nil
	b.makeMissing(r)
	if got := strings.Join(e.texts, ", "); got != "yarn test, pnpm test" {
		t.Errorf("the server was asked for %s", got)
	}
	b.expectServed(r, "pnpm test, npm test", false)

	if err := os.Remove(filepath.Join(lesson.Folder(b.place("user").Dir), "ask.jsonl")); err != nil {
		t.Fatal(err)
	}
	b.expectServed(r, "", false)
}

// A text without vector, and one that a model makes vectors of another length of, is no reason to
// ask again. A model whose vectors are of another length now is asked for all.
func TestServedTextsWithoutVector(t *testing.T) {
	e, b := newEmbedder(t), newBench(t)
	e.silent = "npm t"
	b.teach("user", "ask * npm test", "ask * npm t")
	r := e.ask(b, "yarn test", "user")
	b.makeMissing(r)
	b.expectServed(r, "npm test", false)
	e.short = true
	b.expectServed(r, "", true)
	b.makeMissing(r)
	b.expectServed(r, "npm test", false)
}

// What a server gave before it failed is stored.
func TestServersThatFailHalfway(t *testing.T) {
	e, b := newEmbedder(t), newBench(t)
	b.teach("user", append(many(2*batchSize), "ask * aws test", "ask * yarn test")...)
	r := e.ask(b, "aws test", "user")
	e.refuses = "yarn test"
	m, err := modelOf(r.Embedder)
	if err != nil {
		t.Fatal(err)
	}
	if err := makeMissing(t.Context(), m, r); err == nil {
		t.Error("no error")
	}
	b.expectServed(r, "aws test", true)
	e.refuses, e.texts = "", nil
	b.makeMissing(r)
	if len(e.texts) > 1+batchSize {
		t.Errorf("the server was asked for %d vectors again", len(e.texts))
	}
	b.expectServed(r, "aws test", false)
}

// A process that makes the vectors keeps a second one from doing so.
func TestOneProcessMakesVectors(t *testing.T) {
	e, b := newEmbedder(t), newBench(t)
	b.teach("user", "ask * npm test")
	r := e.ask(b, "yarn test", "user")
	b.makeMissing(r)
	b.teach("user", "ask * pnpm test")
	p := b.place("user")
	lock, err := state.OpenLocked(pathOf(&p)+".lock", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	e.texts = nil
	b.makeMissing(r)
	if len(e.texts) != 0 {
		t.Errorf("the server was asked for %q", e.texts)
	}
}

// A file that another program wrote is not used: changed bytes, a part, the file of another folder
// or model, one signed with another key. It is made anew.
func TestForgedVectors(t *testing.T) {
	e, b := newEmbedder(t), newBench(t)
	b.teach("user", "ask * npm test")
	b.teach("project", "ask * git push", "ask * npm test")
	r := e.ask(b, "yarn test", "user")
	b.makeMissing(r)
	b.makeMissing(e.ask(b, "yarn test", "project"))
	user, project := b.place("user"), b.place("project")
	path := pathOf(&user)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || strings.Contains(path, "user") {
		t.Errorf("%s: %v, %v", path, info, err)
	}
	good := readFile(t, path)
	b.expectServed(r, "npm test", false)
	forged := map[string][]byte{"nothing": {}, "another folder's": readFile(t, pathOf(&project)), "more": append(slices.Clone(good), good[state.SignatureSize:]...)}
	for i := range good {
		if i%7 == 0 {
			changed := slices.Clone(good)
			changed[i] ^= 1
			forged["byte "+string(rune('0'+i/7))], forged["part "+string(rune('0'+i/7))] = changed, good[:i]
		}
	}
	key := slices.Clone(b.key)
	key[0] ^= 1
	m, err := modelOf(r.Embedder)
	if err != nil {
		t.Fatal(err)
	}
	file := fileOf(m, &user, (len(good)-state.SignatureSize)-len(digest{}))
	forged["another key's"] = state.SignedText(key, vectorsPurpose, file.name, good[state.SignatureSize:])
	other := r.Embedder
	other.Model = "other"
	if m, err = modelOf(other); err != nil {
		t.Fatal(err)
	}
	forged["another model's"] = state.SignedText(b.key, vectorsPurpose, fileOf(m, &user, file.dims).name, good[state.SignatureSize:])
	forged["another length's"] = state.SignedText(b.key, vectorsPurpose, fileOf(m, &user, file.dims/2).name, good[state.SignatureSize:])
	for name, data := range forged {
		writeFile(t, path, data)
		if reply, err := (folders{}).answer(t.Context(), r); err != nil || len(reply.Named) != 0 || !reply.Stale {
			t.Errorf("%s: %+v, %v", name, reply, err)
		}
	}
	b.makeMissing(r)
	b.expectServed(r, "npm test", false)
	writeFile(t, path, state.SignedText(b.key, vectorsPurpose, file.name, good[state.SignatureSize:]))
	b.expectServed(r, "npm test", false) // signed in the same way, the text is used
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Without a key or a cache folder nothing is stored. The built-in table needs nothing stored.
func TestWithoutCache(t *testing.T) {
	e, b := newEmbedder(t), newBench(t)
	b.teach("user", "allow * npm test")
	r := b.request("", "yarn test", "user")
	r.Cache = ""
	b.expect(r, "npm test", false)
	b.makeMissing(r)
	r = e.ask(b, "yarn test", "user")
	r.Cache = ""
	b.makeMissing(r)
	b.expectServed(r, "", false)
}

func TestSimilarity(t *testing.T) {
	for _, tt := range []struct {
		a, b []int8
		want float32
	}{
		{[]int8{3, 4}, []int8{6, 8}, 1}, {[]int8{3, 4}, []int8{-3, -4}, -1}, {[]int8{1, 0}, []int8{0, 1}, 0},
		{[]int8{0, 0}, []int8{1, 1}, 0}, {nil, nil, 0}, {[]int8{1}, []int8{1, 1}, 0}, {[]int8{100, 0}, []int8{100, 40}, 0.9284767},
	} {
		if got := similarity(tt.a, tt.b); got != tt.want {
			t.Errorf("%v, %v: %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}
