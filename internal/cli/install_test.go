package cli

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"cardea.dev/internal/config/install"
	"cardea.dev/internal/config/release"
)

func (d *fixture) program(name, script string) string {
	path := filepath.Join(d.home, "bin", name)
	d.write(path, "#!/bin/sh\n"+script+"\n")
	if err := os.Chmod(path, 0o755); err != nil {
		d.t.Fatal(err)
	}
	return path
}

// check --unattended has the effect of CARDEA_UNATTENDED.
func TestUnattendedFlag(t *testing.T) {
	d := newFixture(t)
	d.settings("default: {attended: ask, unattended: deny}\n")
	call := d.call("PreToolUse", "default", "missingEvents-of")
	attended, _, _ := d.run(call, "check", "--harness", "claude-code")
	flag, _, _ := d.run(call, "check", "--harness", "claude-code", "--unattended")
	d.vars["CARDEA_UNATTENDED"] = "1"
	variable, _, _ := d.run(call, "check", "--harness", "claude-code")
	if !strings.Contains(attended, `"ask"`) || !strings.Contains(flag, `"deny"`) || flag != variable {
		t.Errorf("attended %s\nflag %s\nvariable %s", attended, flag, variable)
	}
}

// Only a real event is a heartbeat, and it is written once a minute.
func TestHeartbeat(t *testing.T) {
	d := newFixture(t)
	path := filepath.Join(d.home, ".local/state/cardea/heartbeat/claude-code")
	call := d.call("PreToolUse", "default", "ls")
	d.run(strings.Replace(call, `"session_id":"s1"`, `"session_id":""`, 1), "check", "--harness", "claude-code")
	d.run(strings.Replace(call, "PreToolUse", "PostToolUse", 1), "check", "--harness", "claude-code")
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("what is no call of a session is a heartbeat: %v", err)
	}
	d.run(call, "check", "--harness", "claude-code")
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a call that was put in by hand is a heartbeat: %v", err)
	}
	d.vars["CLAUDECODE"] = "1"
	d.run(call, "check", "--harness", "claude-code")
	old := time.Now().Add(-30 * time.Second)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	d.run(call, "check", "--harness", "claude-code")
	info, err := os.Stat(path)
	if err != nil || !info.ModTime().Equal(old) && info.ModTime().Sub(old) > time.Second {
		t.Errorf("written again within a minute: %v, %v", info.ModTime(), err)
	}
	old = old.Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	d.run(call, "check", "--harness", "claude-code")
	if info, err = os.Stat(path); err != nil || time.Since(info.ModTime()) > time.Minute {
		t.Errorf("not written again: %v", err)
	}
}

func TestInstallSaysWhatItCannot(t *testing.T) {
	d, binary := hooked(t)
	other := d.program("other/cardea", "true")
	d.vars["TMPDIR"] = filepath.Join(d.home, "bin")
	for _, args := range [][]string{
		{"install", "claude", "--binary", binary},
		{"install", "claude", "--binary", binary, "--dry-run"},
		{"install", "claude", "--managed", "--dry-run", "--binary", "../home/bin/cardea"},
	} {
		if _, errs, code := d.run("", args...); code == exitOK || !strings.Contains(errs, "temporary folder") || !strings.Contains(errs, "/releases/latest/download/install.sh | sh") {
			t.Errorf("%v: exit %d, %s", args, code, errs)
		}
	}
	delete(d.vars, "TMPDIR")
	inProject := filepath.Join(d.project, "bin/cardea")
	d.mkdir(filepath.Dir(inProject))
	if data, err := os.ReadFile(binary); err != nil || os.WriteFile(inProject, data, 0o755) != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"install", "vim"}, "use claude, copilot"},
		{[]string{"install"}, "an argument is missing"},
		{[]string{"install", "claude", "--binary", binary, "--timeout", "1500ms"}, "whole seconds"},
		{[]string{"install", "claude", "--binary", binary + "x"}, "install it first"},
		{[]string{"install", "claude"}, "/releases/latest/download/install.sh | sh"},
		{[]string{"install", "claude", "--binary", inProject}, "in the project, where the agent may replace it"},
		{[]string{"install", "claude", "--binary", "bin/cardea", "--dry-run"}, "in the project"},
		{[]string{"install", "claude", "--binary", other}, "is another program than the one that runs this command"},
	} {
		if _, errs, code := d.run("", tt.args...); code == exitOK || !strings.Contains(errs, tt.want) {
			t.Errorf("%v: exit %d, %s", tt.args, code, errs)
		}
	}
	d.vars["COPILOT_HOME"] = filepath.Join(d.project, "planted")
	out, errs, code := d.sits("", "install", "copilot", "--binary", "../home/bin/cardea", "--dry-run")
	if code != exitOK || !strings.Contains(errs, "COPILOT_HOME") || !strings.Contains(out, "would write "+d.home+"/.copilot/hooks/cardea.json") || strings.Contains(out, "next:") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	d.vars["COPILOT_HOME"] = filepath.Join(d.home, "elsewhere")
	d.vars["PATH"] = filepath.Join(d.home, "bin")
	d.program("claude", "echo 2.1.200")
	if out, _, _ = d.sits("", "install", "copilot", "--binary", binary, "--dry-run"); !strings.Contains(out, d.home+"/elsewhere/hooks/cardea.json") {
		t.Error(out)
	}
	if out, _, _ = d.sits("", "install", "claude", "--managed", "--binary", binary, "--dry-run"); !strings.Contains(out, "50-cardea.json") || !strings.Contains(out, "2.1.200 lets a call run") {
		t.Error(out)
	}
	if out, _, _ = d.sits("abc234\n", "install", "claude", "--project", "--binary", binary); !strings.Contains(out, "policies will ask instead of deciding: cardea-engine is missing") ||
		!strings.Contains(out, "wrote "+d.project+"/.claude/settings.json") {
		t.Error(out)
	}
	if out, _, _ = d.sits("", "install", "claude", "--project", "--uninstall", "--dry-run"); !strings.Contains(out, "would remove") {
		t.Error(out)
	}
	// A dry run needs no person.
	for _, args := range [][]string{{"install", "claude", "--binary", binary}, {"install", "claude", "--project", "--uninstall"}} {
		_, refused, code := d.run("", args...)
		out, errs, dry := d.run("", append(args, "--dry-run")...)
		if code == exitOK || dry != exitOK || !strings.Contains(out, "would ") || !strings.Contains(out, "carried out, this asks for a code, since ") || errs != "" ||
			!strings.Contains(refused, "only a person") {
			t.Errorf("%v: exit %d and %d, %s%s", args, code, dry, out, errs)
		}
	}
	d.write(filepath.Join(d.project, ".claude/settings.json"), "{}")
	if err := os.Chmod(filepath.Join(d.project, ".claude/settings.json"), 0o400); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := d.sits("", "install", "claude", "--project", "--binary", binary, "--dry-run"); code == exitOK || !strings.Contains(errs, "is read-only") {
		t.Errorf("read-only: exit %d, %s", code, errs)
	}
}

func TestStatusline(t *testing.T) {
	d := newFixture(t)
	file := filepath.Join(d.home, ".claude/settings.json")
	for _, tt := range []struct{ settings, want string }{
		{"{}", "cardea: absent\n"},
		{"{", "cardea: settings are broken, run cardea doctor\n"},
		{`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/c/cardea check","timeout":5}]}]}}`, "cardea: has a problem, run cardea doctor\n"},
		{`{"hooks":{"PermissionRequest":[{"hooks":[{"type":"command","command":"/c/cardea check"}]}]}}`, "cardea: switched off, run cardea doctor\n"},
		{`{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/c/cardea check"}]}]}}`, "cardea: ready, no call yet\n"},
	} {
		d.write(file, tt.settings)
		if out, errs, code := d.run(`{"cwd": "relative"}`, "statusline"); out != tt.want || errs != "" || code != exitOK {
			t.Errorf("%s: exit %d, %q, %s", tt.settings, code, out, errs)
		}
	}
	if code := Main([]string{"statusline"}, d.process(strings.NewReader("x"), broken{}, broken{})); code != exitOK {
		t.Errorf("exit %d", code)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("closed") }

func TestAges(t *testing.T) {
	now := time.Now()
	for d, want := range map[time.Duration]string{time.Second: "a minute", 5 * time.Minute: "5 minutes", 5 * time.Hour: "5 hours", 72 * time.Hour: "3 days"} {
		if got := ago(now.Add(-d).UTC().Format(time.RFC3339Nano), now); got != want+" ago" {
			t.Errorf("%s is %s", d, got)
		}
	}
	if ago("", now) != "none yet" {
		t.Error("nothing was some time ago")
	}
}

// doctor names the harnesses that also run Claude Code's hooks.
func TestReaders(t *testing.T) {
	d := newFixture(t)
	var s harnessPaths
	s.Place.Dirs.Home, s.At = d.home, install.Places{Project: d.project, User: map[string]string{"copilot-cli": filepath.Join(d.home, ".copilot")}}
	for _, dir := range []string{".cursor", ".copilot", ".vscode"} {
		d.mkdir(filepath.Join(d.home, dir))
	}
	shared := install.Wiring{Scope: install.Project, File: filepath.Join(d.project, ".claude/settings.json")}
	if got := readers(s, []install.Wiring{shared}); len(got) != 3 {
		t.Errorf("%q", got)
	}
	if got := readers(s, []install.Wiring{{Scope: install.Managed}}); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// The sessions in docs/installation.md are the program's output.
func TestInstallationPageIsTrue(t *testing.T) {
	page, err := os.ReadFile("../../docs/installation.md")
	if err != nil {
		t.Fatal(err)
	}
	if one := "`curl -fsSL " + release.Repository + "/releases/latest/download/install.sh | sh`"; !strings.Contains(string(page), one) {
		t.Errorf("docs/installation.md should name %s", one)
	}
	d := newFixture(t)
	d.program("claude", "echo '2.1.332 (Claude Code)'")
	binary := d.program("cardea", "true")
	d.running, d.vars["PATH"] = binary, filepath.Dir(binary)
	d.program("cardea-engine", "true")
	d.write(filepath.Join(d.home, ".claude/settings.json"), "{\n  \"model\": \"opus\",\n  \"permissions\": {\"allow\": [\"Bash(npm test)\"]}\n}\n")
	for _, command := range []string{"install claude --dry-run", "install claude", "install claude --uninstall"} {
		args := strings.Fields(command)
		if !strings.Contains(command, "uninstall") {
			args = append(args, "--binary", binary)
		}
		out, errs, code := d.sits("abc234\n", args...)
		out = strings.ReplaceAll(out, "carried out, this asks for a code, since there are other flags than --user, --project and --managed\n", "") // --binary
		out = regexp.MustCompile(`\d+ files?, \d+ KB`).ReplaceAllString(out, "2 files, 2 KB")                                                      // paths are in them
		out = strings.ReplaceAll(strings.ReplaceAll(out, binary, "/usr/local/bin/cardea"), d.home, "/home/you")
		if shown := "```console\n$ cardea " + command + "\n" + out + "```"; code != exitOK || !strings.Contains(string(page), shown) {
			t.Errorf("docs/installation.md should show (exit %d, %s)\n%s", code, errs, shown)
		}
	}
}

// The setting that applies allow lists to the parts of a line is suggested, if lists allow
// something and no settings mention it.
func TestInstallNamesExpansion(t *testing.T) {
	for _, tt := range []struct {
		name, lists, settings string
		told                  bool
	}{
		{"allows", `{"permissions": {"allow": ["Bash(npm test)", "Bash(make:*)"]}}`, "", true},
		{"nothing allows", `{"permissions": {"deny": ["Bash(rm:*)"]}}`, "", false},
		{"said already", `{"permissions": {"allow": ["Bash(npm test)"]}}`, "permissions: {expand: false} # mine\n", false},
		{"other settings", `{"permissions": {"allow": ["Bash(npm test)"]}}`, "on_error: deny # mine\n", true},
	} {
		d, binary := hooked(t)
		d.write(filepath.Join(d.home, ".claude/settings.json"), tt.lists)
		if tt.settings != "" {
			d.write(filepath.Join(d.home, ".config/cardea/cardea.yaml"), tt.settings)
		}
		out, errs, code := d.sits("abc234\n", "install", "claude", "--binary", binary)
		if told := strings.Contains(out, `run "cardea config set permissions.expand true"`); code != exitOK || told != tt.told {
			t.Errorf("%s: exit %d, %s%s", tt.name, code, out, errs)
		}
	}
}
