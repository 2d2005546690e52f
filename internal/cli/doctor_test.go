package cli

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/limit"
	"cardea.dev/internal/config/install"
	"cardea.dev/internal/hook"
	"cardea.dev/internal/testing/testrun"
)

// TestMain makes the test program the hook that doctor tries: started with check, it is cardea.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "check" {
		os.Exit(Main(os.Args[1:], ThisProcess(hook.ThisProgram())))
	}
	os.Exit(testrun.InMemory(m))
}

// hooked returns a registrar whose home has this program as cardea.
func hooked(t *testing.T) (d *fixture, binary string) {
	t.Helper()
	d = newFixture(t)
	t.Setenv("HOME", d.home)
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d.running, binary = exe, filepath.Join(d.home, "bin/cardea")
	d.mkdir(filepath.Dir(binary))
	if err := os.Symlink(exe, binary); err != nil {
		t.Skipf("no links here: %v", err)
	}
	d.vars["PATH"] = filepath.Dir(binary)
	return d, binary
}

func (d *fixture) doctor() (checkup, string, int) {
	d.t.Helper()
	text, errs, code := d.run("", "doctor")
	out, _, again := d.run("", "doctor", "--json")
	var c checkup
	if err := json.Unmarshal([]byte(out), &c); err != nil || code != again || c.OK != (code == exitOK) || errs != "" {
		d.t.Fatalf("%v, exit %d and %d, %s\n%s", err, code, again, errs, out)
	}
	return c, text, code
}

func TestDoctor(t *testing.T) {
	d, binary := hooked(t)
	d.mkdir(filepath.Join(d.home, ".claude"))
	c, text, code := d.doctor()
	if code != exitError || c.Harnesses[0].State != stateNone || !strings.Contains(text, `run "cardea install claude"`) || !strings.Contains(text, "the hook of no harness") {
		t.Errorf("nothing: exit %d\n%s", code, text)
	}
	for _, name := range []string{"claude", "copilot"} {
		if _, errs, code := d.sits("abc234\n", "install", name, "--binary", binary); code != exitOK {
			t.Fatal(errs)
		}
	}
	c, text, code = d.doctor()
	for _, r := range c.Harnesses[:2] {
		if code != exitOK || r.State != stateReady || len(r.Probes) != 1 || len(r.Wirings) != 4 || diagnostic.HasError(r.Diagnostics) || r.LastEvent != "" {
			t.Errorf("installed: exit %d, %+v\n%s", code, r, text)
		}
	}
	d.vars["CLAUDE_PROJECT_DIR"] = d.project
	d.run(d.call("PreToolUse", "default", "ls"), "check", "--harness", "claude-code")
	if c, text, code = d.doctor(); code != exitOK || c.Harnesses[0].State != stateLive || c.Harnesses[1].State != stateReady || !strings.Contains(text, "last call by the harness: a minute ago") {
		t.Errorf("after a call: exit %d\n%s", code, text)
	}
	// The version can fail closed, but the switch is missing.
	d.program("claude", "echo 2.1.300")
	if _, text, _ = d.doctor(); !strings.Contains(text, "onFailure is missing") {
		t.Error(text)
	}
	if _, errs, code := d.sits("abc234\n", "install", "claude", "--binary", binary); code != exitOK {
		t.Fatal(errs)
	}
	if _, text, code = d.doctor(); code != exitOK || strings.Contains(text, "onFailure is missing") || !strings.Contains(text, "on failure: block") {
		t.Error(text)
	}
}

// Each of these looks installed, but does not work as a gate.
func TestDoctorFindsDeadHooks(t *testing.T) {
	hook := func(program, args string) string {
		return `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":` + asJSON(program) + `,"args":` + args + `,"timeout":10}]}],` +
			`"PermissionRequest":[{"hooks":[{"type":"command","command":` + asJSON(program) + `,"args":` + args + `,"timeout":10}]}]}}`
	}
	good := `["check","--harness","claude-code","--limit","8s"]`
	for name, tt := range map[string]struct {
		settings func(binary string) string
		local    string
		want     string
	}{
		"gone": {func(string) string { return hook("/nowhere/cardea", good) }, "{}", "is not this one"},
		"wrong flags": {func(b string) string {
			return hook(b, `["check","--harness","claude-code","--limit","8s","--no-such-flag"]`)
		}, "{}", ""},
		"wrong form": {func(b string) string { return hook(b, `["check","--harness","copilot-cli","--limit","8s"]`) }, "{}", "in the form of copilot-cli"},
		"no limit": {func(b string) string {
			return strings.ReplaceAll(hook(b, `["check","--harness","claude-code"]`), `"timeout":10`, `"timeout":5`)
		}, "{}", "Cardea takes up to 5s"},
		"switched off":  {func(b string) string { return hook(b, good) }, `{"disableAllHooks": true}`, "switched off by disableAllHooks"},
		"broken":        {func(b string) string { return hook(b, good)[1:] }, "{}", "settings.json:1:8: error: something stands behind the end"},
		"half":          {func(b string) string { return strings.Replace(hook(b, good), "PermissionRequest", "Stop", 1) }, "{}", "no hook is in force for PermissionRequest"},
		"broken beside": {func(b string) string { return hook(b, good) }, "{", "settings.local.json:1:2: "},
	} {
		d, binary := hooked(t)
		d.write(filepath.Join(d.home, ".claude/settings.json"), tt.settings(binary))
		d.write(filepath.Join(d.project, ".claude/settings.local.json"), tt.local)
		c, text, code := d.doctor()
		if code != exitError || c.Harnesses[0].State == stateLive || !strings.Contains(text, tt.want) {
			t.Errorf("%s: exit %d\n%s", name, code, text)
		}
	}
}

// In every supported harness, the installed hook denies the probe, started as the harness
// starts it.
func TestDoctorOfEveryHarness(t *testing.T) {
	d, binary := hooked(t)
	spoken := map[string]bool{}
	for _, a := range hook.Adapters() {
		spoken[a.Name()] = true
	}
	s := harnessPathsOf(d.process(strings.NewReader(""), io.Discard, io.Discard))
	for _, h := range install.Harnesses() {
		if !spoken[h.Name] {
			t.Errorf("%s can be installed, and is not spoken with", h.Name)
		}
		plan, err := install.PlanInstall(h, install.User, s.At, install.Wanted{Binary: binary, Timeout: limit.HarnessHook})
		if err == nil {
			err = plan.Apply()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	out, _, _ := d.run("", "doctor", "--json")
	var c checkup
	if err := json.Unmarshal([]byte(out), &c); err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Harnesses {
		trusted := r.Name != "codex" // Codex was not set to trust it
		if len(r.Probes) == 0 || trusted != (r.State == stateReady) || trusted && diagnostic.HasError(r.Diagnostics) {
			t.Errorf("%s: %s, %v", r.Name, r.State, r.Diagnostics)
		}
	}
}

// doctor reports why hooks and the daemon do not work together.
func TestTellDaemon(t *testing.T) {
	const plain, asker, post = "/bin/cardea", "/bin/cardea-hook", ""
	for _, tt := range []struct {
		state, hook string
		starts      bool
		want        string
	}{
		{daemonRuns, asker, false, ""},
		{daemonRuns, post, false, ""},
		{daemonRuns, plain, false, "the daemon runs, and no hook asks it: none starts cardea-hook"},
		{daemonRuns, plain, true, "none asks it"},
		{daemonGone, plain, true, "none asks it"},
		{daemonGone, asker, false, "it does not run: cardea answers"},
		{daemonGone, asker, true, ""},
		{daemonGone, plain, false, ""},
		{daemonGone, post, false, ""},
		{daemonNone, asker, false, ""},
		{daemonSilent, asker, false, "the daemon is not asked"},
	} {
		w := install.Wiring{Program: tt.hook}
		if tt.hook == post {
			w.URL = "http://127.0.0.1:7717/"
		}
		c := checkup{Harnesses: []hookReport{{Wirings: []install.Wiring{w}}}, Daemon: daemonReport{State: tt.state, Starts: tt.starts}}
		c.Daemon.Asked = c.wired(asksDaemon) || c.wired(postsToDaemon)
		c.tellDaemon()
		said := ""
		for _, d := range c.Diagnostics {
			said += d.Text
		}
		if (said == "") != (tt.want == "") || !strings.Contains(said, tt.want) {
			t.Errorf("%s, hook %q, starts %v: %q, want %q", tt.state, tt.hook, tt.starts, said, tt.want)
		}
	}
}
