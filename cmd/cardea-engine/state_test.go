package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cardea.dev/internal/ask/judge/fakeprovider"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/hook"
	remembered "cardea.dev/internal/memory/lesson"
	"cardea.dev/internal/memory/session"
	"cardea.dev/internal/testing/testrun"

	"cardea.dev"
)

// callsOfState are calls that a record in the state folder decides.
var callsOfState = []string{
	"touch tests/a.txt",         // the role denies it
	"touch src/a.txt",           // the role allows it
	"cat src/a.txt",             // it only reads
	"./tool.sh --all",           // a lesson allows it
	"python3 -m planted",        // no rule allows it
	"git push --force origin x", // a rule denies it
	"frobnicate x",              // an unknown program
	"echo x > new.log",          // new output
}

// No damage of a record in the state folder lets a call run that did not run before: a
// changed byte, a cut, an empty or missing file, an older copy, or the file of another.
func TestDamagedStateAllowsNothing(t *testing.T) { damagedState(t, "learn: auto\n", "PreToolUse") }

// The same with a judge that allows everything, at the harness's prompt.
func TestDamagedStateWithAJudge(t *testing.T) {
	if !testrun.Long() {
		t.Skip("set CARDEA_LONG=1")
	}
	server := fakeprovider.Start(t)
	server.Answer(func(fakeprovider.Asked) fakeprovider.Behaviour {
		return fakeprovider.Behaviour{Text: `{"decision":"allow","confidence":1,"reason":"fine","rule":null}`}
	})
	damagedState(t, "judge: {enabled: true, chain: [{type: ollama, endpoint: '"+server.Endpoint("ollama")+"'}]}\n", "PermissionRequest")
}

func damagedState(t *testing.T, settings, event string) {
	s := install(t)
	folder := filepath.Join(s.home, ".local/state/cardea")
	for _, name := range []string{"src", "tests"} {
		if err := os.MkdirAll(filepath.Join(s.work, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.write(filepath.Join(s.work, "tool.sh"), "#!/bin/sh\n")
	s.write(filepath.Join(s.work, "src/a.txt"), "x\n")
	s.write(filepath.Join(s.home, ".config/cardea/cardea.yaml"), settings)
	key, err := state.LoadKey(folder)
	if err != nil {
		t.Fatal(err)
	}
	s.teach(key, "./tool.sh --all")
	store, err := session.Open(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	role := func(id, name string) {
		if _, err := store.Register(id, time.Now(), func(r *session.Registered) error {
			return r.Put(session.Registration{Role: name, RegisteredAt: time.Now(), RegisteredBy: "person:test"})
		}); err != nil {
			t.Fatal(err)
		}
	}
	role("s", "maintainer")
	s.answers(event)
	older := copied(t, folder) // in this one, the session may do more
	role("s", "coder")
	role("other", "maintainer")
	before := s.answers(event)
	if before[0] != "deny" || before[3] != "allow" {
		t.Fatalf("the set-up: %v", before)
	}
	now := copied(t, folder)
	tried := 0
	for name, data := range now {
		if name == "key" || strings.HasSuffix(name, ".lock") {
			continue // the key is tested below
		}
		for how, text := range damages(name, data, now, older) {
			restored(t, folder, now)
			path := filepath.Join(folder, name)
			if text == nil {
				err = os.Remove(path)
			} else {
				err = os.WriteFile(path, *text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			tried++
			for i, got := range s.answers(event) {
				asks := got == "ask" || got == "" && event == "PermissionRequest" // the harness's own prompt
				if got == "allow" && before[i] != "allow" || before[i] == "deny" && got != "deny" && !asks {
					t.Errorf("%s, %s: %q is at %s, and was at %s", name, how, callsOfState[i], got, before[i])
				}
			}
		}
	}
	if tried < 20 {
		t.Errorf("only %d records were damaged", tried)
	}
	// Another key, and none.
	for how, change := range map[string]func(path string) error{
		"another": func(path string) error { return os.WriteFile(path, make([]byte, state.KeySize), 0o600) }, "missing": os.Remove,
	} {
		restored(t, folder, now)
		if err := change(filepath.Join(folder, "key")); err != nil {
			t.Fatal(err)
		}
		for i, got := range s.answers(event) {
			silent := got == "" && before[i] == "deny" && event == "PreToolUse"
			if got == "allow" && before[i] != "allow" || silent {
				t.Errorf("key, %s: %q is at %s, and was at %s", how, callsOfState[i], got, before[i])
			}
		}
	}
}

// damages returns changed contents of a file by the kind of damage. nil is a removed file.
func damages(name string, data []byte, now, older map[string][]byte) map[string]*[]byte {
	changed, cut, empty := append([]byte(nil), data...), data[:len(data)/2], []byte{}
	if len(changed) > 0 {
		changed[len(changed)*3/4] ^= 1
	}
	out := map[string]*[]byte{"changed": &changed, "cut": &cut, "empty": &empty, "missing": nil}
	if old, was := older[name]; was && string(old) != string(data) {
		out["older"] = &old
	}
	for other, text := range now {
		if other != name && filepath.Dir(other) == filepath.Dir(name) && string(text) != string(data) {
			out["copied from "+other] = &text
		}
	}
	return out
}

// answers returns the answers to callsOfState at an event, in a session with a role.
func (s *fixture) answers(event string) []string {
	var out []string
	for _, command := range callsOfState {
		got := s.run(fmt.Sprintf(`{"session_id":"s","cwd":%q,"permission_mode":"default","hook_event_name":%q,"tool_name":"Bash","tool_input":{"command":%q}}`, s.work, event, command),
			"check", "--harness", "claude-code", "--limit", "20s")
		_, after, found := strings.Cut(got, `"permissionDecision":"`)
		if !found {
			_, after, _ = strings.Cut(got, `"behavior":"`)
		}
		effect, _, _ := strings.Cut(after, `"`)
		out = append(out, effect)
	}
	return out
}

// teach makes a lesson of the person that allows a line.
func (s *fixture) teach(key []byte, line string) {
	s.t.Helper()
	ev := &cardea.Event{Kind: cardea.PreToolUse, Cwd: s.work, Project: s.work, Call: &cardea.Call{Tool: "Bash", Known: true, Input: map[string]any{"command": line}}}
	ev = hook.Analysis(s.home, func(string) bool { return false })(ev)
	drafts, err := remembered.NewKeyer(redact.New(), key, s.work).DraftsOf(ev, cardea.Allow)
	if err != nil {
		s.t.Fatal(err)
	}
	text, err := drafts[0].Text()
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(filepath.Join(s.home, ".config/cardea/lessons/allow.jsonl"), strings.Replace(strings.Replace(string(text), `"by":""`, `"by":"person"`, 1), `"role":""`, `"role":"coder"`, 1)+"\n")
}

// copied returns the contents of the files in a folder.
func copied(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(folder, path)
		if err == nil {
			out[rel], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// restored replaces the content of a folder by files.
func restored(t *testing.T, folder string, files map[string][]byte) {
	t.Helper()
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
