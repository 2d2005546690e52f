package cli

import (
	"strings"
	"testing"
	"time"
)

// With "learn: auto" a person's answers on two days make a lesson of a read-only call, in
// auto mode as well. Approvals of the classifier make none, on any number of days.
func TestLearnAuto(t *testing.T) {
	d := newFixture(t)
	d.settings("learn: auto\npacks: {readonly: off}\n")
	d.vars["CLAUDE_CODE_SESSION_ATTENDED"], d.vars["CLAUDE_CODE_ENTRYPOINT"] = "1", "cli"
	day := time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)
	say := func(at time.Time, command string, events ...string) (out string) {
		for _, event := range events {
			said, _, _ := d.at(at, d.call(event, "auto", command), "check", "--harness", "claude-code")
			out += said
		}
		return out
	}
	const asked, approved, writes = "cat /etc/hosts", "cat /etc/passwd", "touch /opt/x"
	shown := []string{"PreToolUse", "PermissionRequest", "PostToolUse"}
	ran := []string{"PreToolUse", "PostToolUse"}
	for i, want := range []string{"if you allow it on another day, it is allowed from then on", "on 2 days, so it is allowed from now on"} {
		at := day.AddDate(0, 0, i)
		if out := say(at, asked, shown...); !strings.Contains(out, want) || strings.Contains(out, `"allow"`) {
			t.Errorf("day %d: %s", i, out)
		}
		say(at, writes, shown...)
		say(at, approved, ran...)
		say(at, approved, ran...)
	}
	for command, want := range map[string]bool{asked: true, approved: false, writes: false} {
		if out := say(day.AddDate(0, 0, 2), command, "PreToolUse"); strings.Contains(out, `"allow"`) != want {
			t.Errorf("%s: %s", command, out)
		}
	}
	out, _, _ := d.at(day, "", "lessons", "candidates")
	if strings.Count(out, "allowed by you 2 times") != 1 || !strings.Contains(out, "cat /etc/passwd\n          ran 4 times on 2 days") || strings.Contains(out, "hosts") {
		t.Errorf("%s", out)
	}
}

// If the lesson of a call only has a digest of the input, the list shows the input.
func TestInputOfCandidate(t *testing.T) {
	d := newFixture(t)
	d.vars["CLAUDE_CODE_SESSION_ATTENDED"], d.vars["CLAUDE_CODE_ENTRYPOINT"] = "1", "cli"
	for _, event := range []string{"PreToolUse", "PostToolUse"} {
		d.run(
			`{"session_id":"s","transcript_path":"/t","cwd":`+asJSON(d.project)+`,"permission_mode":"auto","hook_event_name":"`+event+`","tool_name":"mcp__mail__send","tool_input":{"to":"a\u001b[2Jb"}}`,
			"check",
			"--harness",
			"claude-code",
		)
	}
	if out, _, _ := d.run("", "lessons", "candidates"); !strings.Contains(out, "\n          with {\"to\":\"a\\u001b[2Jb\"}\n") {
		t.Errorf("%q", out)
	}
}
