package transcript

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev"
)

// session makes a folder of Claude Code with a file of a session.
func session(t *testing.T, rows string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	write(t, filepath.Join(folder, "projects/-srv-app/s-1.jsonl"), rows)
	return folder
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// result returns a row about a call.
func result(id, fields string) string {
	return `{"type":"user",` + fields + `,"message":{"content":[{"type":"tool_result","tool_use_id":"` + id + `"}]}}` + "\n"
}

// The rows that Claude Code 2.1.332 wrote.
func TestRowsOfTheClient(t *testing.T) {
	data, err := os.ReadFile("testdata/claude-code-2.1.332.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	got := Decisions("claude-code", session(t, string(data)), "s-1")
	for id, want := range map[string]cardea.Review{
		"toolu_01": {By: "classifier", Effect: cardea.Deny, Reason: says + "automode-blocked, classifier:auto-mode"},
		"toolu_02": {By: "classifier", Effect: cardea.Deny, Reason: says + "automode-unavailable, classifier:auto-mode:unavailable"},
		"toolu_03": {By: "classifier", Effect: cardea.Deny, Reason: says + "automode-parsing-error, classifier:auto-mode:no-verdict"},
		"toolu_04": {By: "harness", Effect: cardea.Allow, Reason: says},
	} {
		if got[id] != want {
			t.Errorf("%s: %+v", id, got[id])
		}
	}
}

// Decisions of every kind.
func TestRows(t *testing.T) {
	for fields, want := range map[string]cardea.Review{
		`"toolDenialKind":"permission-rule","permissionDecision":{"decision":"reject","source":"hook","reasonType":"hook"}`:                  {By: "hook", Effect: cardea.Deny},
		`"permissionDecision":{"decision":"accept","source":"hook"}`:                                                                         {By: "hook", Effect: cardea.Allow},
		`"permissionDecision":{"decision":"accept","source":"user_temporary","grantScope":"once"}`:                                           {By: "person", Effect: cardea.Allow},
		`"toolDenialKind":"user-rejected","permissionDecision":{"decision":"reject","source":"user_reject"}`:                                 {By: "person", Effect: cardea.Deny},
		`"permissionDecision":{"decision":"accept","source":"config","reasonType":"rule","ruleSource":"userSettings"}`:                       {By: "list", Effect: cardea.Allow},
		`"toolDenialKind":"permission-rule","permissionDecision":{"decision":"reject","source":"config","reasonType":"rule"}`:                {By: "list", Effect: cardea.Deny},
		`"toolDenialKind":"user-rejected","permissionDecision":{"decision":"reject","source":"config","reasonCode":"hook:PreToolUse"}`:       {By: "nobody", Effect: cardea.Deny},
		`"sandboxed":true,"permissionDecision":{"decision":"accept","source":"config","reasonType":"other","reasonCode":"sandboxAutoAllow"}`: {By: "sandbox", Effect: cardea.Allow},
		`"sandboxed":true,"permissionDecision":{"decision":"accept","source":"config","reasonType":"rule"}`:                                  {By: "list", Effect: cardea.Allow},
		`"toolDenialKind":"automode-blocked"`:        {By: "classifier", Effect: cardea.Deny},
		`"toolDenialKind":"something-new"`:           {Effect: cardea.Deny},
		`"permissionDecision":{"decision":"accept"}`: {Effect: cardea.Allow},
		`"permissionDecision":{"decision":"new"}`:    {},
	} {
		got := Decisions("claude-code", session(t, result("c", fields)), "s-1")["c"]
		if got.Reason = ""; got != want {
			t.Errorf("%s: %+v", fields, got)
		}
	}
}

// What is no row is left out, and the rest is read.
func TestUnusualRows(t *testing.T) {
	ok := result("c", `"permissionDecision":{"decision":"accept","source":"user_temporary"}`)
	for _, unusual := range []string{"", "\n\n", "not JSON \"tool_result\"\n", `["tool_result"]` + "\n", `{"message":"tool_result"}` + "\n", `{"permissionDecision":"tool_result"}` + "\n",
		"\x00\xff\"tool_result\"\n", result("", `"toolDenialKind":"user-rejected"`), result("c", `"x":"`+strings.Repeat("y", maxRow)+`","toolDenialKind":"user-rejected"`),
		result("c", `"toolDenialKind":7,"permissionDecision":{"decision":[]}`), result("c", `"toolDenialKind":"user-rejected"`)} {
		if got := Decisions("claude-code", session(t, unusual+ok), "s-1"); len(got) != 1 || got["c"].Effect != cardea.Allow {
			t.Errorf("%.60q: %+v", unusual, got)
		}
	}
	cut := ok + `{"type":"user","toolDenialKind":"user-rejected","message":{"content":[{"type":"tool_result","tool_use_id":"c"`
	if got := Decisions("claude-code", session(t, cut), "s-1"); got["c"].Effect != cardea.Allow {
		t.Errorf("a row that is being written: %+v", got)
	}
}

// Sessions are files in the harness's folder, whatever their ids and links say.
func TestWhatIsNotRead(t *testing.T) {
	row := result("c", `"toolDenialKind":"user-rejected"`)
	folder := session(t, row)
	outside := filepath.Join(t.TempDir(), "x.jsonl")
	write(t, outside, row)
	in := func(name string) string { return filepath.Join(folder, "projects", name) }
	write(t, in("-srv-app/s-2/subagents/agent-1.jsonl"), row)
	write(t, in("-srv-app/s-2/subagents/agent-1.meta.json"), result("d", `"toolDenialKind":"user-rejected"`))
	for link, to := range map[string]string{"-srv-app/s-3.jsonl": outside, "-srv-app/s-4": filepath.Dir(outside), "linked": filepath.Dir(outside)} {
		if err := os.Symlink(to, in(link)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Rename(outside, filepath.Join(filepath.Dir(outside), "s-5.jsonl")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(in("-srv-app/s-6.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]int{"s-1": 1, "s-2": 1, "s-3": 0, "s-4": 0, "s-5": 0, "s-6": 0, "": 0, "..": 0, "../x": 0, "*": 0, "s-1.jsonl": 0, "s\x00": 0, strings.Repeat("s", 200): 0} {
		if got := Decisions("claude-code", folder, id); len(got) != want {
			t.Errorf("%q: %+v", id, got)
		}
	}
	if Decisions("codex", folder, "s-1") != nil || Decisions("claude-code", "", "s-1") != nil {
		t.Error("a harness without a reader, or without a folder, has decisions")
	}
	large := session(t, "")
	f, err := os.OpenFile(filepath.Join(large, "projects/-srv-app/s-1.jsonl"), os.O_WRONLY, 0)
	if err == nil {
		err = f.Truncate(maxFile + 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if got := Decisions("claude-code", large, "s-1"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// Whatever the agent writes there, the reader ends, and each decision is about a call.
func FuzzRows(f *testing.F) {
	f.Add([]byte(result("c", `"toolDenialKind":"user-rejected"`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		folder := session(t, string(data))
		for id, r := range Decisions("claude-code", folder, "s-1") {
			if id == "" || r.Effect == cardea.Abstain || !bytes.Contains(data, []byte("tool_result")) {
				t.Errorf("%q: %+v", id, r)
			}
		}
	})
}

// Of many large files only as much is read as a session may have.
func TestManyLargeFiles(t *testing.T) {
	folder := session(t, "")
	for _, name := range []string{"a", "b", "c"} {
		path := filepath.Join(folder, "projects/-srv-app/s-1/subagents", name+".jsonl")
		write(t, path, result("toolu_"+name, `"toolDenialKind":"permission-rule"`))
		if err := os.Truncate(path, maxFile-1); err != nil {
			t.Fatal(err)
		}
	}
	if got := Decisions("claude-code", folder, "s-1"); len(got) != 2 {
		t.Errorf("%d calls have a decision, want those of two files", len(got))
	}
}
