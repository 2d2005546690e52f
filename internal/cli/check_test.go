package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/hook"
)

// hook returns a run of check. The test's folders exist until it ends.
func (d *fixture) hook(p Process, f checkFlags) *hook.Hook {
	h := hook.New(p.Process, f)
	d.works.Go(func() { <-d.over; h.Unended.Wait() })
	return h
}

// failing runs a hook whose gate fails.
func (d *fixture) failing(stdin string, limit time.Duration, judge failure) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	h := d.hook(d.process(strings.NewReader(stdin), &out, &errs), checkFlags{Harness: "claude-code", Limit: limit})
	h.Decide = func(j *evaluation, _ context.Context) cardea.Verdict { return judge(d, j) }
	code = h.Run()
	return out.String(), errs.String(), code
}

// failure is a gate that fails.
type failure func(*fixture, *evaluation) cardea.Verdict

func panics(*fixture, *evaluation) cardea.Verdict { panic("out of order") }

// hangs ignores its context, as a decider in an endless loop does.
func hangs(d *fixture, _ *evaluation) cardea.Verdict {
	<-d.over
	return cardea.Verdict{Effect: cardea.Allow}
}

func TestFailureTable(t *testing.T) {
	for _, c := range []struct {
		name, settings, event, mode string
		judge                       failure
		want, told                  string
	}{
		{
			"panic, attended",
			"",
			"PreToolUse",
			"default",
			panics,
			`"systemMessage":"Cardea: internal error: out of order`,
			"internal error: out of order",
		},
		{"panic, unattended", "", "PreToolUse", "bypassPermissions", panics, `"permissionDecision":"ask"`, "internal error"},
		{
			"panic, on_error deny",
			"on_error: deny",
			"PreToolUse",
			"default",
			panics,
			`"permissionDecision":"deny"`,
			"internal error",
		},
		{
			"panic, on_error allow",
			"on_error: allow",
			"PreToolUse",
			"bypassPermissions",
			panics,
			`"systemMessage"`,
			"internal error",
		},
		{
			"panic on PermissionRequest",
			"on_error: deny",
			"PermissionRequest",
			"default",
			panics,
			`"behavior":"deny"`,
			"internal error",
		},
		{
			"panic where nothing is answered",
			"on_error: deny",
			"PostToolUse",
			"default",
			panics,
			"",
			"internal error",
		},
		{"hang, attended", "", "PreToolUse", "default", hangs, `"permissionDecision":"ask"`, "no verdict within"},
		{"hang, unattended", "", "PreToolUse", "bypassPermissions", hangs, `"permissionDecision":"ask"`, "no verdict within"},
		{
			"hang, on_error deny",
			"on_error: deny",
			"PreToolUse",
			"default",
			hangs,
			`"permissionDecision":"deny"`,
			"no verdict within",
		},
		{
			"hang on PermissionRequest",
			"on_error: deny",
			"PermissionRequest",
			"default",
			hangs,
			`"behavior":"deny"`,
			"no verdict within",
		},
	} {
		d, limit := newFixture(t), time.Minute
		if strings.HasPrefix(c.name, "hang") {
			limit = time.Second
		}
		d.settings(c.settings)
		out, errs, code := d.failing(d.call(c.event, c.mode, "ls"), limit, c.judge)
		if code != exitOK || !strings.Contains(out, c.want) || (out == "") != (c.want == "") {
			t.Errorf("%s: exit %d, %q; want %q", c.name, code, out, c.want)
		}
		if !strings.Contains(errs, c.told) {
			t.Errorf("%s: stderr %q does not tell %q", c.name, errs, c.told)
		}
		if strings.Contains(out, "allow") {
			t.Errorf("%s: a failure allows: %s", c.name, out)
		}
	}
}

// brokenReader fails or panics when it is read.
type brokenReader func() (int, error)

func (r brokenReader) Read([]byte) (int, error) { return r() }

func TestFailuresBeforeTheMessageIsRead(t *testing.T) {
	for name, stdin := range map[string]io.Reader{
		"error": brokenReader(func() (int, error) { return 0, errors.New("no such luck") }),
		"panic": brokenReader(func() (int, error) { panic("in the reader") }),
		"hang":  brokenReader(func() (int, error) { time.Sleep(time.Second); return 0, io.EOF }),
		"huge":  io.LimitReader(brokenSpaces{}, hook.MaxInput+10),
	} {
		for harness, want := range map[string]int{"claude-code": exitDeny, "": exitOK} {
			d := newFixture(t)
			var out, errs bytes.Buffer
			limit := 10 * time.Second
			if name == "hang" {
				limit = 50 * time.Millisecond
			}
			code := d.hook(d.process(stdin, &out, &errs), checkFlags{Harness: harness, Limit: limit}).Run()
			if name == "huge" {
				stdin = io.LimitReader(brokenSpaces{}, hook.MaxInput+10)
			}
			if code != want || out.Len() > 0 || errs.Len() == 0 {
				t.Errorf("%s, --harness %q: exit %d, stdout %q, stderr %q", name, harness, code, out.String(), errs.String())
			}
		}
	}
}

type brokenSpaces struct{}

func (brokenSpaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// An answer that cannot be delivered must not become silence.
func TestAnswerThatCannotBeWritten(t *testing.T) {
	d := newFixture(t)
	d.rules("rules: [{id: no, effect: deny}]")
	var errs bytes.Buffer
	code := Main([]string{"check", "--harness", "claude-code"}, d.process(strings.NewReader(d.call("PreToolUse", "default", "ls")), fullDisk{}, &errs))
	if code != exitDeny || !strings.Contains(errs.String(), "could not be written") {
		t.Errorf("exit %d, %q", code, errs.String())
	}
}

func TestIssuesAreToldOnceASession(t *testing.T) {
	d := newFixture(t)
	d.settings("colour: red")
	call := d.call("PreToolUse", "default", "make")
	first, told, _ := d.run(call, "check", "--harness", "claude-code")
	if !strings.Contains(first, `"systemMessage"`) || !strings.Contains(first, `cardea.yaml:1:1: unknown key \"colour\"`) || !strings.Contains(told, "unknown key") {
		t.Errorf("first: %q, %q", first, told)
	}
	if again, told, _ := d.run(call, "check", "--harness", "claude-code"); again != "" || !strings.Contains(told, "unknown key") {
		t.Errorf("again: %q, %q; standard error still tells", again, told)
	}
	other := strings.Replace(call, `"s1"`, `"s2"`, 1)
	if out, _, _ := d.run(other, "check", "--harness", "claude-code"); !strings.Contains(out, "unknown key") {
		t.Errorf("another session: %q", out)
	}
}

// If the state folder cannot be used, the person gets a warning, and the verdict is the same.
func TestUnwritableState(t *testing.T) {
	d := newFixture(t)
	d.write(d.home+"/.local", "a file in the way")
	out, errs, code := d.run(d.call("PreToolUse", "default", "git push --force"), "check", "--harness", "claude-code")
	if code != exitOK || !strings.Contains(out, `"permissionDecision":"deny"`) || !strings.Contains(out, "write session") || !strings.Contains(errs, "write session") {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
}

func TestUnattendedByVariable(t *testing.T) {
	d := newFixture(t)
	d.rules("rules: [{id: someone, tool: Bash, match: {command: ls}, effect: ask, person: true}]")
	for value, want := range map[string]string{"": "ask", "0": "ask", "false": "ask", "1": "deny"} {
		d.vars["CARDEA_UNATTENDED"] = value
		out, _, _ := d.run(d.call("PreToolUse", "default", "ls"), "check", "--harness", "claude-code")
		if !strings.Contains(out, `"permissionDecision":"`+want+`"`) {
			t.Errorf("CARDEA_UNATTENDED=%s: %s, want %s", value, out, want)
		}
	}
}

// On PermissionRequest an allow would answer the harness's own question instead of the person.
func TestNativeAskStays(t *testing.T) {
	d := newFixture(t)
	d.rules("rules: [{id: fine, tool: Bash, match: {command: ls}, effect: allow}]")
	call := d.call("PermissionRequest", "default", "ls")
	if out, _, _ := d.run(call, "check", "--harness", "claude-code"); !strings.Contains(out, `"behavior":"allow"`) {
		t.Errorf("without an ask entry: %q", out)
	}
	d.write(d.home+"/.claude/settings.json", `{"permissions":{"ask":["Bash(ls *)"]}}`)
	if out, _, _ := d.run(call, "check", "--harness", "claude-code"); out != "" {
		t.Errorf("with an ask entry: %q", out)
	}
}

// For any input: exit 0 or 2, and nothing or exactly one JSON object.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{"", "{}", "[]", `{"hook_event_name":"PreToolUse","transcript_path":"/t","tool_name":"Bash","tool_input":{"command":"git push -f"}}`,
		`{"toolName":"bash","timestamp":1,"sessionId":"s","toolArgs":"{\"command\":\"rm -rf /\"}"}`, "{\"a\":\"\xff\"}", `{"tool_input":{"command":["x"]}}`} {
		f.Add([]byte(s), true)
	}
	d := newFixture(f)
	d.rules("rules: [{id: all, effect: deny}]")
	f.Fuzz(func(t *testing.T, raw []byte, explicit bool) {
		args := []string{"check"}
		if explicit {
			args = append(args, "--harness", "claude-code")
		}
		out, errs, code := d.run(string(raw), args...)
		oneObject(t, out, errs, code)
	})
}

// oneObject checks what every harness relies on: exit 0 or 2, and at most one JSON object.
func oneObject(t testing.TB, out, errs string, code int) {
	t.Helper()
	switch {
	case code == exitDeny && (out != "" || errs == ""):
		t.Errorf("exit 2 with stdout %q and stderr %q", out, errs)
	case code != exitOK && code != exitDeny:
		t.Errorf("exit %d", code)
	case out != "":
		var v map[string]any
		if err := json.Unmarshal([]byte(out), &v); err != nil || !strings.HasSuffix(out, "}\n") || strings.Count(out, "\n") != 1 {
			t.Errorf("stdout is not one object and a newline: %q, %v", out, err)
		}
	}
}

func BenchmarkCheckInProcess(b *testing.B) {
	d := newFixture(b)
	call := d.call("PreToolUse", "default", "git add . && timeout 30 npm test 2>&1 | tail -5")
	for b.Loop() {
		var out, errs bytes.Buffer
		if code := Main([]string{"check", "--harness", "claude-code"}, d.process(strings.NewReader(call), &out, &errs)); code != exitOK {
			b.Fatal(errs.String())
		}
	}
}

func BenchmarkCommandTree(b *testing.B) {
	p := Process{Process: hook.Process{Env: func(string) string { return "" }}}
	for b.Loop() {
		tree(p)
	}
}
