package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cardea.dev"
)

// stored returns the entries of the ledger as written.
func (d *fixture) stored() (out []map[string]any) {
	d.t.Helper()
	for _, l := range d.entries() {
		var e map[string]any
		if err := json.Unmarshal([]byte(l), &e); err != nil {
			d.t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

func denies(*evaluation, context.Context) cardea.Verdict {
	return cardea.Verdict{Effect: cardea.Deny, By: "rules:no", Reason: "no", Message: "no"}
}

func TestEveryVerdictIsRecorded(t *testing.T) {
	d := newFixture(t)
	for _, c := range []struct {
		name, stdin  string
		args         []string
		effect, says string
	}{
		{"abstain", d.call("PreToolUse", "default", "make"), []string{"--harness", "claude-code"}, "abstain", "make"},
		{"deny", d.call("PreToolUse", "default", "git push --force"), []string{"--harness", "claude-code"}, "deny", "rules:git-force-push"},
		{"deny, no harness named", d.call("PreToolUse", "default", "git push --force"), nil, "deny", "rules:git-force-push"},
		{"PermissionRequest", d.call("PermissionRequest", "default", "git push --force"), []string{"--harness", "claude-code"}, "deny", "PermissionRequest"},
		{"no object", "[]", []string{"--harness", "claude-code"}, "deny", "failure"},
		{"an event that is not answered", d.call("PostToolUse", "default", "make"), []string{"--harness", "claude-code"}, "", ""},
		{"no object, no harness named", "[]", nil, "abstain", "no JSON object"},
		{"an unknown shape", `{"x":{"command":"git push --force"}}`, nil, "deny", "may run"},
		{"an unknown shape without a call", `{"x":1}`, nil, "abstain", "unknown shape"},
	} {
		before := len(d.entries())
		d.run(c.stdin, append([]string{"check"}, c.args...)...)
		all := d.stored()
		if c.effect == "" {
			if len(all) != before {
				t.Errorf("%s: recorded as %v", c.name, all[len(all)-1])
			}
			continue
		}
		if len(all) != before+1 || all[before]["effect"] != c.effect || !strings.Contains(d.entries()[before], c.says) {
			t.Errorf("%s: %v", c.name, all[before:])
		}
	}
	if out, errs, code := d.run("", "audit", "verify"); code != exitOK || !strings.HasPrefix(out, "8 entries") || errs != "" {
		t.Errorf("verify: exit %d, %q, %q", code, out, errs)
	}
}

// Verdicts of the failure table are recorded like others.
func TestFailuresAreRecorded(t *testing.T) {
	for name, judge := range map[string]failure{"internal error": panics, "no verdict within": hangs} {
		d := newFixture(t)
		d.settings("on_error: deny")
		out, _, _ := d.failing(d.call("PreToolUse", "default", "ls"), 2*time.Second, judge)
		for end := time.Now().Add(30 * time.Second); len(d.entries()) == 0 && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond) // the answer does not wait for a slow disk
		}
		all := d.stored()
		if !strings.Contains(out, `"deny"`) || len(all) != 1 || all[0]["effect"] != "deny" || all[0]["by"] != "failure" || !strings.Contains(all[0]["reason"].(string), name) {
			t.Errorf("%s: %s, %v", name, out, all)
		}
	}
}

// clock replaces the clock of a process by one that a test sets. After a verdict, the
// ledger entry is the first to use it.
func clock(p *Process) *atomic.Value {
	var now atomic.Value
	now.Store(time.Now)
	p.Now = func() time.Time { return now.Load().(func() time.Time)() }
	return &now
}

// first returns a clock that runs a function at its first use.
func first(do func()) func() time.Time {
	var asked atomic.Bool
	return func() time.Time {
		if asked.CompareAndSwap(false, true) {
			do()
		}
		return time.Now()
	}
}

// A verdict is final, even if recording it fails.
func TestAVerdictStands(t *testing.T) {
	for name, spoil := range map[string]func(*fixture, *evaluation) func() time.Time{
		"the ledger hangs":  func(d *fixture, _ *evaluation) func() time.Time { return first(func() { <-d.over }) },
		"the ledger panics": func(*fixture, *evaluation) func() time.Time { return first(func() { panic("no clock") }) },
		"the session fails": func(_ *fixture, j *evaluation) func() time.Time { j.Place.Session = nil; return time.Now },
	} {
		d := newFixture(t)
		var out, errs strings.Builder
		p := d.process(strings.NewReader(d.call("PreToolUse", "bypassPermissions", "ls")), &out, &errs)
		now := clock(&p)
		h := d.hook(p, checkFlags{Harness: "claude-code", Limit: 2 * time.Second})
		h.Decide = func(j *evaluation, ctx context.Context) cardea.Verdict {
			now.Store(spoil(d, j))
			return denies(j, ctx)
		}
		code := h.Run()
		if code != exitOK || !strings.Contains(out.String(), `"permissionDecision":"deny","permissionDecisionReason":"Cardea: no (no)"`) || errs.Len() == 0 {
			t.Errorf("%s: exit %d, %q, %q", name, code, out.String(), errs.String())
		}
	}
}

// A ledger that cannot be written is reported once a session, and changes nothing.
func TestUnwritableLedger(t *testing.T) {
	for name, spoil := range map[string]func(d *fixture){
		"a file in the way": func(d *fixture) { d.write(filepath.Join(d.state(), "ledger"), "x") },
		"a damaged key":     func(d *fixture) { d.write(filepath.Join(d.state(), "key"), "short") },
		"a pipe of a head": func(d *fixture) {
			d.mkdir(filepath.Join(d.state(), "ledger/head"))
			d.write(filepath.Join(d.state(), "ledger/spool"), "x")
		},
	} {
		d := newFixture(t)
		good, _, _ := d.run(d.call("PreToolUse", "default", "git push --force"), "check", "--harness", "claude-code")
		d = newFixture(t)
		spoil(d)
		call := d.call("PreToolUse", "default", "git push --force")
		out, errs, code := d.run(call, "check", "--harness", "claude-code")
		if code != exitOK || !strings.Contains(out, `"permissionDecision":"deny"`) || !strings.Contains(out, "systemMessage") || !strings.Contains(errs, "not recorded") {
			t.Errorf("%s: exit %d, %q, %q", name, code, out, errs)
		}
		if name == "a damaged key" {
			continue // sessions also need it
		}
		if again, _, _ := d.run(call, "check", "--harness", "claude-code"); again != good {
			t.Errorf("%s: told again: %s", name, again)
		}
		other := strings.Replace(call, `"s1"`, `"s2"`, 1)
		if out, _, _ := d.run(other, "check", "--harness", "claude-code"); !strings.Contains(out, "not recorded") {
			t.Errorf("%s: not told in another session: %s", name, out)
		}
	}
}

func TestLevels(t *testing.T) {
	d := newFixture(t)
	d.rules("rules: [{id: fine, tool: Bash, match: {command: ls}, effect: allow}, {id: ask, tool: Bash, match: {command: make}, effect: ask}]")
	calls := map[string]string{"allow": "ls", "abstain": "npm test", "defer": "$x", "ask": "make", "deny": "git push --force"}
	for level, want := range map[string][]string{"allow": {"allow"}, "abstain": {"abstain", "defer"}, "deny": {"ask", "deny"}} {
		var levels []string
		for _, l := range []string{"allow", "abstain", "deny"} {
			levels = append(levels, l+": "+strconv.FormatBool(l == level))
		}
		d.settings("ledger: {levels: {" + strings.Join(levels, ", ") + "}}")
		before := len(d.entries())
		for _, command := range calls {
			d.run(d.call("PreToolUse", "default", command), "check", "--harness", "claude-code")
		}
		got := map[string]bool{}
		for _, e := range d.stored()[before:] {
			got[e["effect"].(string)] = true
		}
		if len(got) != len(want) || !got[want[0]] || !got[want[len(want)-1]] {
			t.Errorf("level %s keeps %v, want %v", level, got, want)
		}
	}
}

func TestLedgerDir(t *testing.T) {
	d := newFixture(t)
	dir := filepath.Join(d.home, "audit")
	d.settings("ledger: {dir: " + dir + "}")
	call := d.call("PreToolUse", "default", "make")
	d.run(call, "check", "--harness", "claude-code")
	if days, _ := filepath.Glob(filepath.Join(dir, "*.jsonl")); len(days) != 1 || len(d.entries()) != 0 {
		t.Errorf("in ledger.dir: %v, in the state folder: %v", days, d.entries())
	}
	if out, _, code := d.run("", "audit", "search"); code != exitOK || strings.Count(out, "\n") != 1 {
		t.Errorf("search: exit %d, %q", code, out)
	}
	// In the project, the agent could write the ledger.
	inside := filepath.Join(d.project, "audit")
	d.settings("ledger: {dir: " + inside + "}")
	out, errs, _ := d.run(call, "check", "--harness", "claude-code")
	if _, err := os.Stat(inside); err == nil || len(d.entries()) != 1 || !strings.Contains(out, "lies in the project") || !strings.Contains(errs, "lies in the project") {
		t.Errorf("in the project: %v, %q, %q", d.entries(), out, errs)
	}
	if again, _, _ := d.run(call, "check", "--harness", "claude-code"); again != "" {
		t.Errorf("told again: %q", again)
	}
	if out, errs, code := d.run("", "audit", "verify"); code != exitOK || !strings.HasPrefix(out, "2 entries") || !strings.Contains(errs, "lies in the project") {
		t.Errorf("verify: exit %d, %q, %q", code, out, errs)
	}
	// A project cannot set the folder.
	d.settings("")
	d.write(filepath.Join(d.project, ".cardea/cardea.yaml"), "ledger: {dir: "+dir+", levels: {abstain: false}}\n")
	d.run(call, "check", "--harness", "claude-code")
	if len(d.entries()) != 3 {
		t.Errorf("a project's ledger settings count: %v", d.entries())
	}
}

// The id of an entry is shown for debugging, and never to the model.
func TestTheIDIsToldForDebugging(t *testing.T) {
	d := newFixture(t)
	call := d.call("PreToolUse", "default", "make")
	if _, errs, _ := d.run(call, "check", "--harness", "claude-code"); errs != "" {
		t.Errorf("without being asked: %q", errs)
	}
	d.vars["CARDEA_DEBUG"] = "1"
	out, errs, _ := d.run(call, "check", "--harness", "claude-code")
	id := d.stored()[1]["id"].(string)
	if out != "" || !strings.HasSuffix(errs, "cardea: recorded; see \"cardea explain "+id+"\"\n") {
		t.Errorf("%q, %q, want %s", out, errs, id)
	}
	if out, _, code := d.run("", "explain", "-v", strings.ToUpper(id)); code != exitOK || !strings.Contains(out, "input: make") {
		t.Errorf("explain: exit %d, %q", code, out)
	}
	_, errs, code := d.run("[]", "check", "--harness", "claude-code")
	if code != exitDeny || strings.Contains(errs, "recorded") {
		t.Errorf("on exit 2 the model reads it: %q", errs)
	}
}

// A text that takes too long to redact is left out of the record. The verdict is still
// recorded, once.
func TestAVerdictIsRecordedInTime(t *testing.T) {
	d := newFixture(t)
	var out, errs strings.Builder
	command := "echo " + strings.Repeat("word ", 100)
	p := d.process(strings.NewReader(d.call("PreToolUse", "default", command)), &out, &errs)
	now := clock(&p)
	h := d.hook(p, checkFlags{Harness: "claude-code", Limit: 2 * time.Second})
	slow := make(chan bool)
	h.Decide = func(j *evaluation, ctx context.Context) cardea.Verdict {
		now.Store(first(func() { <-slow })) // the first recorder is the slow one
		return denies(j, ctx)
	}
	h.Run()
	close(slow)
	h.Unended.Wait()
	all := d.stored()
	if len(all) != 1 || all[0]["effect"] != "deny" || strings.Contains(d.entries()[0], "word word") || !strings.Contains(out.String(), `"deny"`) || !strings.Contains(errs.String(), "may be missing") {
		t.Errorf("%v, %q, %q", all, out.String(), errs.String())
	}
}
