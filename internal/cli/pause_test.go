package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// at runs a command line of an attending person at another time.
func (d *fixture) at(now time.Time, stdin string, args ...string) (out, errs string, code int) {
	var b, e bytes.Buffer
	p := d.process(strings.NewReader(stdin), &b, &e)
	p.Person, p.Code, p.Now = func() error { return nil }, func() string { return "abc234" }, func() time.Time { return now }
	code = Main(args, p)
	return b.String(), e.String(), code
}

// "disable --for" switches the gate off in all sessions until its time is over, or until
// "enable". What protects Cardea stays in force.
func TestDisableFor(t *testing.T) {
	d, binary := hooked(t)
	if _, errs, code := d.sits("abc234\n", "install", "claude", "--binary", binary); code != exitOK {
		t.Fatal(errs)
	}
	now := time.Now()
	saysEnd := func(out string) bool { // the date is shown if the hour ends tomorrow
		end := now.Add(time.Hour).Local()
		return strings.Contains(out, "until "+end.Format("15:04")) || strings.Contains(out, "until "+end.Format("2006-01-02 15:04"))
	}
	answer := func(at time.Time, session, command string) string {
		message := strings.Replace(d.call("PreToolUse", "default", command), `"s1"`, asJSON(session), 1)
		out, _, _ := d.at(at, message, "check", "--harness", "claude-code")
		switch {
		case strings.Contains(out, `"deny"`):
			return "deny"
		case strings.Contains(out, `"allow"`):
			return "allow"
		}
		return ""
	}
	judged := func(when string, at time.Time, off bool) {
		t.Helper()
		for _, session := range []string{"s1", "s2"} {
			for command, want := range map[string]string{"git push --force": "deny", "ls": "allow"} {
				if off {
					want = ""
				}
				if got := answer(at, session, command); got != want {
					t.Errorf("%s, %s: %s is %q, want %q", when, session, command, got, want)
				}
			}
			for _, command := range []string{"cardea disable --for 1h", "cat ~/.local/state/cardea/key", "cp x ~/.local/state/cardea/pause.signed", "rm -rf ~/.local/state/cardea"} {
				if got := answer(at, session, command); got != "deny" {
					t.Errorf("%s: %s is %q", when, command, got)
				}
			}
		}
		out, _, _ := d.at(at, `{"cwd":`+asJSON(d.project)+`}`, "statusline")
		if shown := strings.HasPrefix(out, "cardea: off until "); shown != off {
			t.Errorf("%s: %s", when, out)
		}
		for _, args := range []string{"status", "status --session-id s1", "doctor", "doctor claude"} {
			out, errs, _ := d.at(at, "", strings.Fields(args)...)
			if saysEnd(out+errs) != off {
				t.Errorf("%s: %s says %s%s", when, args, out, errs)
			}
		}
	}
	judged("at first", now, false)
	for _, c := range []struct {
		typed string
		args  string
		code  int
	}{{"wrong\n", "disable --for 1h", exitError}, {"", "disable --for 1h", exitError}, {"abc234\n", "disable --for 25h", exitUsage}, {"abc234\n", "disable --for 0s", exitUsage},
		{"abc234\n", "disable --for -1h", exitUsage}, {"abc234\n", "disable --for", exitUsage}, {"abc234\n", "disable --for x", exitUsage},
		{"abc234\n", "disable --for 1h --session-id s1", exitUsage}, {"abc234\n", "disable", exitUsage}} {
		if _, errs, code := d.sits(c.typed, strings.Fields(c.args)...); code != c.code {
			t.Errorf("%s: exit %d, %s", c.args, code, errs)
		}
	}
	if _, errs, _ := d.sits("", "disable"); !strings.Contains(errs, "cardea disable --for 1h") {
		t.Errorf("disable alone: %s", errs)
	}
	judged("after what failed", now, false)
	off := func() {
		t.Helper()
		if out, errs, code := d.at(now, "abc234\n", "disable", "--for", "1h"); code != exitOK || !saysEnd(out) {
			t.Fatalf("exit %d, %s%s", code, out, errs)
		}
	}
	off()
	judged("in the hour", now.Add(time.Minute), true)
	judged("at its end", now.Add(59*time.Minute), true)
	judged("after the hour", now.Add(time.Hour), false)
	for _, args := range []string{"enable", "on", "resume"} {
		off()
		if _, errs, code := d.run("", args); code != exitOK { // without a person
			t.Errorf("%s: exit %d, %s", args, code, errs)
		}
		judged("after "+args, now.Add(time.Minute), false)
	}
	off()
	message := `{"session_id":"s1","transcript_path":"/t","cwd":` + asJSON(d.project) + `,"hook_event_name":"UserPromptSubmit","prompt":"/cardea enable"}`
	d.at(now, message, "check", "--harness", "claude-code")
	judged("after the prompt", now, false)
	if out, _, code := d.run("", "log", "Cardea is off until"); code != exitOK || strings.Count(out, "GateOff") != 5 || !strings.Contains(out, "person:") {
		t.Errorf("the ledger: exit %d, %s", code, out)
	}
	if out, _, _ := d.run("", "log", "Cardea is on again"); strings.Count(out, "GateOn") != 4 {
		t.Errorf("the ledger: %s", out)
	}
}

// Only a person pauses the gate. A planted file pauses nothing.
func TestPauseOfAnAgent(t *testing.T) {
	d := newFixture(t)
	var out, errs bytes.Buffer
	p := d.process(strings.NewReader("abc234\n"), &out, &errs)
	p.Person, p.Code = func() error { return errors.New("an agent is at work here") }, func() string { return "abc234" }
	if code := Main([]string{"off", "--for", "1h"}, p); code != exitError || !strings.Contains(errs.String(), "an agent is at work here") {
		t.Errorf("exit %d, %s", code, errs.String())
	}
	file := filepath.Join(d.home, ".local/state/cardea/pause.signed")
	if _, err := os.Stat(file); err == nil {
		t.Error("it was written")
	}
	d.write(file, strings.Repeat("x", 32)+`{"from":"2026-01-01T00:00:00Z","until":"2099-01-01T00:00:00Z"}`)
	got, warning, _ := d.run(d.call("PreToolUse", "default", "git push --force"), "check", "--harness", "claude-code")
	if !strings.Contains(got, `"deny"`) || !strings.Contains(got+warning, "pause.signed is ignored") {
		t.Errorf("%s%s", got, warning)
	}
	if out, _, _ := d.run("", "doctor"); !strings.Contains(out, "pause.signed is ignored, so Cardea is on") {
		t.Errorf("doctor: %s", out)
	}
	if _, _, code := d.run("", "enable"); code != exitOK {
		t.Error("a forged file is not removed")
	}
}
