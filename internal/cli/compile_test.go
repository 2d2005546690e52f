package cli

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sandboxOf returns the entries under the key sandbox of a file.
func (d *fixture) sandboxOf(file string) (box struct {
	Enabled    *bool
	Filesystem struct{ DenyRead, DenyWrite, AllowRead []string }
	Network    struct{ DeniedDomains []string }
	Excluded   []string `json:"excludedCommands"`
}) {
	d.t.Helper()
	data, err := os.ReadFile(file)
	var all struct{ Sandbox any }
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	text, _ := json.Marshal(all.Sandbox)
	if err == nil {
		err = json.Unmarshal(text, &box)
	}
	if err != nil {
		d.t.Fatal(err)
	}
	return box
}

func TestCompile(t *testing.T) {
	d, _ := hooked(t)
	file := filepath.Join(d.home, ".claude/settings.json")
	mine := "{\n  \"model\": \"x\",\n  \"sandbox\": {\n    \"filesystem\": {\"denyRead\": [\"~/mine\"]}\n  }\n}\n"
	d.write(file, mine)
	d.settings("version: 1\nsensitive: {deny_read: [~/customers, '*.key', notes/a], ask_read: [~/ask]}\npolicies: {protected: [~/keep, build]}\n")
	d.rules("rules:\n  - {id: no-evil, match: {access: network, host: ['*.evil.example']}, effect: deny}\n  - {id: no-cat, match: {command: cat, path: [~/cat]}, effect: deny}\n")
	d.write(filepath.Join(d.project, ".cardea/cardea.yaml"), "version: 1\nsensitive: {deny_read: ['/usr/bin']}\n")
	out, errs, code := d.inScript(nil, "compile", "claude-sandbox", "--diff")
	if now, _ := os.ReadFile(file); code != exitOK || errs != "" || string(now) != mine || !strings.Contains(out, "would write "+file) {
		t.Fatalf("--diff: exit %d, %s%s", code, out, errs)
	}
	for _, want := range []string{
		"sandbox.filesystem.denyRead from sensitive-deny-read:\n  ~/customers",
		"sandbox.network.deniedDomains from no-evil:\n  *.evil.example",
		"fail in the sandbox, such as git",
		"it asks, and a sandbox cannot): sensitive-ask-read",
		"it depends on the command): ",
		"no-cat",
		"it is in each project",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if out, errs, code = d.inScript(nil, "compile", "claude-sandbox"); code != exitOK || !strings.Contains(out, "written, but the sandbox is off: run this with --enable") {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
	box := d.sandboxOf(file)
	all := strings.Join(box.Filesystem.DenyRead, "\n") + "\n" + strings.Join(box.Filesystem.DenyWrite, "\n") + "\n" + strings.Join(box.Network.DeniedDomains, "\n") + "\n"
	for want, is := range map[string]bool{
		"~/mine":                    true,
		"~/customers":               true,
		"~/**/*.key":                true,
		"~/keep":                    true,
		"*.evil.example":            true,
		"~/.local/state/cardea/key": true,
		"~/.local/state/cardea":     true,
		"/usr/bin":                  false, "~/ask": false, "~/cat": false, "build": false, "notes/a": false} {
		if strings.Contains(all, want+"\n") != is {
			t.Errorf("%s: written is not %v:\n%s", want, is, all)
		}
	}
	if strings.Contains(strings.Join(box.Filesystem.DenyWrite, " "), "customers") {
		t.Error("what nothing may read cannot be written")
	}
	if box.Enabled != nil || len(box.Excluded)+len(box.Filesystem.AllowRead) > 0 {
		t.Errorf("more than denies: %+v", box)
	}
	written, _ := os.ReadFile(file)
	if out, _, code = d.inScript(nil, "compile", "claude-sandbox"); code != exitOK || !strings.Contains(out, "nothing to change") {
		t.Errorf("twice: %s", out)
	}
	if out, _, code = d.run("", "compile", "claude-sandbox", "--check"); code != exitOK || !strings.Contains(out, "has what Cardea denies") {
		t.Errorf("--check: exit %d, %s", code, out)
	}
	// Without the person: an agent, and a script.
	for _, words := range [][]string{{"--remove"}, {"--without", "private-keys"}, {"--enable"}, {"--closed"}} {
		words = append([]string{"compile", "claude-sandbox"}, words...)
		_, agent, code := d.run("abc234\n", words...)
		_, script, again := d.inScript(nil, words...)
		if now, _ := os.ReadFile(file); code == exitOK || again == exitOK || !strings.Contains(agent+script, "only a person") || string(now) != string(written) {
			t.Errorf("%v: %s%s", words, agent, script)
		}
	}
	if _, errs, code = d.sits("abc234\n", "compile", "claude-sandbox", "--remove"); code != exitOK {
		t.Errorf("--remove: exit %d, %s", code, errs)
	}
	if now, _ := os.ReadFile(file); string(now) != mine {
		t.Errorf("left:\n%s", now)
	}
}

func TestCompileCheck(t *testing.T) {
	d, _ := hooked(t)
	file := filepath.Join(d.home, ".claude/settings.json")
	d.rules("rules: [{id: no-evil, match: {access: network, host: ['*.evil.example', old.example]}, effect: deny}]")
	if out, _, code := d.run("", "compile", "claude-sandbox", "--check"); code != exitError || !strings.Contains(out, "*.evil.example") || !strings.Contains(out, "has no denies of Cardea") ||
		!strings.Contains(out, "; it is off: run this") {
		t.Errorf("nothing there: exit %d, %s", code, out)
	}
	if _, errs, code := d.run("", "compile", "claude-sandbox", "--diff", "--without", "private-keys,privat-keys"); code == exitOK || !strings.Contains(errs, "--without privat-keys: no rule") {
		t.Errorf("a name that nothing has: exit %d, %s", code, errs)
	}
	if _, errs, code := d.sits("abc234\n", "compile", "claude-sandbox", "--enable", "--without", "private-keys,old.example"); code != exitOK {
		t.Fatal(errs)
	}
	if box := d.sandboxOf(file); box.Enabled == nil || !*box.Enabled || strings.Contains(strings.Join(box.Filesystem.DenyRead, " "), "id_rsa") ||
		strings.Contains(strings.Join(box.Network.DeniedDomains, " "), "old.example") {
		t.Errorf("%+v", box)
	}
	c, text, _ := d.doctor()
	if len(c.Sandbox) != 1 || !strings.Contains(text, "the sandbox of Claude Code has what Cardea denies, by "+file+"; it is on") {
		t.Errorf("%v\n%s", c.Sandbox, text)
	}
	d.rules("rules: [{id: no-evil, match: {access: network, host: [new.example]}, effect: deny}]")
	data, err := os.ReadFile(file)
	d.must(err)
	d.write(file, strings.Replace(string(data), `"~/.cursor/hooks.json"`, `"~/.cursor/other"`, 1))
	d.write(filepath.Join(d.project, ".claude/settings.json"), `{"sandbox": {"enabled": false, "excludedCommands": ["docker *", "\u001b[31m"]}}`)
	out, _, code := d.run("", "compile", "claude-sandbox", "--check")
	for _, want := range []string{`+        "new.example"`, `-        "*.evil.example"`, `+        "~/.cursor/hooks.json"`, "~/.cursor/hooks.json was changed or taken out",
		"has not all that Cardea denies", "the sandbox is off (" + d.project, `excludedCommands: ["docker *"`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if code != exitError || strings.Contains(out, "\x1b") || strings.Contains(out, "id_rsa") || strings.Contains(out, "old.example") {
		t.Errorf("exit %d, %q", code, out)
	}
	if c, text, _ = d.doctor(); !strings.Contains(text, "has not all that Cardea denies") || !strings.Contains(text, "cardea compile claude-sandbox --check") {
		t.Errorf("%v\n%s", c.Sandbox, text)
	}
	if _, errs, code := d.sits("abc234\n", "uninstall", "claude"); code != exitOK {
		t.Error(errs)
	}
	if box := d.sandboxOf(file); len(box.Filesystem.DenyWrite) != 1 || len(box.Network.DeniedDomains) != 0 || box.Enabled != nil {
		t.Errorf("after an uninstallation: %+v", box)
	}
}

func TestCompileRefuses(t *testing.T) {
	d, _ := hooked(t)
	for _, tt := range []struct {
		agent error
		words string
		want  string
	}{
		{errors.New("an agent is above"), "claude-sandbox", "only a person"},
		{nil, "claude-sandbox --role nonesuch", "there is no role"},
		{nil, "claude-sandbox --check --remove", "check remove"},
		{nil, "claude-sandbox --user --managed", "managed user"},
		{nil, "claude-sandbox --project", "unknown flag"},
		{nil, "vim", "there is no command"},
	} {
		_, errs, code := d.inScript(tt.agent, append([]string{"compile"}, strings.Fields(tt.words)...)...)
		if code == exitOK || !strings.Contains(errs, tt.want) {
			t.Errorf("%s: exit %d, %s", tt.words, code, errs)
		}
	}
	if _, err := os.Lstat(filepath.Join(d.home, ".claude")); err == nil {
		t.Error("something was written")
	}
	d.write(filepath.Join(d.project, ".cardea/roles.yaml"), "version: 1\nroles:\n  mine: {paths: {deny_read: ['/usr']}}\n  tester: {paths: {deny_read: [customers/**]}}\n")
	out, errs, code := d.inScript(nil, "compile", "claude-sandbox", "--diff", "--role", "tester")
	if code != exitOK || strings.Contains(out, "customers") || !strings.Contains(out, "sandbox.filesystem.denyWrite from role tester:\n  "+d.project+"/src") {
		t.Errorf("a role: exit %d, %s%s", code, out, errs)
	}
}
