package cli

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/hook"
)

func TestList(t *testing.T) {
	d := newFixture(t)
	d.settings("packs: {web: off}\nrules: {effect: {git-clean: deny}}\n")
	d.rules("rules: [{id: mine, tool: Bash, match: {command: mine}, context: Careful., severity: low}]")
	d.write(filepath.Join(d.project, ".cardea/rules/r.yaml"), "rules: [{id: pa, tool: Bash, match: {command: pa}, effect: allow}]")
	d.write(filepath.Join(d.project, ".claude/tool-routes.yaml"), "routes: {rt: {tool: WebFetch, pattern: x, message: m}}")
	out, _, code := d.run("", "list")
	for _, want := range []string{
		"project " + d.project + " (not trusted)",
		"web: off",
		"git: on, ",
		"deny  git-clean",
		"advice  mine",
		"switched off",
		"rt  WebFetch.url  project", "rules.effect.git-clean: deny", "rule pa does not count"} {
		if code != exitOK || !strings.Contains(out, want) {
			t.Errorf("list does not say %q: exit %d\n%s", want, code, out)
		}
	}
	out, _, code = d.run("", "list", "--json")
	var l listing
	var raw map[string]any
	if json.Unmarshal([]byte(out), &raw) != nil || code != exitOK {
		t.Fatalf("exit %d, %s", code, out)
	}
	if raw["project"] != d.project || raw["trusted"] != false || len(raw["routes"].([]any)) != 1 || len(raw["off"].([]any)) == 0 || len(raw["diagnostics"].([]any)) != 1 {
		t.Errorf("list --json: %s", out)
	}
	l.Trusted = true
	var b bytes.Buffer
	l.show(screenOn(&b, func(string) string { return "" }))
	if !strings.Contains(b.String(), "(trusted)") || !strings.HasSuffix(b.String(), "\n\nnothing of what was asked for is in force here\n") {
		t.Errorf("an empty list: %s", b.String())
	}
}

func TestLint(t *testing.T) {
	d := newFixture(t)
	if out, _, code := d.run("", "lint"); code != exitOK || out != "0 errors, 0 warnings\n" {
		t.Errorf("with nothing: exit %d, %q", code, out)
	}
	d.settings("nonsense: 1\npacks: {no-such-pack: off}\n")
	d.rules(`rules:
  - {id: wide, tool: Bash, match: {pattern: '.*'}, effect: allow}
  - {id: rm, tool: Bash, match: {command: rm, flags: [-r, -f]}, effect: allow}
  - {id: writes, tool: [Write, Edit], match: {path: '/**', access: [write]}, effect: allow}
  - {id: fine, tool: Bash, match: {command: make test}, effect: allow}
  - {id: git-clean, tool: Bash, match: {command: mine}, effect: ask}
  - {id: weaker, tool: Bash, match: {command: yours}, effect: ask}
  - {id: stronger, tool: Bash, match: {command: yours}, effect: deny}
  - {id: broken, tool: Bash, match: {args: '(?=x)'}, effect: deny}
`)
	d.write(filepath.Join(d.project, ".claude/tool-routes.yaml"), "routes:\n  a: {tool: WebFetch, pattern: x, message: m}\n  b: {tool: WebFetch, pattern: x, message: n}\n")
	out, _, code := d.run("", "lint")
	for _, want := range []string{`unknown key "nonsense"`, `called "no-such-pack"`,
		`rule "wide" allows too much: also Bash`, `rule "rm" allows too much: also Bash "rm -rf /"`, `rule "writes" allows too much`,
		`rule "git-clean" is also in packs/git.yaml`, `rule "weaker" never decides: rule "stronger"`, "RE2 has no lookahead",
		`route "b" never speaks`} {
		if code != exitError || !strings.Contains(out, want) {
			t.Errorf("lint does not say %q: exit %d\n%s", want, code, out)
		}
	}
	for _, not := range []string{`"fine"`, `rule "stronger" never`} {
		if strings.Contains(out, not) {
			t.Errorf("lint complains about %s:\n%s", not, out)
		}
	}
}

func TestTestCommand(t *testing.T) {
	d := newFixture(t)
	good := `rules: [{id: good, tool: Bash, match: {command: mine}, effect: deny, message: No., tests: [{input: {command: mine a}, expect: deny, contains: No}, {input: {command: yours}, expect: none}]}]`
	bad := strings.Replace(good, "expect: none", "expect: deny", 1)
	file := filepath.Join(d.project, "x.yaml")
	d.write(file, good)
	if out, _, code := d.run("", "test", file); code != exitOK || !strings.Contains(out, "2 tests, 0 failed") {
		t.Errorf("good: exit %d, %s", code, out)
	}
	d.write(file, bad)
	if out, _, code := d.run("", "test", file); code != exitError || !strings.Contains(out, file+":1: error: rule good") || !strings.Contains(out, "expected deny, got none") {
		t.Errorf("bad: exit %d, %s", code, out)
	}
	out, _, code := d.run("", "test", "--json", file)
	var found inlineTests
	if err := json.Unmarshal([]byte(out), &found); err != nil || code != exitError || len(found.Tests) != 2 || !found.Tests[0].Pass || found.Tests[1].Pass ||
		len(found.Diagnostics) != 1 || found.Diagnostics[0].Code != diagnostic.CodeTestFailed || found.Diagnostics[0].Line != 1 {
		t.Errorf("bad, as JSON: exit %d, %v, %s", code, err, out)
	}
	route := filepath.Join(d.project, "plugin/hooks/tool-routes.yaml")
	d.write(route, "routes: {r: {tool: Bash, pattern: x, message: m, tests: [{input: {tool_name: Bash, tool_input: {command: y}}, expect: block, desc: says why}]}}")
	if out, _, code := d.run("", "test", filepath.Join(d.project, "plugin")); code != exitError || !strings.Contains(out, "route r: says why") {
		t.Errorf("route: exit %d, %s", code, out)
	}
	if _, errs, code := d.run("", "test", filepath.Join(d.project, "none")); code != exitError || !strings.Contains(errs, "is not there; name a file") {
		t.Errorf("no file: exit %d, %s", code, errs)
	}
	if out, _, code := d.run("", "test", "--all"); code != exitOK || !strings.Contains(out, "ok  packs/git.yaml") {
		t.Errorf("built-in packs: exit %d, %s", code, out)
	}
}

func TestInit(t *testing.T) {
	d := newFixture(t)
	if out, _, code := d.run("", "init"); code != exitOK || strings.Count(out, "wrote ") != 4 {
		t.Fatalf("exit %d, %s", code, out)
	}
	mine := filepath.Join(d.project, ".cardea/cardea.yaml")
	d.write(mine, "# mine\n")
	if out, _, code := d.run("", "init"); code != exitOK || strings.Count(out, "kept") != 4 {
		t.Errorf("exit %d, %s", code, out)
	}
	if data, err := os.ReadFile(mine); err != nil || string(data) != "# mine\n" {
		t.Errorf("overwritten: %q, %v", data, err)
	}
	if out, _, code := d.run("", "init", "--user"); code != exitOK || !strings.Contains(out, filepath.Join(d.home, ".config/cardea/cardea.yaml")) {
		t.Errorf("--user: exit %d, %s", code, out)
	}
	if info, err := os.Stat(filepath.Join(d.home, ".config/cardea/cardea.yaml")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the person's file: %v, %v", info, err)
	}
	d.project = d.home
	if _, errs, code := d.run("", "init"); code != exitError || !strings.Contains(errs, "home folder, not a project") {
		t.Errorf("in the home folder: exit %d, %s", code, errs)
	}
	d.project = filepath.Join(d.home, "x")
	d.write(filepath.Join(d.project, ".cardea"), "a file in the way")
	if _, errs, code := d.run("", "init"); code != exitError || !strings.Contains(errs, "nothing was overwritten") {
		t.Errorf("a file in the way: exit %d, %s", code, errs)
	}
	d.project = ""
	if _, errs, code := d.run("", "init"); code != exitError || !strings.Contains(errs, "working folder") {
		t.Errorf("nowhere: exit %d, %s", code, errs)
	}
}

// The templates are valid with every comment removed.
func TestTemplatesHold(t *testing.T) {
	uncommented := func(text string) string {
		var out []string
		for _, l := range strings.Split(text, "\n") {
			if prose := strings.HasPrefix(l, "# ") && !strings.HasPrefix(l, "#  "); !prose {
				l = strings.TrimPrefix(l, "#")
			}
			if l != "rules: []" {
				out = append(out, l)
			}
		}
		return strings.Join(out, "\n")
	}
	for _, user := range []bool{true, false} {
		text := uncommented(settingsTemplate(user))
		scope := cardea.ScopeProject
		if user {
			scope = cardea.ScopeUser
		}
		f := settings.Parse("cardea.yaml", scope, []byte(text))
		given := map[string]bool{}
		for _, g := range f.Given {
			given[g.Key] = true
		}
		// Settings without effect in this scope are not offered.
		for _, k := range settings.Keys() {
			if given[k.Name] == (k.AdminOnly || k.PersonOnly && !user) {
				t.Errorf("user %v, %s: %v", user, k.Name, given[k.Name])
			}
		}
		if len(f.Problems) != 0 || !given["version"] {
			t.Errorf("settings, user %v: %v", user, f.Problems)
		}
		// Each has its default.
		want := settings.Defaults()
		for _, k := range settings.Keys() {
			if got := k.Text(&f.Values); got != k.Text(&want) {
				t.Errorf("%s: %s is not the default", k.Name, got)
			}
		}
		if len(f.Switches.Off)+len(f.Switches.Effect) > 0 {
			t.Errorf("something is switched: %+v", f.Switches)
		}
	}
	d := newFixture(t)
	file := filepath.Join(d.project, "r.yaml")
	d.write(file, uncommented(template("rules.yaml")))
	if out, _, code := d.run("", "test", file); code != exitOK || !strings.Contains(out, "2 tests, 0 failed") {
		t.Errorf("rules: exit %d, %s", code, out)
	}
}

func TestVersion(t *testing.T) {
	d := newFixture(t)
	if out, _, code := d.run("", "version"); code != exitOK || !strings.HasPrefix(out, "cardea ") {
		t.Errorf("exit %d, %s", code, out)
	}
	var b hook.Build
	if out, _, code := d.run("", "version", "--json"); code != exitOK || json.Unmarshal([]byte(out), &b) != nil || b.Version == "" || b.Go == "" {
		t.Errorf("exit %d, %s", code, out)
	}
}

func TestUsage(t *testing.T) {
	d := newFixture(t)
	for _, c := range []struct {
		args []string
		code int
		told string
	}{
		{nil, exitOK, ""},
		{[]string{"help", "try"}, exitOK, ""},
		{[]string{"chek"}, exitUsage, `there is no command "chek", did you mean "check"?; run "cardea --help"`},
		{[]string{"--nope"}, exitUsage, "unknown flag"},
		{[]string{"try", "--tool", "Write", "{"}, exitUsage, "the input of Write begins like a JSON object, and is broken JSON"},
		{[]string{"policy", "input", "--tool", "Write", `{"file_path": "a"`}, exitUsage, "the input of Write begins like a JSON object, and is broken JSON"},
		{[]string{"list", "extra"}, exitUsage, `run "cardea list --help"`},
		{[]string{"check", "--nope"}, exitDeny, "every call is blocked"},
		{[]string{"check", "extra"}, exitDeny, "every call is blocked"},
		{[]string{"check", "--limit", "-1s"}, exitDeny, "every call is blocked"},
		{[]string{"check", "--harness", "none"}, exitDeny, "every call is blocked"},
		{[]string{"check", "--help"}, exitOK, ""},
	} {
		out, errs, code := d.run(d.call("PreToolUse", "default", "ls"), c.args...)
		if code != c.code || !strings.Contains(errs, c.told) || c.code != exitOK && out != "" {
			t.Errorf("%q: exit %d, %q, %q", c.args, code, out, errs)
		}
	}
	d.project = ""
	if _, errs, code := d.run("", "list"); code != exitError || !strings.Contains(errs, "working folder") {
		t.Errorf("nowhere: exit %d, %s", code, errs)
	}
	if _, errs, code := d.run("", "try", "ls"); code != exitUsage || !strings.Contains(errs, "--cwd") {
		t.Errorf("nowhere: exit %d, %s", code, errs)
	}
}

func TestEveryCommandTellsItsExitCodes(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if !strings.Contains(c.Long, "Exit codes:\n  0") || c.Short == "" {
			t.Errorf("%s: %s", c.CommandPath(), c.Long)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(tree(newFixture(t).process(nil, nil, nil)))
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"ls -l":              "ls -l",
		"größe 日本 é":         "größe 日本 é",
		"a\u202eb":           `a\u202eb`,
		"a\u200bb\u2066c":    `a\u200bb\u2066c`,
		"\x1b[31mred":        `\u001b[31mred`,
		"a\nb\tc\rd":         `a\nb\tc\rd`,
		"a\xffb":             `a\xffb`,
		"\u00a0\u3164\ufeff": `\u00a0\u3164\ufeff`,
		"\U000e0041":         `\U000e0041`,
		"\u009b31m":          `\u009b31m`,
		"\ufffd":             "\ufffd",
		"x\ufe0f\u2800":      `x\ufe0f\u2800`,
	} {
		if got := Plain(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
	}
	if got := hook.PlainText("a\x07\nb\n"); got != "a\\u0007\nb" {
		t.Errorf("got %q", got)
	}
	if got := shorten("äöüß", 3); got != "äö…" {
		t.Errorf("got %q", got)
	}
}

type tty struct{ bytes.Buffer }

func (*tty) Stat() (os.FileInfo, error) { return os.Stat(os.DevNull) }

func TestColour(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{{nil, true}, {map[string]string{"NO_COLOR": "1"}, false}, {map[string]string{"TERM": "dumb"}, false}, {map[string]string{"TERM": "xterm"}, true}} {
		var w tty
		s := screenOn(&w, func(k string) string { return c.env[k] })
		s.printf("%s %s %d\n", painted{red, "deny\x1b"}, "x\x1b", 3)
		if got := strings.Contains(w.String(), "\x1b[31mdeny\\u001b\x1b[0m x\\u001b 3"); got != c.want {
			t.Errorf("%v: %q", c.env, w.String())
		}
	}
	var b bytes.Buffer
	s := screenOn(&b, func(string) string { return "" })
	s.printf("%s", painted{red, "deny"})
	if b.String() != "deny" {
		t.Errorf("colour where there is no terminal: %q", b.String())
	}
}

func TestWritingFails(t *testing.T) {
	d := newFixture(t)
	for _, args := range [][]string{{"try", "ls"}, {"try", "--json", "ls"}, {"list"}, {"list", "--json"}, {"lint"}, {"test"}, {"version"}, {"init"}} {
		var errs bytes.Buffer
		if code := Main(args, d.process(strings.NewReader(""), fullDisk{}, &errs)); code != exitError || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%q: exit %d, %q", args, code, errs.String())
		}
	}
}

func TestShowProblems(t *testing.T) {
	var b bytes.Buffer
	s := screenOn(&b, func(string) string { return "" })
	n, _ := showDiagnostics(s, []diagnostic.Diagnostic{{File: "f", Line: 1, Text: "a"}, {File: "f", Line: 2, Text: "b", Severity: diagnostic.LevelWarning}})
	if n != 1 || b.String() != "f:1: error: a\nf:2: warning: b\n" {
		t.Errorf("%d, %q", n, b.String())
	}
}

var update = flag.Bool("update", false, "write docs/commands.md and docs/exit-codes.md")

// The pages about commands and exit codes are generated from the program, and are current.
func TestPagesAreCurrent(t *testing.T) {
	p := Process{Process: hook.Process{Env: func(string) string { return "" }}}
	for name, text := range map[string]string{"commands.md": commandsPage(p), "exit-codes.md": exitCodesPage(p)} {
		page(t, name, text)
	}
}

// page checks that a generated page of docs is current, or writes it.
func page(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join("..", "..", "docs", name)
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != text {
		t.Errorf("%s is not current: %v; run: go test ./internal/cli -run %s -update", file, err, t.Name())
	}
}

// The page about settings has every key that the program reads.
func TestSettingsPageNamesEveryKey(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "settings.md"))
	if err != nil {
		t.Fatal(err)
	}
	keys := []string{"version", "packs", "rules.off", "rules.effect"}
	want := settings.Defaults()
	for _, k := range settings.Keys() {
		keys = append(keys, k.Name)
		row := regexp.MustCompile("\\| `" + regexp.QuoteMeta(k.Name) + "` \\| [^\n]* \\| `" + regexp.QuoteMeta(k.Text(&want)) + "` \\|")
		if !row.Match(data) {
			t.Errorf("docs/settings.md has no row of `%s` with its default %s", k.Name, k.Text(&want))
		}
	}
	for _, key := range keys {
		if !strings.Contains(string(data), "`"+key+"`") {
			t.Errorf("docs/settings.md does not name `%s`", key)
		}
	}
}
