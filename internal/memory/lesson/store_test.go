package lesson

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
)

var when = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// here returns a shared folder with a key, a state and a cache folder.
func here(t testing.TB) ScopeFolder {
	t.Helper()
	root := t.TempDir()
	p := ScopeFolder{Dir: filepath.Join(root, "p", ".cardea"), Scope: cardea.ScopeProject, Shared: true, State: filepath.Join(root, "state"), Cache: filepath.Join(root, "cache")}
	key, err := state.LoadKey(p.State)
	if err != nil {
		t.Fatal(err)
	}
	p.Key = key
	return p
}

func writer(t testing.TB, p ScopeFolder) *Writer {
	t.Helper()
	w, err := NewWriter(p)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func draft(effect cardea.Effect, subject string) Draft {
	text := redact.New().Text
	return Draft{Effect: effect, Tool: text("Bash"), Subject: text(subject), Role: text("tester"), Dir: text("."), By: ByPerson, Who: text("liam"), When: when, Reason: text("test run")}
}

func teach(t testing.TB, p ScopeFolder, drafts ...Draft) {
	t.Helper()
	if err := writer(t, p).Teach(drafts...); err != nil {
		t.Fatal(err)
	}
}

// found returns the effects and origins of the lessons about a subject: "allow own 1".
func found(s *Store, subject string) (out []string) {
	for _, f := range s.Lookup(subject) {
		own := ""
		if f.Own {
			own = "own "
		}
		out = append(out, fmt.Sprintf("%s %s%d", f.Effect, own, f.Line))
	}
	slices.Sort(out)
	return out
}

func expect(t *testing.T, p ScopeFolder, want map[string]string) {
	t.Helper()
	s := Open(p)
	defer s.Close()
	for subject, list := range want {
		if got := strings.Join(found(s, subject), ", "); got != list {
			t.Errorf("%s: %q, want %q", subject, got, list)
		}
	}
}

func file(p ScopeFolder, name string) string { return filepath.Join(Folder(p.Dir), name) }

func contents(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

const sample = `{"v":1,"effect":"allow","tool":"Bash","subject":"pytest --cov tests/auth","role":"tester","dir":".","by":"person",` +
	`"who":"liam","when":"2026-11-20T10:00:00Z","reason":"test run","files":{},"expires":""}`

// A line is written as the page of the format shows it, and read back the same.
func TestLine(t *testing.T) {
	d := draft(cardea.Allow, "pytest --cov tests/auth")
	l := d.line()
	if got := l.text(); got != sample {
		t.Errorf("written as\n%s, want\n%s", got, sample)
	}
	back, err := ParseLine(sample)
	if err != nil || back.text() != sample {
		t.Errorf("%v: read as\n%s", err, back.text())
	}
	full := Line{Record: Record{Effect: cardea.Deny, Tool: "Write", Subject: "sr\u00fc \"q\"\n\u2028x", Kind: Move, Role: "*", Dir: "*", Unsandboxed: true, By: ByJudge, Who: "\\", When: when,
		Files: map[string]string{"a\tb": "sha256:1", "": ""}, Expires: when.Add(time.Hour), Model: "m", Prompt: "p", Policy: "q"}}
	if back, err := ParseLine(full.text()); err != nil || back.text() != full.text() {
		t.Errorf("%v: %s, want %s", err, back.text(), full.text())
	}
}

// What this version does not know for certain is no lesson.
func TestLinesThatAreNone(t *testing.T) {
	change := func(old, new string) string { return strings.Replace(sample, old, new, 1) }
	for name, line := range map[string]string{
		"an unknown key":         change(`"dir"`, `"only_on":"monday","dir"`),
		"a double key":           change(`"role":"tester"`, `"role":"tester","role":"*"`),
		"another version":        change(`"v":1`, `"v":2`),
		"version 10":             change(`"v":1`, `"v":10`),
		"no version":             change(`"v":1,`, ``),
		"no role":                change(`"role":"tester",`, ``),
		"no folder":              change(`"dir":"."`, `"dir":""`),
		"an allow for anywhere":  change(`"dir":"."`, `"dir":"*"`),
		"an effect of the gate":  change(`"allow"`, `"halt"`),
		"a conflict of git":      "<<<<<<< HEAD",
		"more behind it":         sample + "{}",
		"a list":                 "[" + sample + "]",
		"a number for a text":    change(`"liam"`, `7`),
		"no UTF-8":               change(`liam`, "\xff"),
		"half a character":       change(`liam`, `\ud800`),
		"a bare control":         change(`liam`, "\x01"),
		"no end":                 sample[:len(sample)-1],
		"a time in words":        change(`2026-11-20T10:00:00Z`, `yesterday`),
		"a kind that is none":    change(`"role"`, `"kind":"touch","role"`),
		"half a removal":         `{"v":1,"removes":"12"}`,
		"a removal and a lesson": change(`"effect"`, `"removes":"`+strings.Repeat("0", 64)+`","effect"`),
		"a case variant":         change(`"role"`, `"Role":"*","role"`),
	} {
		if l, err := ParseLine(line); err == nil {
			t.Errorf("%s is read as %+v", name, l)
		}
	}
}

func FuzzParseLine(f *testing.F) {
	f.Add(sample)
	f.Add(`{"v":1,"removes":"` + strings.Repeat("ab", 32) + `","by":"person","who":"x","when":""}`)
	f.Add(strings.Replace(sample, `{}`, `{"a":"sha256:b"}`, 1))
	f.Fuzz(func(t *testing.T, line string) {
		l, err := ParseLine(line)
		if err != nil {
			return
		}
		again, err := ParseLine(l.text())
		if err != nil || again.text() != l.text() {
			t.Errorf("%q is written as %q: %v", line, l.text(), err)
		}
	})
}

// Files are sorted, hold each lesson once, and are found again.
func TestTeach(t *testing.T) {
	p := here(t)
	for _, s := range []string{"b", "a", "c"} {
		teach(t, p, draft(cardea.Allow, s))
	}
	teach(t, p, draft(cardea.Deny, "a"), draft(cardea.Ask, "x"), draft(cardea.Allow, "a"))
	text := contents(t, file(p, "allow.jsonl"))
	if lines := strings.Split(strings.TrimSpace(text), "\n"); len(lines) != 3 || !slices.IsSorted(lines) {
		t.Errorf("not three lines in order:\n%s", text)
	}
	expect(t, p, map[string]string{"a": "allow own 1, deny own 1", "b": "allow own 2", "c": "allow own 3", "x": "ask own 1", "d": ""})
	if s := Open(p); s.NeedsBuild() || len(s.Issues()) > 0 {
		t.Errorf("something is left to do: %v", s.Issues())
	}
}

// many teaches so many lessons at once that an index is made.
func many(t testing.TB, p ScopeFolder, effect cardea.Effect, n int) {
	t.Helper()
	list := make([]Draft, n)
	one := draft(effect, "x")
	r := redact.New()
	for i := range list {
		list[i] = one
		list[i].Subject = r.Text(fmt.Sprintf("make target-%d", i))
	}
	teach(t, p, list...)
	if _, err := writer(t, p).Build(time.Second); err != nil {
		t.Fatal(err)
	}
}

// An index finds what the files hold, also what was added since it was made, and does
// so by itself: the file is not read as a whole.
func TestIndex(t *testing.T) {
	p := here(t)
	many(t, p, cardea.Allow, 1500)
	s := Open(p)
	defer s.Close()
	for i := range 1500 {
		subject := fmt.Sprintf("make target-%d", i)
		if got := found(s, subject); len(got) != 1 || !strings.HasPrefix(got[0], "allow own ") {
			t.Fatalf("%s: %v", subject, got)
		}
	}
	if got := found(s, "make target-1500"); got != nil || len(s.Unindexed()) != 0 || s.NeedsBuild() {
		t.Errorf("%v, %d lessons outside of the index", got, len(s.Unindexed()))
	}
	for i := range 2 * maxTail {
		teach(t, p, draft(cardea.Allow, fmt.Sprintf("later %d", i)))
		s := Open(p)
		if got := found(s, fmt.Sprintf("later %d", i)); len(got) != 1 || !strings.Contains(got[0], "own") || s.NeedsBuild() {
			t.Fatalf("later %d: %v, stale: %v", i, got, s.NeedsBuild())
		}
		s.Close()
	}
	// The line is the one of the file.
	s = Open(p)
	f := s.Lookup("later 7")[0]
	if line := strings.Split(contents(t, f.File), "\n")[f.Line-1]; !strings.Contains(line, `"later 7"`) {
		t.Errorf("line %d is %s", f.Line, line)
	}
}

// After a change without the index, the strict reading applies: denies and asks at once, allows of
// a large file when the index was rebuilt.
func TestStaleIndex(t *testing.T) {
	p := here(t)
	many(t, p, cardea.Allow, 1000)
	many(t, p, cardea.Deny, 1000)
	deny := file(p, "deny.jsonl")
	text := contents(t, deny)
	put(t, deny, strings.Replace(text, `"make target-5"`, `"make other-5!"`, 1)) // as long as before
	expect(t, p, map[string]string{"make target-5": "allow own 446", "make other-5!": "deny 446"})
	s := Open(p)
	if !s.NeedsBuild() {
		t.Error("nobody makes the index again")
	}
	allow := file(p, "allow.jsonl")
	put(t, allow, contents(t, allow)+sample+"\n")
	expect(t, p, map[string]string{"make target-7": "deny own 668", "pytest --cov tests/auth": ""})
	if _, err := writer(t, p).Build(time.Second); err != nil {
		t.Fatal(err)
	}
	expect(t, p, map[string]string{"make target-7": "allow own 668, deny own 668", "pytest --cov tests/auth": "allow 1001", "make target-5": "allow own 446"})
}

// A forged, changed or moved index is ignored, and lessons that it hid apply.
func TestForgedIndex(t *testing.T) {
	for name, forge := range map[string]func(p ScopeFolder, head, pages string){
		"a head with another byte": func(_ ScopeFolder, head, _ string) { flip(t, head, state.SignatureSize+40) },
		"pages with another byte":  func(_ ScopeFolder, _, pages string) { flip(t, pages, 100) },
		"pages cut short":          func(_ ScopeFolder, _, pages string) { put(t, pages, contents(t, pages)[:pageSize/2]) },
		"no pages":                 func(_ ScopeFolder, _, pages string) { _ = os.Remove(pages) },
		"no head":                  func(_ ScopeFolder, head, _ string) { _ = os.Remove(head) },
		"an empty head":            func(_ ScopeFolder, head, _ string) { put(t, head, "") },
		"a head cut short":         func(_ ScopeFolder, head, _ string) { put(t, head, contents(t, head)[:state.SignatureSize+60]) },
		"a folder as head": func(_ ScopeFolder, head, _ string) {
			_ = os.Remove(head)
			put(t, filepath.Join(head, "x"), "")
		},
		"a head that leads elsewhere": func(_ ScopeFolder, head, _ string) {
			text := contents(t, head)
			put(t, head+"-elsewhere", text)
			_ = os.Remove(head)
			if err := os.Symlink(head+"-elsewhere", head); err != nil {
				t.Fatal(err)
			}
		},
		"a head by another key": func(p ScopeFolder, head, _ string) {
			other := p
			other.Key = slices.Repeat([]byte{7}, state.KeySize)
			if err := other.writeHead(p.readHead()); err != nil {
				t.Fatal(err)
			}
			put(t, head, contents(t, other.headPath()))
		},
		"the pages of another folder": func(p ScopeFolder, _, pages string) {
			other := p
			other.Dir = filepath.Join(t.TempDir(), ".cardea")
			many(t, other, cardea.Deny, 1000)
			put(t, pages, contents(t, filepath.Join(other.cacheFolder(), other.readHead().pages)))
		},
		"the pages of an older index": func(p ScopeFolder, _, pages string) {
			old := contents(t, pages)
			if _, err := writer(t, p).Build(time.Minute); err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(p.cacheFolder(), p.readHead().pages), old)
		},
		"two pages exchanged": func(_ ScopeFolder, _, pages string) {
			text := contents(t, pages)
			put(t, pages, text[pageSize:2*pageSize]+text[:pageSize]+text[2*pageSize:])
		},
		"the index of another folder": func(p ScopeFolder, head, _ string) {
			other := p
			other.Dir = filepath.Join(t.TempDir(), ".cardea")
			many(t, other, cardea.Deny, 1)
			put(t, head, contents(t, other.headPath()))
		},
	} {
		p := here(t)
		many(t, p, cardea.Deny, 1000)
		h := p.readHead()
		if h == nil || h.pages == "" {
			t.Fatal("no index")
		}
		forge(p, p.headPath(), filepath.Join(p.cacheFolder(), h.pages))
		s := Open(p)
		for i := range 1000 {
			if got := found(s, fmt.Sprintf("make target-%d", i)); len(got) != 1 || !strings.HasPrefix(got[0], "deny") {
				t.Errorf("%s: target %d: %v", name, i, got)
				break
			}
		}
		if !s.NeedsBuild() {
			t.Errorf("%s: nobody makes the index again", name)
		}
	}
}

// A lesson that a person removed stays removed, even if older files and an older index are put back
// with their older times.
func TestReplayedIndex(t *testing.T) {
	p := here(t)
	many(t, p, cardea.Allow, 1000)
	allow, headFile := file(p, "allow.jsonl"), p.headPath()
	pages := filepath.Join(p.cacheFolder(), p.readHead().pages)
	oldLines, oldHead, oldPages := contents(t, allow), contents(t, headFile), contents(t, pages)
	info, err := os.Stat(allow)
	if err != nil {
		t.Fatal(err)
	}
	s := Open(p)
	taken := s.Lookup("make target-5")
	s.Close()
	if len(taken) != 1 || !taken[0].Counts() {
		t.Fatal(taken)
	}
	if n, err := writer(t, p).Remove([]ID{taken[0].ID}, ByPerson, redact.New().Text("liam"), when); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	replay := func(what string, files map[string]string) {
		t.Helper()
		for path, text := range files {
			// In place, so that it is the same file for the system.
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC|os.O_CREATE, 0o600)
			if err == nil {
				_, err = f.WriteString(text)
			}
			if err = errors.Join(err, f.Close(), os.Chtimes(path, info.ModTime(), info.ModTime())); err != nil {
				t.Fatal(err)
			}
		}
		s := Open(p)
		defer s.Close()
		for _, f := range s.Lookup("make target-5") {
			if f.Counts() {
				t.Errorf("%s: the lesson counts again", what)
			}
		}
	}
	replay("the older index", map[string]string{headFile: oldHead, pages: oldPages})
	replay("the older lines", map[string]string{allow: oldLines})
	replay("both", map[string]string{allow: oldLines, headFile: oldHead, pages: oldPages})
	if _, err := writer(t, p).Build(time.Minute); err != nil {
		t.Fatal(err)
	}
	replay("the older lines with an index of them", nil)
}

// A line that is replaced by another one of the same length, with the file's times put back, is
// read in its current form: the index's memory of it is ignored.
func TestSameTimes(t *testing.T) {
	p := here(t)
	many(t, p, cardea.Allow, 1000)
	many(t, p, cardea.Deny, 1000)
	for _, name := range []string{"allow.jsonl", "deny.jsonl"} {
		path := file(p, name)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		text := []byte(strings.Replace(contents(t, path), `"make target-5"`, `"make other-5!"`, 1))
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteAt(text, 0)
		}
		if err = errors.Join(err, f.Close(), os.Chtimes(path, info.ModTime(), info.ModTime())); err != nil {
			t.Fatal(err)
		}
	}
	s := Open(p)
	defer s.Close()
	for subject, want := range map[string]string{"make target-5": "", "make other-5!": "deny 446", "make target-7": "deny own 668"} {
		if got := strings.Join(found(s, subject), ", "); got != want {
			t.Errorf("%s: %q, want %q", subject, got, want)
		}
	}
	if !s.NeedsBuild() {
		t.Error("nobody makes the index again")
	}
}

func flip(t testing.TB, path string, at int) {
	b := []byte(contents(t, path))
	b[at] ^= 1
	put(t, path, string(b))
}

// A line from another place, or one that was edited, is not the user's own.
func TestOwnLines(t *testing.T) {
	p := here(t)
	teach(t, p, draft(cardea.Allow, "npm test"), draft(cardea.Deny, "npm publish"))
	allow := file(p, "allow.jsonl")
	edited := strings.Replace(contents(t, allow), "npm test", "rm -rf .", 1)
	put(t, allow, edited+strings.Replace(sample, "pytest", "jest", 1)+"\n")
	expect(t, p, map[string]string{"npm test": "", "rm -rf .": "allow 1", "jest --cov tests/auth": "allow 2", "npm publish": "deny own 1"})
	// A copy of the folder has no own lines, nor has a forged list.
	other := p
	other.Dir = filepath.Join(t.TempDir(), ".cardea")
	put(t, file(other, "allow.jsonl"), sample+"\n")
	id := IDOf(sample)
	for _, signature := range [][]byte{make([]byte, state.SignatureSize), p.ownEntry(id)[len(id):]} {
		put(t, other.ownPath(), string(slices.Concat(other.newOwn(), id[:], signature)))
		expect(t, other, map[string]string{"pytest --cov tests/auth": "allow 1"})
	}
	if err := writer(t, other).Accept([]ID{id}); err != nil {
		t.Fatal(err)
	}
	expect(t, other, map[string]string{"pytest --cov tests/auth": "allow own 1"})
}

// A removed lesson stays removed, even if a merge brings its line back. Learned again, it applies.
func TestRemove(t *testing.T) {
	for _, shared := range []bool{true, false} {
		p := here(t)
		p.Shared = shared
		teach(t, p, draft(cardea.Allow, "npm test"), draft(cardea.Deny, "npm publish"))
		before := contents(t, file(p, "allow.jsonl"))
		f := Open(p).Lookup("npm test")[0]
		n, err := writer(t, p).Remove([]ID{f.ID}, ByPerson, redact.New().Text("liam"), when)
		if n != 1 || err != nil {
			t.Fatal(n, err)
		}
		expect(t, p, map[string]string{"npm test": "", "npm publish": "deny own 1"})
		if shared {
			put(t, file(p, "allow.jsonl"), contents(t, file(p, "allow.jsonl"))+before)
			expect(t, p, map[string]string{"npm test": ""})
		}
		again := draft(cardea.Allow, "npm test")
		again.When = when.Add(time.Second)
		teach(t, p, again)
		if got := found(Open(p), "npm test"); len(got) != 1 || !strings.HasPrefix(got[0], "allow own") {
			t.Errorf("learned again: %v", got)
		}
	}
}

// A broken line has the effect of the failure table. The other lines apply, and so does the last
// valid form.
func TestBrokenLines(t *testing.T) {
	p := here(t)
	p.Shared = false
	stored := map[string]string{}
	p.Note = func(path, text string, _ time.Time) { stored[path] = text }
	p.LastGood = func(path string) []byte {
		if stored[path] == "" {
			return nil
		}
		return []byte(stored[path])
	}
	teach(t, p, draft(cardea.Deny, "npm publish"), draft(cardea.Deny, "npm login"), draft(cardea.Allow, "npm test"))
	_ = Open(p).Issues()
	deny := file(p, "deny.jsonl")
	good := contents(t, deny)
	put(t, deny, strings.Replace(good, `"effect":"deny"`, `"effect":"dney"`, 1))
	s := Open(p)
	if got := s.Issues(); len(got) != 1 || got[0].Failure != cardea.StoredForm || got[0].Diagnostic.Line != 1 || got[0].Diagnostic.File != deny {
		t.Errorf("%+v", got)
	}
	if len(found(s, "npm login")) != 1 || len(found(s, "npm publish")) != 1 {
		t.Error("a deny is lost")
	}
	clear(stored)
	if got := Open(p).Issues(); len(got) != 1 || got[0].Failure != cardea.BrokenFile {
		t.Errorf("without a last good form: %+v", got)
	}
	put(t, deny, good)
	allow := file(p, "allow.jsonl")
	put(t, allow, "no\n"+contents(t, allow))
	if got := Open(p).Issues(); len(got) != 1 || got[0].Failure != cardea.NoFailure {
		t.Errorf("an allow that cannot be read: %+v", got)
	}
	expect(t, p, map[string]string{"npm test": "allow own 2"})
}

// Who taught a lesson is one of the words that Cardea writes. Another spelling of judge
// would not be bound to the judge.
func TestWhoTaught(t *testing.T) {
	for by, good := range map[string]bool{"person": true, "judge": true, "": true, "Judge": false, "judge ": false, "robot": false} {
		line := fmt.Sprintf(`{"v":1,"effect":"allow","tool":"Bash","subject":"make","role":"","dir":".","by":%q}`, by)
		if _, err := ParseLine(line); (err == nil) != good {
			t.Errorf("%q: %v", by, err)
		}
	}
}
