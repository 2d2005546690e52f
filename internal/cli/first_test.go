package cli

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge/files"
	"cardea.dev/internal/config/install"
)

// settled returns a registrar whose program is in a permanent folder.
func settled(t *testing.T) *fixture {
	t.Helper()
	base, err := os.UserCacheDir()
	if err == nil {
		err = os.MkdirAll(base, 0o700)
	}
	if err != nil {
		t.Skip(err)
	}
	dir, err := os.MkdirTemp(base, "cardea-test-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, temporary := range append(files.Temporary(), os.TempDir()) {
		if temporary != "" && paths.Within(paths.Real(temporary), paths.Real(dir)) {
			t.Skipf("%s is a temporary folder", dir)
		}
	}
	d := newFixture(t)
	t.Setenv("HOME", d.home)
	d.running = filepath.Join(paths.Real(dir), "cardea")
	d.write(d.running, "#!/bin/sh\n")
	if err := os.Chmod(d.running, 0o755); err != nil {
		t.Fatal(err)
	}
	return d
}

// inScript runs a command in a script that no agent started.
func (d *fixture) inScript(why error, args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	p := d.process(strings.NewReader("abc234\n"), &out, &errs)
	p.Person = func() error { return errors.New("standard input is no terminal") }
	p.Code, p.Agent = func() string { return "abc234" }, func() error { return why }
	code = Main(args, p)
	return out.String(), errs.String(), code
}

// A first registration asks for nothing. Everything beyond that asks.
func TestFirstRegistration(t *testing.T) {
	const rule = "rules: [{id: pa, tool: Bash, match: {command: pa}, effect: deny}]"
	const ours = `{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"/opt/x/cardea check --harness claude-code"}]}]}}`
	const theirs = `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"other-gate"}]}]}}`
	for _, tt := range []struct {
		name, file, text string
		args             string
		agent            error
		why              string // of the code, "" for none
	}{
		{name: "nothing is there", args: "claude"},
		{name: "in the project", args: "claude --project"},
		{name: "another harness", args: "codex"},
		{name: "a small program", args: "opencode"},
		{name: "comments alone", file: "~/.config/cardea/cardea.yaml", text: "# on_error: deny\n", args: "claude"},
		{name: "a hook of others", file: "~/.claude/settings.json", text: theirs, args: "claude"},
		{name: "an agent", args: "claude", agent: errors.New("an agent started this command (claude)"), why: "only a person"},
		{name: "settings", file: "~/.config/cardea/cardea.yaml", text: "on_error: deny\n", args: "claude", why: "cardea.yaml is in force already"},
		{name: "broken settings", file: "~/.config/cardea/cardea.yaml", text: "{", args: "claude", why: "cardea.yaml is in force already"},
		{name: "settings of the project", file: ".cardea/cardea.yaml", text: "on_error: deny\n", args: "claude", why: "cardea.yaml is in force already"},
		{name: "settings of an organisation", file: "~/.config/cardea/org/acme/cardea.yaml", text: "on_error: deny\n", args: "claude", why: "cardea.yaml is in force already"},
		{name: "rules", file: "~/.config/cardea/rules/a.yaml", text: rule, args: "claude", why: "a.yaml is in force already"},
		{name: "rules of the project", file: ".cardea/rules/a.yaml", text: rule, args: "claude", why: "a.yaml is in force already"},
		{name: "broken rules", file: ".cardea/rules/a.yaml", text: "rules: 3", args: "claude", why: "a.yaml is in force already"},
		{name: "policies", file: "~/.config/cardea/policies/a.rego", text: "package a\n", args: "claude", why: "policies is in force already"},
		{name: "roles", file: "~/.config/cardea/roles.yaml", text: "roles: {}\n", args: "claude", why: "roles.yaml is in force already"},
		{name: "roles of the project", file: ".cardea/roles.yaml", text: "roles: {}\n", args: "claude", why: "roles.yaml is in force already"},
		{name: "lessons", file: "~/.config/cardea/lessons/deny.jsonl", text: lessonOfTest + "\n", args: "claude", why: "lessons is in force already"},
		{name: "lessons of the project", file: ".cardea/lessons/deny.jsonl", text: lessonOfTest + "\n", args: "claude", why: "lessons is in force already"},
		{name: "exceptions", file: "~/.config/cardea/overrides.yaml", text: "overrides:\n  - {command: make x, effect: allow}\n", args: "claude", why: "is in force already"},
		{name: "a hook of Cardea", file: "~/.claude/settings.json", text: ours, args: "claude", why: "has a hook of Cardea already"},
		{name: "one in the project", file: ".claude/settings.json", text: ours, args: "claude", why: "has a hook of Cardea already"},
		{name: "one in another harness", file: "~/.claude/settings.json", text: strings.ReplaceAll(ours, "/opt/x/cardea", "PROGRAM"), args: "codex"},
		{name: "another program in another harness", file: "~/.claude/settings.json", text: ours, args: "codex", why: "calls another program, /opt/x/cardea"},
		{name: "an earlier set-up", file: "~/.local/state/cardea/posture", text: "x", args: "claude"},
		{name: "an earlier small program", file: "~/.config/opencode/plugins/cardea.js", text: "// cardea-hook {\"binary\":\"/opt/x/cardea\"}\n", args: "opencode", why: "has a hook of Cardea already"},
		{name: "unattended", args: "claude --unattended", why: "there are other flags"},
		{name: "a time", args: "claude --timeout 20s", why: "there are other flags"},
		{name: "a version", args: "claude --harness-version 2.1.100", why: "there are other flags"},
		{name: "events", args: "claude --events Stop", why: "there are other flags"},
		{name: "a program", args: "claude --binary PROGRAM", why: "there are other flags"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := settled(t)
			tt.text = strings.ReplaceAll(tt.text, "PROGRAM", d.running)
			if home, own := strings.CutPrefix(tt.file, "~/"); own {
				d.write(filepath.Join(d.home, home), tt.text)
			} else if tt.file != "" {
				d.write(filepath.Join(d.project, tt.file), tt.text)
			}
			before := d.files()
			args := append([]string{"install"}, strings.Fields(strings.ReplaceAll(tt.args, "PROGRAM", d.running))...)
			if out, errs, code := d.inScript(tt.agent, append(args, "--dry-run")...); code != exitOK || !strings.Contains(out, "would write") ||
				strings.Contains(out, "this asks for a code") != (tt.why != "") {
				t.Errorf("dry: exit %d, %s%s", code, out, errs)
			}
			out, errs, code := d.inScript(tt.agent, args...)
			if tt.why != "" {
				if code != exitError || !strings.Contains(errs, tt.why) || len(d.files()) != len(before) {
					t.Errorf("exit %d, %s%s", code, out, errs)
				}
				return
			}
			if code != exitOK || !strings.Contains(out, "wrote ") || strings.Contains(errs, "type ") {
				t.Errorf("exit %d, %s%s", code, out, errs)
			}
			if tt.text == theirs && !strings.Contains(d.files()[filepath.Join(d.home, ".claude/settings.json")], "other-gate") {
				t.Error("the other hook is gone")
			}
			before = d.files()
			if out, errs, code = d.inScript(errors.New("an agent"), args...); code != exitOK || !strings.HasPrefix(out, "nothing to change: ") || !strings.Contains(out, " already calls "+d.running) ||
				len(d.files()) != len(before) {
				t.Errorf("again: exit %d, %s%s", code, out, errs)
			}
		})
	}
}

// A link to the settings file leads to a file with another name.
func TestFirstRegistrationBehindLinks(t *testing.T) {
	for _, link := range []string{".claude", ".claude/settings.json"} {
		d := settled(t)
		d.mkdir(filepath.Join(d.home, "dots"))
		d.write(filepath.Join(d.home, "dots/settings.json"), "{}")
		d.mkdir(filepath.Dir(filepath.Join(d.home, link)))
		if err := os.Symlink(filepath.Join(d.home, "dots", strings.TrimPrefix(strings.TrimPrefix(link, ".claude"), "/")), filepath.Join(d.home, link)); err != nil {
			t.Skip(err)
		}
		if _, errs, code := d.inScript(nil, "install", "claude"); code != exitError || !strings.Contains(errs, "is a symbolic link") {
			t.Errorf("%s: exit %d, %s", link, code, errs)
		}
	}
}

// A second installation does not accept changes that Cardea did not make.
func TestInstallAgainAcceptsNothing(t *testing.T) {
	d := settled(t)
	if out, errs, code := d.inScript(nil, "install", "claude"); code != exitOK {
		t.Fatal(out, errs)
	}
	d.write(filepath.Join(d.home, ".config/cardea/rules/planted.yaml"), "rules: [{id: pa, tool: Bash, match: {command: pa}, effect: allow}]")
	for range 2 {
		out, errs, code := d.inScript(nil, "install", "claude")
		if code != exitOK || !strings.HasPrefix(out, "nothing to change: Claude Code already calls ") || !strings.Contains(errs, "planted.yaml") {
			t.Errorf("exit %d, %s%s", code, out, errs)
		}
	}
}

// A managed installation renews a hook of the same program, and no other.
func TestRenews(t *testing.T) {
	h, err := install.Find("claude")
	if err != nil {
		t.Fatal(err)
	}
	wanted := install.Wanted{Binary: "/usr/bin/cardea", Timeout: 10e9}
	same := install.Wiring{File: "/f", Program: "/usr/bin/cardea", Args: wanted.Args(h), Timeout: 10e9}
	for name, tt := range map[string]struct {
		change func(*install.Wiring)
		want   bool
	}{
		"the same":        {func(*install.Wiring) {}, true},
		"another program": {func(w *install.Wiring) { w.Program = "/tmp/cardea" }, false},
		"another file":    {func(w *install.Wiring) { w.File = "/g" }, false},
		"unattended":      {func(w *install.Wiring) { w.Args = append(w.Args[:len(w.Args):len(w.Args)], "--unattended") }, false},
		"another time":    {func(w *install.Wiring) { w.Timeout *= 2 }, false},
		"blocks":          {func(w *install.Wiring) { w.OnFailure = "block" }, false},
	} {
		w := same
		tt.change(&w)
		if got := renews(&install.Plan{File: "/f"}, h, wanted, []install.Wiring{w}); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if renews(&install.Plan{File: "/f"}, h, wanted, nil) {
		t.Error("nothing is renewed")
	}
}

// All commands ask for their code in one form: "type k7q2mf to trust 3 files". Only answers
// to the queue take one letter.
func TestOneQuestion(t *testing.T) {
	all, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, name := range all {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				short := n.Sel.Name == "byLetter" && !strings.HasPrefix(name, "queue")
				own := n.Sel.Name == "Confirm" && name != "persons.go" || n.Sel.Name == "Code" && name != "persons.go" && name != "monitor.go" && isNamed(n.X, "p", "process")
				if short || own {
					t.Errorf("%s asks in a way of its own", set.Position(n.Pos()))
				}
			case *ast.CallExpr:
				f, is := n.Fun.(*ast.SelectorExpr)
				if !is || f.Sel.Name != "byPerson" && f.Sel.Name != "byLetter" {
					break
				}
				asked++
				text := ""
				ast.Inspect(n.Args[0], func(n ast.Node) bool {
					if l, is := n.(*ast.BasicLit); is && text == "" && l.Kind == token.STRING {
						text = strings.Trim(l.Value, `"`)
					}
					return true
				})
				if strings.TrimSpace(text) != "" && !regexp.MustCompile(`^(accept|allow|answer|change|give|move|remove|stop|trust|write) ?`).MatchString(text) {
					t.Errorf("%s: %q does not say what happens", set.Position(n.Pos()), text)
				}
			}
			return true
		})
	}
	if asked < 15 {
		t.Errorf("only %d questions were found", asked)
	}
	for _, args := range forPersons {
		if args[0] == "approve" || args[0] == "deny" || args[0] == "supervise" {
			continue
		}
		d, binary := hooked(t)
		d.write(filepath.Join(d.project, ".cardea/rules/r.yaml"), "rules: [{id: pa, tool: Bash, match: {command: pa}, effect: allow}]")
		if args[0] == "install" {
			args = append(args[:len(args):len(args)], "--binary", binary)
		}
		_, errs, _ := d.sits("", args...)
		if i := strings.LastIndex(errs, "\ntype "); i >= 0 && !regexp.MustCompile(`^\ntype abc234 to [a-z]+ [^\n]+: cardea: nothing was typed`).MatchString(errs[i:]) {
			t.Errorf("%v: %s", args, errs[i:])
		}
	}
}

func isNamed(e ast.Expr, names ...string) bool {
	id, is := e.(*ast.Ident)
	for _, n := range names {
		if is && id.Name == n {
			return true
		}
	}
	return false
}

// To protect an agent with an own rule takes no code from the start, and one for a rule of
// a project.
func TestCodesFromNothing(t *testing.T) {
	d := settled(t)
	codes := 0
	person := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		p := d.process(strings.NewReader("abc234\n"), &out, &errs)
		p.Person, p.Agent, p.Code = func() error { return nil }, func() error { return nil }, func() string { codes++; return "abc234" }
		if code := Main(args, p); code != exitOK {
			t.Fatalf("%v: exit %d, %s%s", args, code, out.String(), errs.String())
		}
		return out.String()
	}
	d.write(filepath.Join(d.home, ".claude/settings.json"), `{"permissions": {"allow": ["Bash(npm test)"]}}`)
	person("install", "claude")
	d.write(filepath.Join(d.home, ".config/cardea/rules/mine.yaml"), "rules: [{id: mine, tool: Bash, match: {command: pa}, effect: deny}]")
	if out := person("try", "pa x"); !strings.Contains(out, " mine (user") || codes != 0 {
		t.Errorf("%d codes, %s", codes, out)
	}
	person("init")
	d.write(filepath.Join(d.project, ".cardea/rules/ours.yaml"), "rules: [{id: ours, tool: Bash, match: {command: pb}, effect: allow}]")
	person("trust")
	if out := person("try", "pb x"); !strings.Contains(out, " ours (project") || codes != 1 {
		t.Errorf("%d codes, %s", codes, out)
	}
}
