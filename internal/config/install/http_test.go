package install

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

var overHTTP = Wanted{Binary: "/usr/local/bin/cardea", Timeout: wanted.Timeout, FailClosed: true, HTTP: "127.0.0.1:7717", Token: strings.Repeat("ab", 32)}

// TestLateEvents checks that an event is left out if the version does not have it or is
// unknown, and that it can stop calls if registered.
func TestLateEvents(t *testing.T) {
	h, err := Find("claude")
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]bool{"2.1.332": true, "2.2.0": true, "3.0.0": true, "2.1.331": false, "2.1.330": false, "": false} {
		on, left, err := h.On(version)
		if has := slices.Contains(on.events, "PreSkillShellCommand"); has != want || slices.Contains(left, "PreSkillShellCommand") == want || err != nil {
			t.Errorf("%s: events %v, left %v, %v", version, on.events, left, err)
		}
		if slices.Contains(on.Prompts(version), "PreSkillShellCommand") || on.Gate() != "PreToolUse" {
			t.Errorf("%s: prompts %v, gate %s", version, on.Prompts(version), on.Gate())
		}
		if line := on.line(Wanted{Binary: "/b/cardea", Timeout: 10 * time.Second}, "PreSkillShellCommand"); runtime.GOOS != "windows" && line == withoutShut(line) {
			t.Errorf("%s: a program that is missing lets the command run: %s", version, line)
		}
	}
	if got := h.Since("Setup"); got != "2.1.101" {
		t.Errorf("Setup is there since %s", got)
	}
	if got := h.Since("Setup", "PreSkillShellCommand"); got != "2.1.332" {
		t.Errorf("both are there since %s", got)
	}
}

// TestHTTP checks that HTTP hooks are inserted, found, replaced by process hooks, and
// removed.
func TestHTTP(t *testing.T) {
	h, at := harnessOf(t, "claude"), machine(t)
	h, _, err := h.On("2.1.330", "SessionStart", "PostToolUse")
	if err != nil {
		t.Fatal(err)
	}
	path, err := at.File(h, User)
	if err != nil {
		t.Fatal(err)
	}
	before := "{\n  \"model\": \"x\",\n  \"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"type\": \"http\", \"url\": \"http://127.0.0.1:1/other\"}]}]}\n}\n"
	put(t, path, before)
	install := func(w Wanted) *Plan {
		t.Helper()
		p, err := PlanInstall(h, User, at, w)
		if err == nil {
			err = p.Apply()
		}
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	install(overHTTP)
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte(`http://127.0.0.1:7717/cardea/check?harness=claude-code&limit=8s`)) || !bytes.Contains(text, []byte("/other")) {
		t.Fatalf("%v %s", err, text)
	}
	byEvent := map[string]Wiring{}
	for _, w := range Inspect(h, at).Wirings {
		byEvent[w.Event] = w
		if len(w.Diagnostics) > 0 {
			t.Errorf("%s: %v", w.Event, w.Diagnostics)
		}
	}
	for event, http := range map[string]bool{"PreToolUse": true, "PermissionRequest": true, "PostToolUse": true, "UserPromptSubmit": false, "SessionStart": false} {
		w, there := byEvent[event]
		if !there || (w.URL != "") != http || http && (w.Program != "" || w.OnFailure != "block" || w.Limit != wanted.Limit() || strings.Contains(w.Command(), overHTTP.Token)) {
			t.Errorf("%s: %+v", event, w)
		}
	}
	if p, err := PlanInstall(h, User, at, overHTTP); err != nil || p.Changed() {
		t.Errorf("a second time changes it: %v", err)
	}
	install(wanted)
	for _, w := range Inspect(h, at).Wirings {
		if w.URL != "" {
			t.Errorf("%s is still sent", w.Event)
		}
	}
	install(overHTTP)
	p, err := PlanUninstall(h, User, at)
	if err == nil {
		err = p.Apply()
	}
	if text, rerr := os.ReadFile(path); err != nil || rerr != nil || string(text) != before {
		t.Errorf("%v %v %s", err, rerr, text)
	}
}

// TestHTTPProblems checks that HTTP hooks that let calls pass unseen are reported.
func TestHTTPProblems(t *testing.T) {
	h, at := harnessOf(t, "claude"), machine(t)
	path, err := at.File(h, User)
	if err != nil {
		t.Fatal(err)
	}
	const handler = `{"type":"http","url":"http://127.0.0.1:7717/cardea/check?harness=claude-code&limit=8s","timeout":10,"onFailure":"block","headers":{"Authorization":"Bearer t"}}`
	for name, tt := range map[string]struct {
		event, text string
		want        string
	}{
		"in order":         {"PreToolUse", handler, ""},
		"open":             {"PreToolUse", strings.Replace(handler, `"onFailure":"block",`, "", 1), "a call runs when the daemon is not there"},
		"another machine":  {"PreToolUse", strings.Replace(handler, "127.0.0.1", "10.0.0.1", 1), "another address"},
		"a name":           {"PreToolUse", strings.Replace(handler, "127.0.0.1", "localhost", 1), "another address"},
		"behind a name":    {"PreToolUse", strings.Replace(handler, "127.0.0.1", "127.0.0.1:1@evil.example", 1), "another address"},
		"a prompt":         {"UserPromptSubmit", handler, "must not"},
		"the start":        {"SessionStart", handler, "must not"},
		"too long":         {"PreToolUse", strings.Replace(handler, "limit=8s", "limit=10s", 1), "the harness waits"},
		"some calls":       {"PreToolUse", strings.Replace(handler, `"timeout"`, `"if":"Bash(git *)","timeout"`, 1), "condition"},
		"another's answer": {"PreToolUse", strings.Replace(handler, "harness=claude-code", "harness=copilot-cli", 1), "in the form of"},
	} {
		put(t, path, `{"hooks":{"`+tt.event+`":[{"matcher":"*","hooks":[`+tt.text+`]}]}}`)
		found := Inspect(h, at).Wirings
		if len(found) != 1 {
			t.Fatalf("%s: %+v", name, found)
		}
		all := ""
		for _, d := range found[0].Diagnostics {
			all += d.String() + "\n"
		}
		if (tt.want == "") != (all == "") || !strings.Contains(all, tt.want) {
			t.Errorf("%s: %s", name, all)
		}
	}
}

// TestHTTPClosesFile checks that doctor sends its call and the token only to the user's own
// daemon. Only the user can read a file with a token.
func TestHTTPClosesFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the mode bits say nothing there")
	}
	h := harnessOf(t, "claude")
	for _, mode := range []os.FileMode{0o600, 0o400, 0o640, 0o644, 0o664, 0o666, 0o604, 0o755, 0o444} {
		at := machine(t)
		path, err := at.File(h, User)
		if err != nil {
			t.Fatal(err)
		}
		put(t, path, `{"model": "x"}`)
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		modeIs := func(what string, want os.FileMode) {
			t.Helper()
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%#o, %s: %v, %v", mode, what, info.Mode(), err)
			}
		}
		p, err := PlanInstall(h, User, at, overHTTP)
		if err != nil {
			t.Fatal(err)
		}
		if told := strings.Contains(p.Diff(), "becomes "); told != (mode&0o077 != 0) {
			t.Errorf("%#o: %s", mode, p.Diff())
		}
		modeIs("planned", mode)
		if err := p.Apply(); mode&0o200 == 0 {
			if err == nil {
				t.Errorf("%#o: what is read-only was written", mode)
			}
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		modeIs("installed", mode&0o700)
		// Without a token the mode stays.
		if p, err = PlanInstall(h, User, at, wanted); err == nil {
			_ = os.Chmod(path, 0o644)
			err = p.Apply()
		}
		if err != nil || strings.Contains(p.Diff(), "becomes") {
			t.Error(err, p.Diff())
		}
	}
	at := machine(t)
	path, _ := at.File(h, User)
	put(t, path, `{"model": "x"}`)
	if err := errors.Join(os.Chmod(path, 0o644), os.Chown(path, 1, -1)); err != nil {
		t.Skip(err) // only root can change the owner
	}
	if _, err := PlanInstall(h, User, at, overHTTP); err == nil || !strings.Contains(err.Error(), "another user's") {
		t.Error(err)
	}
	// Commands for the user are quoted.
	if text := OtherToken("/h/f", "/a b;$(x)"); !strings.Contains(text, "rm -f '/a b;$(x)/http-token'") {
		t.Error(text)
	}
}

func TestProbeHTTP(t *testing.T) {
	h := harnessOf(t, "claude")
	good := Wiring{URL: "http://127.0.0.1:7717/cardea/check?harness=claude-code", token: "t"}
	sent := 0
	send := func(answer string) func(string, string, []byte) ([]byte, error) {
		return func(to, token string, message []byte) ([]byte, error) {
			sent++
			if to != good.URL || token != "t" || !bytes.Contains(message, []byte("rm -rf /")) {
				t.Errorf("%s, %s was sent %s", to, token, message)
			}
			return []byte(answer), nil
		}
	}
	deny := `{"hookSpecificOutput":{"permissionDecision":"deny"}}`
	if err := ProbeHTTP(h, good, "127.0.0.1:7717", "t", "/w", send(deny)); err != nil || sent != 1 {
		t.Error(err, sent)
	}
	if err := ProbeHTTP(h, good, "127.0.0.1:7717", "t", "/w", send("")); err == nil || sent != 2 {
		t.Error("silence is a denial")
	}
	elsewhere, stale := good, good
	elsewhere.URL, stale.token = strings.Replace(good.URL, "7717", "7718", 1), "u"
	for name, w := range map[string]Wiring{"another port": elsewhere, "another token": stale} {
		if err := ProbeHTTP(h, w, "127.0.0.1:7717", "t", "/w", send(deny)); err == nil || sent != 2 {
			t.Errorf("%s: %v, sent %d times", name, err, sent)
		}
	}
}
