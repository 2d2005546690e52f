package evidence

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev"
)

func part(text string, access ...cardea.Access) cardea.Part {
	p := cardea.Part{Text: text, Command: strings.Fields(text), Coverage: cardea.Complete, Access: access, Dir: "/p"}
	if len(access) > 0 && access[0].Kind != cardea.Unknown {
		p.Knowledge = cardea.Complete
	}
	return p
}

func after(kind cardea.Kind, tool string, parts ...cardea.Part) *cardea.Event {
	text := ""
	for i, p := range parts {
		if i > 0 && len(p.Via) > 0 {
			text += " " + p.Via[0] + " "
		} else if i > 0 {
			text += " && "
		}
		text += p.Text
	}
	return &cardea.Event{Kind: kind, Call: &cardea.Call{Tool: tool, Known: true, Input: map[string]any{"command": text}, EditsFiles: tool == "Write", Parts: parts}}
}

type message map[string]any

func (m message) Fields() map[string]any { return m }

func sentAs(key string, result map[string]any) *cardea.Event {
	ev := after("PostToolUse", "Bash", part("npm test"))
	ev.Sent = message{key: result}
	return ev
}

func TestNotes(t *testing.T) {
	state := t.TempDir()
	s := New(state, "/p", "/p/start")
	checks := []string{"npm test", "npm run lint"}
	unknown := cardea.Access{Kind: cardea.Unknown}
	via := func(p cardea.Part, v ...string) cardea.Part { p.Via = v; return p }
	background := after("PostToolUse", "Bash", part("npm test"))
	background.Call.Input["run_in_background"] = true
	in := func(dir string) *cardea.Event {
		p := part("npm test")
		p.Dir = dir
		return after("PostToolUse", "Bash", p)
	}
	opaque := after("PostToolUse", "Bash", part("npm test"))
	opaque.Call.Opaque = []cardea.Opaque{{Text: "x"}}
	for _, step := range []struct {
		name string
		ev   *cardea.Event
		want string
	}{
		{"another command", after("PostToolUse", "Bash", part("npm start", unknown)), ""},
		{"a check", after("PostToolUse", "Bash", part("npm test", unknown)), "npm test"},
		{"the other one", after("PostToolUse", "Bash", part("npm run lint", unknown)), "npm test|npm run lint"},
		{"reading", after("PostToolUse", "Bash", part("cat x", cardea.Access{Kind: cardea.Read, Path: "/p/x"})), "npm test|npm run lint"},
		{"git", after("PostToolUse", "Bash", part("git add .", unknown)), "npm test|npm run lint"},
		{"a write elsewhere", after("PostToolUse", "Bash", part("touch", cardea.Access{Kind: cardea.Write, Path: "/tmp/x"})), "npm test|npm run lint"},
		{"a read tool", after("PostToolUse", "Read", part("Read x")), "npm test|npm run lint"},
		{"a write", after("PostToolUse", "Bash", part("touch", cardea.Access{Kind: cardea.Write, Path: "/p/x"})), ""},
		{"both", after("PostToolUse", "Bash", part("npm test", unknown), via(part("npm run lint", unknown), "&&")), "npm test|npm run lint"},
		{"a failed write", after("PostToolUseFailure", "Bash", part("rm", cardea.Access{Kind: cardea.Delete, Path: "/p/x"})), ""},
		{"a check that failed", after("PostToolUseFailure", "Bash", part("npm test", unknown)), ""},
		{"swallowed", after("PostToolUse", "Bash", part("npm test", unknown), via(part("true"), "||")), ""},
		{"piped", after("PostToolUse", "Bash", via(part("npm test", unknown), "|"), via(part("tail", cardea.Access{Kind: cardea.Read}), "|")), ""},
		{"in the background", background, ""},
		{"opaque", opaque, ""},
		{"in another folder", in("/other"), ""},
		{"in a folder that nobody knows", in(""), ""},
		{"in a folder of the project, which may be another package", in("/p/web"), ""},
		{"where the session began", in("/p/start"), "npm test"},
		{"a write that begins", after("PreToolUse", "Bash", part("touch", cardea.Access{Kind: cardea.Write, Path: "/p/x"})), ""},
		{"a check that begins", after("PreToolUse", "Bash", part("npm test", unknown)), ""},
		{"again", after("PostToolUse", "Bash", part("npm test", unknown)), "npm test"},
		{"the other check begins", after("PreToolUse", "Bash", part("npm run lint", unknown)), "npm test"},
		{"a write", after("PostToolUse", "Bash", part("touch", cardea.Access{Kind: cardea.Write, Path: "/p/x"})), ""},
		{"again", after("PostToolUse", "Bash", part("npm test", unknown)), "npm test"},
		{"from above", after("PreToolUse", "Bash", part("mv", cardea.Access{Kind: cardea.Delete, Path: "/", Recursive: true})), ""},
		{"again", after("PostToolUse", "Bash", part("npm test", unknown)), "npm test"},
		{"beside", after("PreToolUse", "Bash", part("rm", cardea.Access{Kind: cardea.Delete, Path: "/px", Recursive: true})), "npm test"},
		{"an edit", after("PostToolUse", "Write", part("Write x")), ""},
		{"again", after("PostToolUse", "Bash", part("npm test", unknown)), "npm test"},
		{"a tool that is not known", &cardea.Event{Kind: "PostToolUse", Call: &cardea.Call{Tool: "mcp__x__y"}}, ""},
		{"failed at Copilot", sentAs("toolResult", map[string]any{"resultType": "failure"}), ""},
		{"failed at Copilot, in the other form", sentAs("tool_result", map[string]any{"result_type": "failure"}), ""},
		{"interrupted", sentAs("tool_response", map[string]any{"interrupted": true}), ""},
		{"at Copilot", sentAs("toolResult", map[string]any{"resultType": "success"}), "npm test"},
		{"an edit", after("PostToolUse", "Write", part("Write x")), ""},
		{"no call", &cardea.Event{Kind: "PostToolUse"}, ""},
	} {
		if err := s.Note(step.ev, checks); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(s.Passed(), "|"); got != step.want {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
	}
	if err := s.Note(after("PostToolUse", "Bash", part("npm test")), checks); err != nil {
		t.Fatal(err)
	}
	if got := New(state, "/other", "").Passed(); got != nil {
		t.Errorf("another project: %v", got)
	}
	// What somebody else wrote is not believed.
	files, _ := filepath.Glob(filepath.Join(state, "evidence", "*"))
	if len(files) != 1 {
		t.Fatalf("%v", files)
	}
	whole, _ := os.ReadFile(files[0])
	for _, forged := range [][]byte{nil, whole[:10], append(make([]byte, 32), whole[32:]...), append(whole[:32:32], `["x"]`...)} {
		if err := os.WriteFile(files[0], forged, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := s.Passed(); got != nil {
			t.Errorf("forged: %v", got)
		}
	}
	if err := New("", "/p", "").Note(after("PostToolUse", "Bash", part("npm test")), checks); err != nil || New("", "/p", "").Passed() != nil {
		t.Errorf("without a state folder: %v", err)
	}
}
