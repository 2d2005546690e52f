package evidence

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/bash"
	"cardea.dev/internal/command/knowledge"
)

// call returns a call of the shell.
func call(kind cardea.Kind, cwd, text string) *cardea.Event {
	a := bash.Analyse(text, bash.Env{Cwd: cwd, System: knowledge.System{Home: "/home/x", IsDir: func(string) bool { return true }}})
	return &cardea.Event{Kind: kind, Cwd: cwd, Call: &cardea.Call{Tool: "Bash", Known: true, Input: map[string]any{"command": text}, Parts: a.Parts, Opaque: a.Opaque}}
}

type message map[string]any

func (m message) Fields() map[string]any { return m }

const (
	begins    = cardea.PreToolUse
	succeeds  = cardea.Kind("PostToolUse")
	fails     = cardea.Kind("PostToolUseFailure")
	test      = "npm test"
	lint      = "npm run lint"
	otherLine = "npm start"
)

func TestNote(t *testing.T) {
	folder := t.TempDir()
	s := New(folder, "/p", "/p/start")
	checks := []string{test, lint}
	ran := func(cwd, text string) []*cardea.Event {
		return []*cardea.Event{call(begins, cwd, text), call(succeeds, cwd, text)}
	}
	sent := func(key string, result map[string]any) []*cardea.Event {
		both := ran("/p", test)
		both[1].Sent = message{key: result}
		return both
	}
	background := ran("/p", test)
	background[0].Call.Input["run_in_background"] = true
	tool := func(tool string, edits, known bool) []*cardea.Event {
		return []*cardea.Event{{Kind: begins, Call: &cardea.Call{Tool: tool, Known: known, EditsFiles: edits}}}
	}
	workflow := tool("Workflow", false, true)
	workflow[0].Call.Parts = []cardea.Part{{ShellFacts: cardea.ShellFacts{Coverage: cardea.Partial}}}
	one := func(kind cardea.Kind, text string) []*cardea.Event { return []*cardea.Event{call(kind, "/p", text)} }
	for _, step := range []struct {
		name   string
		events []*cardea.Event
		want   string
	}{
		{"another line", ran("/p", otherLine), ""},
		{"a check begins", one(begins, test), ""},
		{"and succeeds", one(succeeds, test), "npm test"},
		{"the other one", ran("/p", lint), "npm test|npm run lint"},
		{"git with its own files", ran("/p", "git add . && git commit -m x && git push"), "npm test|npm run lint"},
		{"a write elsewhere", ran("/p", "echo x > /tmp/x"), "npm test|npm run lint"},
		{"a tool that reads", tool("Read", false, true), "npm test|npm run lint"},
		{"a check fails", append(one(begins, test), one(fails, test)...), "npm run lint"},
		{"a write begins", one(begins, "echo x > a.js"), ""},
		{"both", append(ran("/p", test), ran("/p", lint)...), "npm test|npm run lint"},
		{"a write that failed", one(fails, "rm a.js"), ""},
		{"a write while a check runs", append(append(one(begins, test), ran("/p", "touch a.js")...), one(succeeds, test)...), ""},
		{"a success that never began", one(succeeds, test), ""},
		{"in the background", background, ""},
		{"in another folder", ran("/p/web", test), ""},
		{"where the session began", ran("/p/start", test), "npm test"},
		{"an edit", tool("Write", true, true), ""},
		{"again", ran("/p", test), "npm test"},
		{"a tool that is not known", tool("mcp__x__y", false, false), ""},
		{"again", ran("/p", test), "npm test"},
		{"a tool that runs a script", workflow, ""},
		{"again", ran("/p", test), "npm test"},
		{"a program that is not known", one(begins, "frobnicate"), ""},
		{"again", ran("/p", test), "npm test"},
		{"git with files of the project", one(begins, "git stash"), ""},
		{"failed at Copilot", sent("toolResult", map[string]any{"resultType": "failure"}), ""},
		{"failed at Copilot, in the other form", sent("tool_result", map[string]any{"result_type": "failure"}), ""},
		{"interrupted", sent("tool_response", map[string]any{"interrupted": true}), ""},
		{"at Copilot", sent("toolResult", map[string]any{"resultType": "success"}), "npm test"},
		{"no call", []*cardea.Event{{Kind: succeeds}}, "npm test"},
	} {
		for _, ev := range step.events {
			if err := s.Note(ev, checks); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Join(s.Passed(), "|"); got != step.want {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
	}
	if got := New(folder, "/other", "").Passed(); got != nil {
		t.Errorf("another project: %v", got)
	}
	// A file that another program wrote is ignored.
	files, _ := filepath.Glob(filepath.Join(folder, "evidence", "*"))
	if len(files) != 1 {
		t.Fatalf("%v", files)
	}
	if err := os.WriteFile(files[0], append(make([]byte, 32), `{"passed":["npm test"]}`...), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.Passed(); got != nil {
		t.Errorf("forged: %v", got)
	}
	if err := New("", "/p", "").Note(call(succeeds, "/p", test), checks); err != nil || New("", "/p", "").Passed() != nil {
		t.Errorf("without a state folder: %v", err)
	}
}

func TestLook(t *testing.T) {
	publishes := func(p *cardea.Part) bool {
		return len(p.Command) > 1 && p.Command[0] == "git" && (p.Command[1] == "commit" || p.Command[1] == "push" || p.Command[1] == "merge")
	}
	s := New(t.TempDir(), "/p", "/p")
	for text, want := range map[string]Publish{
		"git add -A && git commit -m x && git push": {}, "git merge x": {}, "git -C src commit -C HEAD": {}, "git -C /p push": {}, "npm test; ls": {Writes: true},
		"git merge x && git push": {Writes: true}, "git commit -m x > a.log": {Writes: true}, "git commit -m x; npm ci": {Writes: true},
		"git -C ../b commit -m x": {Elsewhere: true}, "git --git-dir=../b/.git push": {Elsewhere: true}, "git --work-tree ../b commit -m x": {Elsewhere: true},
		"GIT_WORK_TREE=../b git commit -m x": {Elsewhere: true}, `git -C "$X" push`: {Elsewhere: true}, "cd /b && git push": {Elsewhere: true}, `cd "$X" && git push`: {Elsewhere: true},
	} {
		if got := s.Look(call(begins, "/p", text).Call, publishes); got != want {
			t.Errorf("%q: %+v", text, got)
		}
	}
}

func TestMistakes(t *testing.T) {
	for check, want := range map[string]string{"npm test": "", "a && (b; c) | d": "", "npm start &": "background", "# all": "runs nothing", "": "runs nothing", "echo 'x": "'"} {
		got := Mistakes([]string{check})[check]
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q", check, got)
		}
	}
}
