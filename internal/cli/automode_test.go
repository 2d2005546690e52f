package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A surface that the person named is assumed to ask, if Claude Code says that a person
// attends it and nothing says otherwise.
func TestNamedSurfaces(t *testing.T) {
	for name, c := range map[string]struct {
		user, project, surface, attended, unattended, mode, want string
	}{
		"named":               {"human: {surfaces: [claude-vscode]}", "", "claude-vscode", "1", "", "auto", "ask"},
		"in bypass":           {"human: {surfaces: [claude-vscode]}", "", "claude-vscode", "1", "", "bypassPermissions", "ask"},
		"not in dontAsk":      {"human: {surfaces: [claude-vscode]}", "", "claude-vscode", "1", "", "dontAsk", "deny"},
		"another":             {"human: {surfaces: [claude-vscode]}", "", "claude-desktop", "1", "", "auto", "deny"},
		"nobody attends":      {"human: {surfaces: [claude-vscode]}", "", "claude-vscode", "0", "", "auto", "deny"},
		"not said":            {"human: {surfaces: [claude-vscode, '']}", "", "claude-vscode", "", "", "auto", "deny"},
		"no surface":          {"human: {surfaces: ['', ' ']}", "", "", "1", "", "auto", "ask"},
		"nobody, by variable": {"human: {surfaces: [claude-vscode]}", "", "claude-vscode", "1", "1", "auto", "deny"},
		"a project's":         {"", "human: {surfaces: [claude-vscode]}", "claude-vscode", "1", "", "auto", "deny"},
		"the terminal":        {"", "", "cli", "1", "", "auto", "ask"},
		"cannot be taken off": {"human: {surfaces: []}", "", "cli", "1", "", "auto", "ask"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newFixture(t)
			d.settings(c.user)
			if c.project != "" {
				d.write(filepath.Join(d.project, ".cardea/cardea.yaml"), c.project)
			}
			d.vars["CLAUDE_CODE_ENTRYPOINT"], d.vars["CLAUDE_CODE_SESSION_ATTENDED"], d.vars["CARDEA_UNATTENDED"] = c.surface, c.attended, c.unattended
			if out, _, _ := d.run(d.call("PreToolUse", c.mode, "git reset --hard"), "check", "--harness", "claude-code"); !strings.Contains(out, `"permissionDecision":"`+c.want+`"`) {
				t.Errorf("%q, want %s", out, c.want)
			}
		})
	}
}

// The variables of Claude Code say nothing about an agent that it started.
func TestSurfaceOfAnotherHarness(t *testing.T) {
	d := newFixture(t)
	d.settings("human: {surfaces: [claude-vscode]}")
	d.vars["CLAUDE_CODE_ENTRYPOINT"], d.vars["CLAUDE_CODE_SESSION_ATTENDED"] = "claude-vscode", "1"
	if out, _, code := d.run(d.call("PreToolUse", "auto", "git reset --hard"), "check", "--harness", "qwen-code"); code != exitDeny {
		t.Errorf("Qwen gets %d and %q", code, out)
	}
}

// If Codex's own reviewer answers its requests, no allow is given, and a question is
// treated as one that no person sees. A transcript that does not say so changes nothing.
func TestReviewerOfCodex(t *testing.T) {
	turn := func(id, reviewer string) string {
		return `{"timestamp":"t","ordinal":5,"type":"turn_context","payload":{"turn_id":"` + id + `","approval_policy":"on-request","approvals_reviewer":` + reviewer + `}}` + "\n"
	}
	long := `{"type":"response_item","payload":{"output":"` + strings.Repeat("x", 2<<20) + `"}}` + "\n"
	said := `{"type":"response_item","payload":{"output":` + asJSON(turn("t1", `"user"`)) + `}}` + "\n"
	auto := turn("t1", `"auto_review"`)
	for name, c := range map[string]struct {
		text     string
		reviewed bool
	}{
		"by the model":             {auto, true},
		"by its older name":        {turn("t1", `"guardian_subagent"`), true},
		"by the person":            {turn("t1", `"user"`), false},
		"of another turn":          {turn("t0", `"auto_review"`), false},
		"a row added by the agent": {auto + turn("t1", `"user"`), true},
		"between others":           {turn("t0", `"user"`) + auto + turn("t2", `"user"`), true},
		"after much":               {long + auto, true},
		"before much":              {auto + long, true},
		"too far back":             {auto + strings.Repeat(long, 16), true},
		"the person's, large":      {strings.Repeat(long, 16) + turn("t1", `"user"`), false},
		"quoted by a command":      {auto + said, true},
		"not said":                 {turn("t1", "null"), false},
		"of another type":          {turn("t1", `["auto_review"]`), false},
		"cut off":                  {strings.TrimSuffix(auto, "}}\n"), false},
		"odd lines around it":      {"\x00\xff\n{\n" + auto + `{"type":"turn_context","payload":7}` + "\n\n", true},
		"with a key twice":         {`{"type":"turn_context","type":"x","payload":{"turn_id":"t1","approvals_reviewer":"auto_review"}}`, true},
		"of another kind":          {strings.Replace(auto, `"turn_context"`, `"x","y":"turn_context"`, 1), false},
		"nothing":                  {"", false},
		"inside of an element":     {"[" + strings.TrimSpace(auto) + "]\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			d := newFixture(t)
			path := filepath.Join(d.home, ".codex/sessions/rollout-1.jsonl")
			d.write(path, c.text)
			d.reviewedAt(path, c.reviewed)
		})
	}
	d := newFixture(t)
	d.write(filepath.Join(d.project, "rollout-2.jsonl"), auto)
	d.reviewedAt("rollout-2.jsonl", false) // not an absolute path
	d.reviewedAt(d.home, false)
	d.reviewedAt("/nowhere/rollout", false)
	if _, err := os.Stat("/dev/zero"); err == nil {
		d.reviewedAt("/dev/zero", false)
	}
}

// reviewedAt checks the answer to Codex with a transcript at a path.
func (d *fixture) reviewedAt(path string, reviewed bool) {
	d.t.Helper()
	d.rules("rules: [{id: fine, tool: Bash, match: {command: ls}, effect: allow}, {id: never, tool: Bash, match: {command: id}, effect: deny}]")
	for command, want := range map[string][2]string{
		"ls":               {`"behavior":"allow"`, ""},
		"id":               {`"behavior":"deny"`, `"behavior":"deny"`},
		"git reset --hard": {"", `"behavior":"deny"`},
		"npm test":         {"", ""},
	} {
		out, _, _ := d.run(fmt.Sprintf(`{"session_id":"s","turn_id":"t1","transcript_path":%s,"cwd":%s,"hook_event_name":"PermissionRequest","model":"m",`+
			`"permission_mode":"default","tool_name":"Bash","tool_input":{"command":%s}}`,
			asJSON(path), asJSON(d.project), asJSON(command)), "check", "--harness", "codex")
		expected := want[0]
		if reviewed {
			expected = want[1]
		}
		if expected == "" && out != "" || !strings.Contains(out, expected) {
			d.t.Errorf("%s, reviewed %v: %q, want %q", command, reviewed, out, expected)
		}
	}
}

// try --mode auto shows the effect of each answer, at a terminal and without one.
func TestTryInAutoMode(t *testing.T) {
	d := newFixture(t)
	type want struct{ effect, decides, terminal, elsewhere, text string }
	for _, c := range []struct {
		settings string
		args     []string
		want     want
	}{
		{"", []string{"cat .env"}, want{"ask", "person", "ask", "deny", "a terminal asks; where no person is sure to see it (claude -p, editors): deny"}},
		{"", []string{"--unattended", "cat .env"}, want{"deny", "cardea", "ask", "deny", "this is final; at a terminal: ask"}},
		{"", []string{"chmod 777 x"}, want{"ask", "person", "ask", "ask", `a terminal asks, and "claude -p" denies it`}},
		{"", []string{"git push --force"}, want{"deny", "cardea", "deny", "deny", "this is final"}},
		{"", []string{"ls"}, want{"allow", "cardea", "allow", "allow", "runs without the classifier"}},
		{"", []string{"make"}, want{"abstain", "classifier", "abstain", "abstain", "the classifier decides"}},
		{"default: {unattended: deny}", []string{"make"}, want{"abstain", "classifier", "abstain", "deny", "the classifier decides; where no person is sure to see a question: deny"}},
		{"default: {unattended: deny}", []string{"--unattended", "make"}, want{"deny", "cardea", "abstain", "deny", "this is final; at a terminal: left to Claude Code"}},
		{"default: {attended: ask}", []string{"make"}, want{"ask", "person", "ask", "abstain", "where no person is sure to see it (claude -p, editors): left to Claude Code"}},
		{"rules: {effect: {git-force-push: halt}}", []string{"git push --force"}, want{"halt", "cardea", "halt", "halt", "this is final"}},
		{"", []string{"--tool", "Read", ".env"}, want{"ask", "person", "ask", "deny", "a terminal asks"}},
	} {
		d.settings(c.settings)
		out, errs, code := d.run("", append([]string{"try", "--json", "--mode", "auto"}, c.args...)...)
		var got struct {
			Effect string
			Auto   struct{ Decides, Terminal, Elsewhere, Text string } `json:"auto_mode"`
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil || code != exitOK {
			t.Fatalf("%q: exit %d, %s%s", c.args, code, out, errs)
		}
		if a := got.Auto; got.Effect != c.want.effect || a.Decides != c.want.decides || a.Terminal != c.want.terminal || a.Elsewhere != c.want.elsewhere || !strings.Contains(a.Text, c.want.text) {
			t.Errorf("%q with %q: %+v, want %+v", c.args, c.settings, got, c.want)
		}
		short, _, _ := d.run("", append([]string{"try", "--mode", "auto"}, c.args...)...)
		if lines := strings.Count(short, "\n"); lines > 8 || !strings.Contains(short, "in auto mode "+strings.TrimPrefix(got.Auto.Text, "in auto mode ")) {
			t.Errorf("%q shows %d lines:\n%s", c.args, lines, short)
		}
	}
	d.settings("")
	for _, args := range [][]string{
		{"--mode", "default", "cat .env"},
		{"cat .env"},
		{"--mode", "auto", "--harness", "codex", "cat .env"},
		{"--mode", "auto", "--event", "PermissionRequest", "cat .env"},
		{"--mode", "autox", "cat .env"},
	} {
		if out, _, _ := d.run("", append([]string{"try", "--json"}, args...)...); !strings.Contains(out, `"auto_mode":null`) {
			t.Errorf("%q: %s", args, out)
		}
	}
}

// The user of try is at a terminal of Claude Code. Other harnesses, modes and events do not
// profit.
func TestTryIsAtATerminal(t *testing.T) {
	d := newFixture(t)
	for want, all := range map[string][][]string{
		"ask": {{"--mode", "auto"}, {"--mode", "bypassPermissions"}, {"--mode", "acceptEdits"}, {"--mode", "plan"}, {}},
		"deny": {
			{"--mode", "dontAsk"},
			{"--mode", "yolo"},
			{"--mode", "auto", "--unattended"},
			{"--unattended"},
			{"--mode", "auto", "--harness", "copilot-cli"},
			{"--event", "PreSkillShellCommand", "--mode", "auto"},
		},
	} {
		for _, args := range all {
			if got := d.tryJSON(append(args, "git reset --hard")...); got.Effect != want {
				t.Errorf("%q: %s, want %s", args, got.Effect, want)
			}
		}
	}
	d.vars["CARDEA_UNATTENDED"] = "1"
	if got := d.tryJSON("--mode", "auto", "git reset --hard"); got.Effect != "deny" {
		t.Errorf("with the variable: %s", got.Effect)
	}
}
