package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"cardea.dev"
	"cardea.dev/internal/ask/queue"
	"cardea.dev/internal/ask/queue/store"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/decide/overrides"
	"cardea.dev/internal/memory/lesson"
)

// sits runs a command line for an attending person, with typed as their input.
func (d *fixture) sits(typed string, args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	p := d.process(strings.NewReader(typed), &out, &errs)
	p.Person = func() error { return nil }
	p.Code = func() string { return "abc234" }
	code = Main(args, p)
	return out.String(), errs.String(), code
}

func TestTrustNeedsAPerson(t *testing.T) {
	d := newFixture(t)
	d.write(filepath.Join(d.project, ".cardea/rules/r.yaml"), "rules: [{id: pa, tool: Bash, match: {command: pa}, effect: allow}]")
	for _, typed := range []string{"", "\n", "A\n", "y\n", "aa\n", strings.Repeat("x", 300) + "\na\n"} {
		if _, errs, code := d.sits(typed, "trust", "init"); code != exitError || !strings.Contains(errs, "nothing was changed") {
			t.Errorf("%q: exit %d, %s", typed, code, errs)
		}
	}
	if _, errs, code := d.run("abc234\n", "trust", "init"); code != exitError || !strings.Contains(errs, "terminal of your own") {
		t.Errorf("nobody: exit %d, %s", code, errs)
	}
	var out, errs bytes.Buffer
	p := d.process(strings.NewReader("abc234\n"), &out, &errs)
	p.Code = func() string { return "abc234" }
	p.Person = func() error { return errors.New("an agent is at work here") }
	for _, args := range [][]string{{"trust", "init"}, {"trust", "revoke"}} {
		if code := Main(args, p); code != exitError || !strings.Contains(errs.String(), "an agent is at work here") {
			t.Errorf("%v: exit %d, %s", args, code, errs.String())
		}
	}
	if strings.Contains(out.String(), "abc234") {
		t.Error("the code is shown to an agent")
	}
	if out, _, code := d.run("", "trust", "list"); code != exitOK || out != "no project is trusted\n" {
		t.Errorf("exit %d, %s", code, out)
	}
}

// free are the commands that loosen, install, remove and approve nothing.
var free = []string{
	"audit",
	"audit search",
	"lessons candidates",
	"audit verify",
	"lessons build",
	"check",
	"completion",
	"completion bash",
	"completion fish",
	"completion powershell",
	"completion zsh",
	"doctor",
	"explain",
	"help",
	"import",
	"import tool-routing",
	"init",
	"judge",
	"judge eval",
	"knowledge",
	"lessons",
	"lessons list",
	"lessons show",
	"rules",
	"rules lint",
	"rules list",
	"rules test",
	"config",
	"config get",
	"config list",
	"config show",
	"permissions",
	"permissions suggest",
	"policy",
	"policy fmt",
	"policy input",
	"policy inspect",
	"policy new",
	"policy test",
	"policy validate",
	"roles",
	"roles list",
	"roles show",
	"roles test",
	"override list",
	"scan",
	"serve",
	"session-check",
	"stats", "suggest",
	"status",
	"statusline",
	"trust",
	"trust list",
	"trust verify",
	"try",
	"update",
	"version",
	"cardea",
	"monitor",
	"mcp",
	"queue",
	"compile",
	"compile codex-sandbox",
} // it needs root, and is tested in TestCodexSandbox

// ofTest is an existing override.
var ofTest = overrides.Override{Command: []string{"make", "x"}, Effect: cardea.Allow}

// lessonOfTest is an existing lesson.
const lessonOfTest = `{"v":1,"effect":"deny","tool":"Bash","subject":"make x","role":"*","dir":".","by":"person","who":"liam","when":"2026-11-20T10:00:00Z","reason":"","files":{},"expires":""}`

// forPersons are the other commands, with arguments that have an effect.
var forPersons = [][]string{
	{"accept"},
	{"compile", "claude-sandbox", "--enable"},
	{"compile", "claude-sandbox", "--without", "private-keys"},
	{"trust", "init"},
	{"trust", "update"},
	{"trust", "revoke"},
	{"install", "claude", "--events", "Stop"},
	{"install", "copilot"},
	{"install", "claude", "--project"}, {"install", "claude", "--timeout", "20s", "--unattended"}, {"install", "claude", "--uninstall"},
	{"install", "claude", "--binary", "BINARY", "--unattended"}, {"import", "bouncer", "bouncer.json", "--write", "--accept-losses"},
	{"import", "permitter", "permitter", "--write"}, {"import", "cupcake", "--write"}, {"import", "cupcake", "--user", "--write"}, {"import", "hookwise", "--write"},
	{"sync", "acme", "--from", "acme"}, {"config", "set", "ledger.keep_days", "7"}, {"config", "unset", "ledger.max_mb"}, {"config", "edit"},
	{"register", "--session-id", "x", "--role", "coder"}, {"switch", "--session-id", "x", "--role", "coder"}, {"disable", "--session-id", "x"},
	{"enable", "--session-id", "x"}, {"override", "--command", "git clean", "--allow", "--scope", "user"}, {"override", "rm", ofTest.ID()},
	{"lessons", "rm", lesson.IDOf(lessonOfTest).Short()},
	{"lessons", "promote", lesson.IDOf(lessonOfTest).Short(), "--scope", "project"},
	{"lessons", "invalidate", "--all"},
	{"invalidate", "--all"},
	{"disable", "--for", "1h"},
	{"allow", "git clean -fd", "--scope", "user"},
	{"rules", "new", "frob", "--user"},
	{"rules", "new", "frob", "--effect", "allow"},
	{"uninstall"},
	{"uninstall", "claude"},
	{"uninstall", "--purge"},
	{"lessons", "learn", "CANDIDATE"},
	{"learn", "CANDIDATE"},
	{"queue", "approve", "1"},
	{"approve", "1"},
	{"queue", "deny", "1"},
	{"deny", "1"},
	{"supervise", "--team", "alpha"},
}

// candidate returns the id of a call that the person allowed in the harness's prompt.
func (d *fixture) candidate() string {
	d.t.Helper()
	for _, event := range []string{"PreToolUse", "PermissionRequest", "PostToolUse"} {
		if _, errs, code := d.run(d.call(event, "default", "make report"), "check", "--harness", "claude-code"); code != exitOK {
			d.t.Fatal(errs)
		}
	}
	out, errs, code := d.run("", "lessons", "candidates")
	if code != exitOK || len(out) < 8 {
		d.t.Fatal(out, errs)
	}
	return out[:8]
}

// waits puts a call into the queue.
func (d *fixture) waits() {
	d.t.Helper()
	s, err := store.Open(filepath.Join(d.home, ".local/state/cardea"), time.Now)
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := s.Add(context.Background(), queue.Entry{Ticket: true, Tool: "Bash", Created: time.Now(), Deadline: time.Now().Add(time.Hour)}); err != nil {
		d.t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		d.t.Fatal(err)
	}
}

// Every command is in one of the two lists. Those for persons refuse an agent and change
// nothing.
func TestCommandsForPersons(t *testing.T) {
	d, binary := hooked(t)
	lifts := map[string]bool{}
	for _, args := range forPersons {
		lifts[args[0]], lifts[strings.Join(args[:min(2, len(args))], " ")] = true, true
	}
	eachCommand(tree(d.process(nil, nil, nil)), func(c *cobra.Command) {
		if name := nameOf(c); !lifts[name] && !slices.Contains(free, name) {
			t.Errorf("it is not said whether %q is for a person alone", name)
		}
	})
	d.write(filepath.Join(d.project, ".cardea/rules/r.yaml"), "rules: [{id: pa, tool: Bash, match: {command: pa}, effect: allow}]")
	d.write(filepath.Join(d.project, ".cupcake/policies/claude/a.rego"), guardPolicy)
	d.write(filepath.Join(d.project, "bouncer.json"), `{"customRules": [{"name": "x", "toolMatch": "bash", "pattern": "x", "action": "deny", "reason": "r"}]}`)
	d.write(filepath.Join(d.project, ".hookwise/policy.yml"), "confidence: {project: 0.7}\n")
	d.write(filepath.Join(d.project, "permitter"), "export PERMITTER_ENABLED=1\n")
	d.write(filepath.Join(d.project, "acme/rules/r.yaml"), "rules: [{id: pa, tool: Bash, match: {command: pa}, effect: deny}]")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"}} {
		if out, err := exec.Command("git", append([]string{"-C", filepath.Join(d.project, "acme")}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	if _, errs, code := d.sits("abc234\n", "install", "claude", "--binary", binary); code != exitOK {
		t.Fatal(errs)
	}
	if _, errs, code := d.sits("abc234\n", "trust", "init"); code != exitOK {
		t.Fatal(errs)
	}
	mine := filepath.Join(d.home, ".config/cardea")
	d.write(filepath.Join(mine, "cardea.yaml"), "ledger: {max_mb: 5}\n")
	d.write(filepath.Join(mine, "overrides.yaml"), "overrides:\n  - {command: make x, effect: allow}\n")
	d.write(filepath.Join(mine, "lessons/deny.jsonl"), lessonOfTest+"\n")
	candidate := d.candidate()
	d.waits()
	before := d.files()
	for _, args := range forPersons {
		if strings.Join(args, " ") == "trust init" {
			continue // the project is trusted already; see TestTrustNeedsAPerson
		}
		args = slices.Clone(args)
		for i := range args {
			args[i] = strings.NewReplacer("BINARY", binary, "CANDIDATE", candidate).Replace(args[i])
		}
		if args[0] == "install" && !slices.Contains(args, "--binary") && !slices.Contains(args, "--uninstall") {
			args = append(args, "--binary", binary)
		}
		var out, errs bytes.Buffer
		p := d.process(strings.NewReader("abc234\n"), &out, &errs)
		p.Code = func() string { return "abc234" }
		p.Person = func() error { return errors.New("an agent is at work here (CLAUDECODE is set)") }
		if code := Main(args, p); code != exitError || !strings.Contains(errs.String(), "only a person may do this: an agent is at work here (CLAUDECODE is set)") {
			t.Errorf("%v from an agent: exit %d, %s%s", args, code, out.String(), errs.String())
		}
		if _, errs, code := d.sits("wrong\n", args...); code != exitError || !strings.Contains(errs, "not the code") {
			t.Errorf("%v with another code: exit %d, %s", args, code, errs)
		}
		if draft := filepath.Join(mine, draftName); slices.Contains(args, "edit") && os.Remove(draft) != nil {
			t.Error("what was edited is lost")
		}
	}
	if after := d.files(); !maps.Equal(before, after) {
		t.Errorf("a command changed something without a person:\n%v\n%v", before, after)
	}
	p := d.process(strings.NewReader("abc234\n"), io.Discard, io.Discard)
	p.Person, p.Code = func() error { return nil }, func() string { return "abc234" }
	p.Machine.Home = func() (string, error) { return d.project, nil }
	var errs bytes.Buffer
	p.Stderr = &errs
	if code := Main([]string{"install", "copilot", "--binary", binary}, p); code != exitError || !strings.Contains(errs.String(), "is not yours, which is") {
		t.Errorf("another home: exit %d, %s", code, errs.String())
	}
}

// files returns the contents of all files in the home folder and the project.
func (d *fixture) files() map[string]string {
	out := map[string]string{}
	for _, dir := range []string{d.home, d.project} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() && !strings.Contains(path, "/.cache/") {
				var data []byte
				data, err = os.ReadFile(path)
				out[path] = string(data)
			}
			return err
		})
		if err != nil {
			d.t.Fatal(err)
		}
	}
	return out
}

func TestTrustOfWhatIsNotThere(t *testing.T) {
	d := newFixture(t)
	if out, _, code := d.run("", "trust"); code != exitOK || !strings.Contains(out, "the project brings nothing") || !strings.Contains(out, "  none") {
		t.Errorf("exit %d, %s", code, out)
	}
	for _, c := range []struct{ word, told string }{
		{"init", "brings nothing that could be trusted"}, {"update", "not trusted yet"}, {"verify", "not trusted"},
	} {
		if _, errs, code := d.sits("abc234\n", "trust", c.word); code != exitError || !strings.Contains(errs, c.told) {
			t.Errorf("%s: exit %d, %s", c.word, code, errs)
		}
	}
	if out, _, code := d.sits("abc234\n", "trust", "revoke"); code != exitOK || !strings.Contains(out, "was not trusted") {
		t.Errorf("exit %d, %s", code, out)
	}
	delete(d.vars, "HOME")
	for _, word := range []string{"init", "list", "verify", "revoke"} {
		var out, errs bytes.Buffer
		p := d.process(strings.NewReader(""), &out, &errs)
		p.Machine.Home = func() (string, error) { return "", errors.New("nobody") }
		if code := Main([]string{"trust", word}, p); code != exitError || !strings.Contains(errs.String(), "no state folder") {
			t.Errorf("%s without a home: exit %d, %s", word, code, errs.String())
		}
	}
	d.project = ""
	if _, errs, code := d.run("", "trust"); code != exitError || !strings.Contains(errs, "working folder") {
		t.Errorf("nowhere: exit %d, %s", code, errs)
	}
}

// Trust accepts what was shown, not what is there when the code is typed.
func TestTrustIsInWhatWasShown(t *testing.T) {
	d := newFixture(t)
	file := filepath.Join(d.project, ".cardea/rules/r.yaml")
	d.write(file, "rules: [{id: pa, tool: Bash, match: {command: pa}, effect: allow}]")
	var out, errs bytes.Buffer
	p := d.process(swap{func() {
		d.write(file, "rules: [{id: evil, tool: Bash, match: {command: evil}, effect: allow}]")
	}, strings.NewReader("abc234\n")}, &out, &errs)
	p.Person, p.Code = func() error { return nil }, func() string { return "abc234" }
	if code := Main([]string{"trust", "init"}, p); code != exitOK {
		t.Fatalf("exit %d, %s", code, errs.String())
	}
	if out, _, _ := d.run("", "try", "--json", "evil"); !strings.Contains(out, `"effect":"abstain"`) {
		t.Errorf("what was put there later is trusted: %s", out)
	}
	if out, _, code := d.run("", "trust", "list", "--json"); code != exitOK || !strings.Contains(out, `"diagnostics":[]`) || !strings.Contains(out, d.project) {
		t.Errorf("list --json: exit %d, %s", code, out)
	}
	found, _, code := d.run("", "trust", "verify", "--json")
	var c comparison
	if err := json.Unmarshal([]byte(found), &c); err != nil || code != exitError || c.Same || len(c.Diagnostics) == 0 || c.Diagnostics[0].Code != diagnostic.CodeUntrusted {
		t.Errorf("verify --json: exit %d, %v, %s", code, err, found)
	}
	if out, _, code := d.run("", "trust", "verify"); code != exitError || !strings.Contains(out, "changed") {
		t.Errorf("exit %d, %s", code, out)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if out, _, code := d.run("", "trust", "verify"); code != exitError || !strings.Contains(out, "gone") {
		t.Errorf("exit %d, %s", code, out)
	}
}

// swap runs a function just before it is read.
type swap struct {
	before func()
	*strings.Reader
}

func (s swap) Read(b []byte) (int, error) {
	s.before()
	return s.Reader.Read(b)
}

func TestTrustJSON(t *testing.T) {
	d := newFixture(t)
	d.write(filepath.Join(d.project, ".cardea/cardea.yaml"), "default: {attended: ask}\nrules: {effect: {pd: halt}}\n")
	d.write(filepath.Join(d.project, ".cardea/rules/r.yaml"), "rules:\n  - {id: pd, tool: Bash, match: {command: pd}, effect: deny}\n"+
		"  - {id: pw, tool: Bash, match: {command: pw}, rewrite: {command: x}}\n")
	d.write(filepath.Join(d.project, ".cardea/rules/broken.yaml"), "rules: [{id: x}]")
	d.write(filepath.Join(d.project, ".claude/tool-routes.yaml"), "routes: {rt: {tool: WebFetch, pattern: x, message: m}}")
	out, _, code := d.run("", "trust", "--json")
	var l struct {
		Trusted                 bool
		Files, Settings, Routes []any
		Rules                   []struct{ Effect string }
		Changes                 []string
		Diagnostics             []diagnostic.Diagnostic
	}
	if err := json.Unmarshal([]byte(out), &l); err != nil || code != exitOK {
		t.Fatalf("exit %d, %v, %s", code, err, out)
	}
	if l.Trusted || len(l.Files) != 4 || len(l.Settings) != 2 || len(l.Rules) != 2 || l.Rules[0].Effect != "halt" || len(l.Routes) != 1 || len(l.Diagnostics) != 1 {
		t.Errorf("got %s", out)
	}
	changes := strings.Join(l.Changes, "\n")
	for _, want := range []string{"setting default.attended: ask takes effect", "rule pd wants halt and not deny", "rule pw begins to count (advice)", "route rt counts already"} {
		if !strings.Contains(changes, want) {
			t.Errorf("no %q in %s", want, changes)
		}
	}
	text, _, _ := d.run("", "trust")
	for _, want := range []string{"pw rewrites command: x", "broken, so that it cannot be trusted"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

// Denies and asks of the system's folder apply and cannot be switched off. Files that do
// not belong to the system are reported and ignored.
func TestSystemScope(t *testing.T) {
	d := newFixture(t)
	etc := filepath.Join(filepath.Dir(d.home), "etc")
	d.write(filepath.Join(etc, "cardea.yaml"), "on_error: deny\n")
	d.write(filepath.Join(etc, "rules/s.yaml"), "rules: [{id: sys, tool: Bash, match: {command: sys}, effect: deny, message: Not here.}]")
	d.settings("on_error: allow\nrules: {off: [sys], effect: {sys: allow}}\n")
	run := func(guarded func(string) string, args ...string) (string, string) {
		var out, errs bytes.Buffer
		p := d.process(strings.NewReader(d.call("PreToolUse", "default", "sys now")), &out, &errs)
		p.Machine.System, p.Machine.Guarded = etc, guarded
		Main(args, p)
		return out.String(), errs.String()
	}
	own := func(string) string { return "" }
	if out, _ := run(own, "check", "--harness", "claude-code"); !strings.Contains(out, `"permissionDecision":"deny"`) || !strings.Contains(out, "Not here.") {
		t.Errorf("got %s", out)
	}
	if out, _ := run(own, "list"); !strings.Contains(out, "on_error: deny") || !strings.Contains(out, "sys  system, ") {
		t.Errorf("got %s", out)
	}
	other := func(path string) string {
		if path == etc {
			return "does not belong to root; run: chown root " + path
		}
		return ""
	}
	if out, errs := run(other, "check", "--harness", "claude-code"); strings.Contains(out, `"deny"`) || !strings.Contains(out+errs, "chown root") {
		t.Errorf("got %s, %s", out, errs)
	}
}

// A manifest contains names of files and folders, none of which may be a secret.
func TestTrustKeepsNoSecret(t *testing.T) {
	token := "gh" + "p_" + "x7Kq9TzW2mVb4NcR8sLd3FhJ6gYp1QaZ5eUo"
	for _, where := range []string{"file", "folder"} {
		d := newFixture(t)
		name := "r"
		if where == "file" {
			name = token
		} else {
			d.project = filepath.Join(d.project, token)
			d.mkdir(filepath.Join(d.project, ".git"))
		}
		d.write(filepath.Join(d.project, ".cardea/rules", name+".yaml"), "rules: [{id: pa, tool: Bash, match: {command: pa}, effect: allow}]")
		out, errs, code := d.sits("abc234\n", "trust", "init")
		if code != exitError || !strings.Contains(errs, "looks like a secret") || strings.Contains(errs, token) || strings.Contains(out, "abc234") {
			t.Errorf("%s: exit %d, %q, %q", where, code, out, errs)
		}
		if held := (plantedSecret{"", token, token}).leak(t, d.home); held != "" {
			t.Errorf("%s: %s", where, held)
		}
	}
}
