package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/ask/queue/store"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/base/person"
	"cardea.dev/internal/command/redact"
)

// suggested decodes the output of "cardea suggest --json".
type suggested struct {
	Proposals []struct {
		Times         int
		Covered, Near []struct{ Text, End string }
		Lines         []string
		Why           string
	}
}

// Calls that a person approved in the harness's prompt are suggested by shape: with the
// calls that a proposal covers, similar calls that it does not cover, and never wider.
// Calls that were not approved, or are allowed by now, are not suggested.
func TestSuggest(t *testing.T) {
	d := newFixture(t)
	d.vars["CLAUDE_CODE_SESSION_ATTENDED"], d.vars["CLAUDE_CODE_ENTRYPOINT"] = "1", "cli"
	at := time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)
	say := func(command string, events ...string) {
		for _, event := range events {
			at = at.Add(time.Second)
			d.at(at, d.call(event, "default", command), "check", "--harness", "claude-code")
		}
	}
	approved, refused := []string{"PreToolUse", "PermissionRequest", "PostToolUse"}, []string{"PreToolUse", "PermissionRequest"}
	for range 3 {
		say("make report", approved...)
	}
	say("make report --always-make", refused...)
	say("pytest tests/a", approved...)
	say("pytest tests/a", approved...)
	say("pytest tests/b", approved...)
	say("pytest -p evil tests/a", refused...)
	say("npm publish && npm test", approved...)
	say("ls", approved...)
	for as, lines := range map[string][]string{
		"permission": {"Bash(make report)", "Bash(pytest tests/a)", "Bash(pytest tests/b)"},
		"override":   {"cardea override --command 'make report' --allow", "cardea override --command 'pytest tests/a' --allow", "cardea override --command 'pytest tests/b' --allow"},
		"rule":       {"pattern: '^make report$'", "pattern: '^pytest tests/a$'", "pattern: '^pytest tests/b$'"},
	} {
		said, errs, code := d.at(at, "", "suggest", "--as", as, "--json")
		var got suggested
		if err := json.Unmarshal([]byte(said), &got); err != nil || code != 0 || len(got.Proposals) != 3 {
			t.Fatalf("%s: exit %d, %v, %s\n%s", as, code, err, errs, said)
		}
		for i, want := range []struct {
			times   int
			covered string
			near    string
			lines   []string
		}{{3, "make report", "make report --always-make", lines[:1]}, {3, "pytest tests/a, pytest tests/b", "pytest -p evil tests/a", lines[1:]}, {1, "", "npm publish && npm test", nil}} {
			p := got.Proposals[i]
			var covered, near []string
			for _, a := range p.Covered {
				covered = append(covered, a.Text)
			}
			for _, a := range p.Near {
				near = append(near, a.Text)
			}
			same := len(p.Lines) == len(want.lines)
			for k := range want.lines {
				same = same && strings.Contains(p.Lines[k], want.lines[k])
			}
			if p.Times != want.times || strings.Join(covered, ", ") != want.covered || !slices.Contains(near, want.near) || !same || (p.Why == "") != (len(want.lines) > 0) {
				t.Errorf("%s, proposal %d: %+v", as, i, p)
			}
		}
	}
	if said, _, _ := d.at(at, "", "suggest", "--limit", "1"); !strings.Contains(said, "Bash(make report)") || strings.Contains(said, "pytest") || !strings.Contains(said, "2 more shapes not shown") {
		t.Error(said)
	}
	for _, args := range [][]string{{"--from", "mail"}, {"--as", "wish"}, {"--limit", "-1"}} {
		if _, errs, code := d.at(at, "", append([]string{"suggest"}, args...)...); code != 2 || errs == "" {
			t.Errorf("%q: exit %d, %s", args, code, errs)
		}
	}
}

// The transcripts of Claude Code show what a person approved there.
func TestSuggestFromTranscripts(t *testing.T) {
	d := newFixture(t)
	folder := filepath.Join(d.home, ".claude/projects/-p")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	row := func(kind, id, more string) string {
		return `{"type":"` + kind + `","cwd":` + asJSON(d.project) + `,"timestamp":"2026-11-27T10:00:00Z","message":{"content":[` + more + `]}`
	}
	var b strings.Builder
	for i, by := range []string{"user_temporary", "user_reject", "config"} {
		id := "u" + string(rune('0'+i))
		decision := map[bool]string{true: "reject", false: "accept"}[by == "user_reject"]
		b.WriteString(row("assistant", id, `{"type":"tool_use","id":"`+id+`","name":"Bash","input":{"command":"make t`+id+`"}}`) + "}\n")
		b.WriteString(row("user", id, `{"type":"tool_result","tool_use_id":"`+id+`"}`) + `,"permissionDecision":{"decision":"` + decision + `","source":"` + by + `"}}` + "\n")
	}
	if err := os.WriteFile(filepath.Join(folder, "a1b2.jsonl"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	said, errs, code := d.run("", "suggest", "--from", "transcripts")
	if code != 0 || !strings.Contains(said, "Bash(make tu0)") || strings.Contains(said, "Bash(make tu1)") || strings.Contains(said, "Bash(make tu2)") || !strings.Contains(said, "not  make tu1") {
		t.Errorf("exit %d: %s%s", code, said, errs)
	}
}

// The queue shows what a person answered there.
func TestSuggestFromQueue(t *testing.T) {
	d := newFixture(t)
	d.settings("human: {mode: queue}\n")
	s, err := store.Open(d.state(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	self, err := person.This()
	if err != nil {
		t.Fatal(err)
	}
	r := redact.New()
	for command, effect := range map[string]cardea.Effect{"make report": cardea.Allow, "make report --always-make": cardea.Deny, "make wait": cardea.Abstain} {
		e, err := s.Add(t.Context(), queue.Entry{Digest: command, Harness: "claude-code", Session: r.Text("s1"), Tool: "Bash", Subject: r.Text(command),
			Input: r.Text(`{"command":` + asJSON(command) + `}`), Project: r.Text(d.project), Effect: cardea.Ask, By: "rules:r", Waiter: self,
			Created: time.Now(), Deadline: time.Now().Add(limit.Setting)})
		if err != nil {
			t.Fatal(err)
		}
		if effect == cardea.Abstain {
			continue
		}
		if won, err := s.Answer(t.Context(), e.ID, queue.Resolution{Effect: effect, Who: r.Text("liam"), Via: "terminal"}); err != nil || !won {
			t.Fatal(won, err)
		}
	}
	said, errs, code := d.run("", "suggest", "--from", "queue")
	if code != 0 || !strings.Contains(said, "Bash(make report)") || strings.Contains(said, "make wait") || !strings.Contains(said, "not  make report --always-make") {
		t.Errorf("exit %d: %s%s", code, said, errs)
	}
}
