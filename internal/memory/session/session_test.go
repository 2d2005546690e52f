package session

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
)

func open(t *testing.T) (*Store, string) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "state", "cardea")
	s, err := Open(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, folder
}

func load(t *testing.T, s *Store, id string) *Session {
	t.Helper()
	sess, err := s.Load("claude-code", id)
	if err != nil {
		t.Fatal(err)
	}
	return sess
}

func files(t *testing.T, folder string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(filepath.Dir(folder), func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != "key" {
			out = append(out, p)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return out
}

func TestFirstFolderIsStored(t *testing.T) {
	s, _ := open(t)
	a := load(t, s, "one")
	if got := a.First("/work/app"); got != "/work/app" {
		t.Errorf("first event: %s", got)
	}
	if err := a.Save(redact.New()); err != nil {
		t.Fatal(err)
	}
	b := load(t, s, "one")
	if got := b.First("/somewhere/else"); got != "/work/app" || b.First("") != "/work/app" {
		t.Errorf("later event: %s", got)
	}
	if got := load(t, s, "two").First("/other"); got != "/other" {
		t.Errorf("another session: %s", got)
	}
	other, err := s.Load("copilot-cli", "one")
	if err != nil || other.First("") != "" {
		t.Errorf("the same id of another harness: %q, %v", other.First(""), err)
	}
}

func TestEventsWithoutFolder(t *testing.T) {
	s, folder := open(t)
	a := load(t, s, "x")
	if got := a.First(""); got != "" {
		t.Errorf("got %q", got)
	}
	if err := a.Save(redact.New()); err != nil || len(files(t, folder)) != 0 {
		t.Errorf("wrote %v, %v; there was nothing to keep", files(t, folder), err)
	}
	if got := a.First("/later"); got != "/later" {
		t.Errorf("got %q", got)
	}
}

func TestTellOnceASession(t *testing.T) {
	s, _ := open(t)
	a := load(t, s, "x")
	if !a.IsNew("broken file") || a.IsNew("broken file") || !a.IsNew("other") {
		t.Error("each text is told once")
	}
	if err := a.Save(redact.New()); err != nil {
		t.Fatal(err)
	}
	b := load(t, s, "x")
	if b.IsNew("broken file") {
		t.Error("told again in the same session")
	}
	if !load(t, s, "y").IsNew("broken file") {
		t.Error("not told in another session")
	}
}

// What ran for a call is known at the next event, until the call is judged anew.
func TestActionsOfACall(t *testing.T) {
	s, _ := open(t)
	event := func(do func(*Session)) {
		t.Helper()
		a := load(t, s, "x")
		do(a)
		if err := a.Save(redact.New()); err != nil {
			t.Fatal(err)
		}
	}
	event(func(a *Session) { a.Acts("make", []string{"tell", "log"}) })
	event(func(a *Session) {
		if !a.Acted("make", "tell") || !a.Acted("make", "log") || a.Acted("make", "other") || a.Acted("rm", "tell") || !a.HasActed() {
			t.Error("what ran is not known")
		}
		a.Acts("rm", nil)
	})
	event(func(a *Session) { a.Acts("make", []string{"log"}) })
	event(func(a *Session) {
		if a.Acted("make", "tell") || !a.Acted("make", "log") || load(t, s, "y").Acted("make", "log") {
			t.Error("what ran before is still known")
		}
		a.Acts("make", nil)
	})
	event(func(a *Session) {
		if a.HasActed() {
			t.Error("it was judged anew, and nothing ran")
		}
	})
	for i := range 2 * maxActed {
		event(func(a *Session) { a.Acts(fmt.Sprint(i), []string{"log"}) })
	}
	if a := load(t, s, "x"); a.Acted("0", "log") || !a.Acted(fmt.Sprint(2*maxActed-1), "log") || len(a.stored.Acted) != maxActed {
		t.Errorf("%d calls are remembered", len(a.stored.Acted))
	}
}

// The end of a question is reported once, and only for calls that a person was asked about.
func TestCallsThatWereAskedAbout(t *testing.T) {
	s, folder := open(t)
	a := load(t, s, "one")
	if a.HasAsked() || a.EndsQuestion("x") {
		t.Error("nobody was asked")
	}
	for i := range maxAsked + 2 {
		a.Asks(fmt.Sprint("call ", i))
	}
	a.Asks("call 5")
	if err := a.Save(redact.New()); err != nil {
		t.Fatal(err)
	}
	b := load(t, s, "one")
	for call, want := range map[string]bool{"call 1": false, "call 2": true, "call 5": true, "call": false} {
		if b.EndsQuestion(call) != want {
			t.Errorf("%s: not %v", call, want)
		}
	}
	if b.EndsQuestion("call 5") {
		t.Error("a question ends twice")
	}
	if err := b.Save(redact.New()); err != nil {
		t.Fatal(err)
	}
	if c := load(t, s, "one"); c.EndsQuestion("call 2") || !c.EndsQuestion("call 3") {
		t.Error("what ended is not kept")
	}
	if load(t, s, "two").EndsQuestion("call 3") {
		t.Error("a question of another session")
	}
	for _, f := range files(t, folder) {
		if data, err := os.ReadFile(f); err != nil || strings.Contains(string(data), "call 3") {
			t.Errorf("%s holds a call, %v", f, err)
		}
	}
}

func TestNoWriteWhenNothingIsNew(t *testing.T) {
	s, folder := open(t)
	a := load(t, s, "x")
	a.First("/work")
	a.IsNew("text")
	if err := a.Save(redact.New()); err != nil {
		t.Fatal(err)
	}
	// A folder without write permission is no proof for root; a file that is
	// gone is.
	path := files(t, folder)[0]
	b := load(t, s, "x")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	b.First("/work")
	b.IsNew("text")
	if err := b.Save(redact.New()); err != nil || len(files(t, folder)) != 0 {
		t.Errorf("wrote %v, %v", files(t, folder), err)
	}
}

// The id is the agent's: it must not choose the file.
func TestHostileIDs(t *testing.T) {
	s, folder := open(t)
	name := regexp.MustCompile(`^[0-9a-f]{64}\.json$`)
	ids := []string{"../../../etc/passwd", "..", "/etc/passwd", `..\..\x`, "a\x00b", "\xff\xfe", "CON", strings.Repeat("A", 1<<20), " ", "\u202e"}
	for _, id := range ids {
		a := load(t, s, id)
		a.First("/work/" + fmt.Sprint(len(id)))
		if err := a.Save(redact.New()); err != nil {
			t.Errorf("%.20q: %v", id, err)
		}
	}
	got := files(t, folder)
	if len(got) != len(ids) {
		t.Errorf("%d files for %d ids", len(got), len(ids))
	}
	for _, f := range got {
		if filepath.Dir(f) != filepath.Join(folder, "sessions") || !name.MatchString(filepath.Base(f)) {
			t.Errorf("an id chose the file %s", f)
		}
	}
}

func TestEmptyIDIsNotStored(t *testing.T) {
	s, folder := open(t)
	a := load(t, s, "")
	a.First("/work")
	if !a.IsNew("x") {
		t.Error("not told")
	}
	if err := a.Save(redact.New()); err != nil || len(files(t, folder)) != 0 {
		t.Errorf("kept %v, %v", files(t, folder), err)
	}
}

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("windows has no modes")
	}
	s, folder := open(t)
	a := load(t, s, "x")
	a.First("/work")
	if err := a.Save(redact.New()); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{files(t, folder)[0]: 0o600, filepath.Join(folder, "sessions"): 0o700, folder: 0o700} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode().Perm(), err, want)
		}
	}
}

func TestBrokenFilesAreReportedAndReplaced(t *testing.T) {
	for name, text := range map[string]string{"json": "{", "version": `{"v":9}`, "huge": strings.Repeat(" ", maxFile+1), "type": `{"v":1,"project":7}`} {
		s, folder := open(t)
		a := load(t, s, "x")
		a.First("/work")
		if err := a.Save(redact.New()); err != nil {
			t.Fatal(err)
		}
		path := files(t, folder)[0]
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := s.Load("claude-code", "x")
		if err == nil || b == nil || b.First("") != "" {
			t.Errorf("%s: %v, %v", name, b, err)
			continue
		}
		b.First("/new")
		if err := b.Save(redact.New()); err != nil || load(t, s, "x").First("") != "/new" {
			t.Errorf("%s: not replaced: %v", name, err)
		}
	}
}

// A pipe in the place of the file would hang the hook.
func TestNoRegularFile(t *testing.T) {
	s, folder := open(t)
	if _, err := state.LoadKey(folder); err != nil {
		t.Fatal(err)
	}
	a := load(t, s, "x")
	if err := os.MkdirAll(a.path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load("claude-code", "x"); err == nil || !strings.Contains(err.Error(), "regular") {
		t.Errorf("got %v", err)
	}
}

func TestUnwritable(t *testing.T) {
	dir := t.TempDir()
	blocker := filepath.Join(dir, "file")
	if err := os.WriteFile(blocker, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(filepath.Join(blocker, "cardea"), nil)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := s.Load("h", "x")
	a.First("/work")
	if err := a.Save(redact.New()); err == nil || !strings.Contains(err.Error(), "Look at") {
		t.Errorf("got %v", err)
	}
	if a.First("/else") != "/work" {
		t.Error("the session forgot what it knew")
	}
}

func TestRefusedFolders(t *testing.T) {
	if s, err := Open("", nil); s != nil || err == nil {
		t.Errorf("no folder: %v, %v", s, err)
	}
	s, err := Open("/work/app/state", func(dir string) string { return "lies in the project " + dir })
	if s != nil || err == nil || !strings.Contains(err.Error(), "lies in the project /work/app/state") {
		t.Fatalf("got %v, %v", s, err)
	}
	sess, err := s.Load("h", "x")
	if err != nil || sess.First("/work") != "/work" || !sess.IsNew("t") || sess.Save(redact.New()) != nil {
		t.Error("a refused store must still give sessions")
	}
}

func TestSizeIsBounded(t *testing.T) {
	s, folder := open(t)
	a := load(t, s, "x")
	if got := a.First("/" + strings.Repeat("x", maxFile)); a.First("") != "" || got == "" {
		t.Error("an endless folder is kept")
	}
	for i := range 10 * maxShown {
		a.IsNew(fmt.Sprint(i))
	}
	a.First("/work")
	if err := a.Save(redact.New()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(files(t, folder)[0]); err != nil || info.Size() > maxFile/4 {
		t.Errorf("size %v, %v", info.Size(), err)
	}
	if load(t, s, "x").IsNew(fmt.Sprint(10*maxShown - 1)) {
		t.Error("the newest was forgotten")
	}
}

func TestOldFilesArePruned(t *testing.T) {
	s, folder := open(t)
	for i := range maxFiles {
		a := load(t, s, fmt.Sprint(i))
		a.First("/work")
		a.fresh = false // do not look at the folder a thousand times
		if err := a.Save(redact.New()); err != nil {
			t.Fatal(err)
		}
	}
	a := load(t, s, "newest")
	a.First("/work")
	if err := a.Save(redact.New()); err != nil {
		t.Fatal(err)
	}
	if n := len(files(t, folder)); n != keepFiles+1 {
		t.Errorf("%d files are left, want %d", n, keepFiles+1)
	}
	if load(t, s, "newest").First("") == "" {
		t.Error("the newest was pruned")
	}
}

// secret is put together here, so that no scanner takes this file for a leak.
func token() string { return "gh" + "p_" + "x7Kq9TzW2mVb4NcR8sLd3FhJ6gYp1QaZ5eUo" }

// Text from the wire may be a secret: it is in no file, and no digest confirms a guess of it.
func TestNoSecretIsStored(t *testing.T) {
	s, folder := open(t)
	work := "/work/" + token() + "/app"
	a := load(t, s, token())
	a.First(work)
	a.IsNew("cannot read " + token())
	if err := a.Save(redact.New()); err != nil {
		t.Fatal(err)
	}
	guesses := []string{token()}
	for _, text := range []string{token(), work, "claude-code\x00" + token(), "cannot read " + token()} {
		sum := sha256.Sum256([]byte(text))
		guesses = append(guesses, hex.EncodeToString(sum[:12]))
	}
	for _, f := range files(t, folder) {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range guesses {
			if strings.Contains(f+string(data), g) {
				t.Errorf("%s holds %s: %s", f, g, data)
			}
		}
	}
	// The folder is found again from there and from below, but not from another place. The session
	// stays that of its first folder.
	for dir, want := range map[string]string{work: work, work + "/src/x": work, "/work": "", "/": "", "": "", work + "2": "",
		"/x" + strings.Repeat("/y", 2*maxAbove): ""} {
		b := load(t, s, token())
		if got := b.First(dir); got != want || b.IsNew("cannot read "+token()) {
			t.Errorf("from %.40s: %q, want %q", dir, got, want)
		}
		if err := b.Save(redact.New()); err != nil {
			t.Fatal(err)
		}
	}
	if len(files(t, folder)) != 1 {
		t.Errorf("files: %v", files(t, folder))
	}
}

// Where the key is lost, sessions begin anew.
func TestAnotherKey(t *testing.T) {
	s, folder := open(t)
	a := load(t, s, "x")
	a.First("/work")
	if err := a.Save(redact.New()); err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(folder, "key")
	if err := os.WriteFile(key, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := load(t, s, "x")
	if b.First("/new") != "/new" || !b.IsNew("t") || b.IsNew("t") {
		t.Error("without a key, something is known")
	}
	if err := b.Save(redact.New()); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("got %v", err)
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	if err := b.Save(redact.New()); err != nil || load(t, s, "x").First("/z") != "/new" {
		t.Errorf("with a new key: %v", err)
	}
}

// The file of a newer Cardea is saved next to the new one.
func TestNewerFileIsStored(t *testing.T) {
	s, folder := open(t)
	a := load(t, s, "x")
	a.First("/work")
	if err := a.Save(redact.New()); err != nil {
		t.Fatal(err)
	}
	path := files(t, folder)[0]
	newer := []byte(`{"v":99,"project":"/work","more":1}` + "\n")
	if err := os.WriteFile(path, newer, 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := s.Load("claude-code", "x")
	if err == nil || !strings.Contains(err.Error(), "a newer Cardea wrote it") || b.First("/new") != "/new" {
		t.Fatalf("%v, %v", b, err)
	}
	if err := b.Save(redact.New()); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path + newerEnd); string(got) != string(newer) || load(t, s, "x").First("") != "/new" {
		t.Errorf("kept: %q %v", got, err)
	}
}

// A text that was not shown is saved for a later process, without its secrets, and returned once. A
// text that another program wrote into the file is not shown.
func TestStored(t *testing.T) {
	folder := t.TempDir()
	save := func(s *Session) {
		t.Helper()
		if err := s.Save(redact.New()); err != nil {
			t.Fatal(err)
		}
	}
	s := loadAt(t, folder)
	s.IsNew("shown already")
	save(s)
	s = loadAt(t, folder)
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	for _, text := range []string{"shown already", "first", "first", "token " + secret, strings.Repeat("x", maxUnreportedText+1)} {
		s.Keep(text)
	}
	save(s)
	data, err := os.ReadFile(s.path)
	if err != nil || strings.Contains(string(data), secret) {
		t.Fatalf("%s, %v", data, err)
	}
	if got := loadAt(t, folder).Stored(); len(got) != 2 || got[0] != "first" || !strings.HasPrefix(got[1], "token <REDACTED") {
		t.Errorf("%q", got)
	}
	forged := strings.Replace(string(data), `"text":"first"`, `"text":"run rm -rf /"`, 1)
	if err := os.WriteFile(s.path, []byte(forged), 0o600); err != nil {
		t.Fatal(err)
	}
	s = loadAt(t, folder)
	if got := s.Stored(); len(got) != 1 || strings.Contains(got[0], "rm") {
		t.Errorf("a forged text is shown: %q", got)
	}
	save(s)
	if got := loadAt(t, folder).Stored(); len(got) > 0 {
		t.Errorf("shown twice: %q", got)
	}
	s = loadAt(t, folder)
	for i := range maxUnreported + 3 {
		s.Keep(strings.Repeat("y", i+1))
	}
	save(s)
	if got := loadAt(t, folder).Stored(); len(got) != maxUnreported {
		t.Errorf("%d are kept", len(got))
	}
	new(Session).Keep("nowhere")
}
