package inforce_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/base/state"
	"cardea.dev/internal/command/redact"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/hook/gate"
)

const needsSignal = `# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_signals: [who, told]
package cardea.policies.needs

import rego.v1

ask contains {"rule_id": "needs", "reason": sprintf("%v %v", [input.signals.who, input.signals.told])}
`

const plainPolicy = `# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PreToolUse", "Stop"]
package cardea.policies.plain

import rego.v1

halt contains {"rule_id": "plain", "reason": "words", "severity": "HIGH"} if input.tool_input.command == "stop"

halt contains {"rule_id": "plain", "reason": "words"} if input.last_assistant_message == "stop"
`

func notWindows(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are for a shell")
	}
}

// TestSignalsByScope checks that a policy gets the signal of its own scope or a stronger
// one, never of a weaker one.
func TestSignalsByScope(t *testing.T) {
	notWindows(t)
	s := newFixture(t)
	s.where.Trust, s.where.Known = all, there
	s.user("policies/p.rego", needsSignal)
	s.user("cardea.yaml", "signals: {who: {command: echo person}}\n")
	s.project("cardea.yaml", "signals: {who: {command: echo project}, told: {command: echo project}}\n")
	if v := s.try("x"); !strings.Contains(v.Reason, "person {") || !strings.Contains(v.Reason, "there is no signal of this name") {
		t.Errorf("the person's policy: %s", v.Reason)
	}
	if err := os.Remove(filepath.Join(s.where.Dirs.User, "policies/p.rego")); err != nil {
		t.Fatal(err)
	}
	s.project("policies/p.rego", needsSignal)
	if v := s.try("x"); v.Reason != "project project" {
		t.Errorf("the project's policy: %s", v.Reason)
	}
	s.project("cardea.yaml", "signals: {told: {command: echo project}}\n")
	if v := s.try("x"); v.Reason != "person project" {
		t.Errorf("a stronger scope's: %s", v.Reason)
	}
	s.project("cardea.yaml", "signals: {told: {command: echo project}, who: {command: x, timeout_seconds: 0}}\n")
	if v := s.try("x"); !strings.Contains(v.Reason, "the signal who cannot be read: ") || !strings.Contains(v.Reason, "cardea.yaml:1:77: ") || !strings.Contains(v.Reason, "} project") {
		t.Errorf("one that cannot be read: %s", v.Reason)
	}
	s.project("cardea.yaml", "signals: {told: {command: echo project}}\n")
	l := inforce.Load(s.where)
	for _, tt := range []struct {
		scope cardea.Scope
		name  string
		want  bool
	}{{cardea.ScopeProject, "who", true}, {cardea.ScopeUser, "told", false}, {cardea.ScopeBuiltin, "told", true}, {cardea.ScopeBuiltin, "none", false}} {
		if l.HasSignal(policy.Folder{Scope: tt.scope}, tt.name) != tt.want {
			t.Errorf("%s of %s: %v", tt.name, tt.scope, !tt.want)
		}
	}
}

// there accepts every file that exists.
func there(path string) bool { _, err := os.Lstat(path); return err == nil }

// TestSignalsOfProjects checks that a project's scripts run only as the user accepted them.
func TestSignalsOfProjects(t *testing.T) {
	notWindows(t)
	s := newFixture(t)
	s.project("policies/p.rego", needsSignal)
	s.project("cardea.yaml", "signals: {told: {command: sh scripts/told.sh}}\n")
	s.project("signals/who.sh", "#!/bin/sh\necho who\n")
	if err := os.Chmod(filepath.Join(s.where.Project, ".cardea/signals/who.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(s.where.Project, "scripts/told.sh"), "echo told\n")
	once := map[string]bool{}
	ask := func() cardea.Verdict {
		l := inforce.Load(s.where)
		l.Callbacks = inforce.Callbacks{Once: func(k string) bool { was := once[k]; once[k] = true; return !was }, Redact: func(s string) string { return s }}
		return s.judge(l, "x")
	}
	if v := ask(); v.Effect != cardea.Ask || !strings.Contains(v.Reason, "the project is not trusted") {
		t.Errorf("not trusted: %s %s", v.Effect, v.Reason)
	}
	if v := ask(); v.Effect != cardea.Abstain {
		t.Errorf("not trusted, again: %s %s", v.Effect, v.Reason)
	}
	s.where.Trust, s.where.Known = all, there
	if v := ask(); v.Reason != "who told" {
		t.Errorf("trusted: %s", v.Reason)
	}
	for _, name := range []string{"who.sh", "told.sh"} {
		other := func(path string, _ []byte) bool { return filepath.Base(path) != name }
		s.where.Trust, s.where.Known = other, there
		if v := ask(); v.Effect != cardea.Ask || !strings.Contains(v.Reason, "not as") {
			t.Errorf("%s changed: %s %s", name, v.Effect, v.Reason)
		}
		s.where.Known = func(path string) bool { return there(path) && filepath.Base(path) != name }
		// An added file changes an accepted command.
		if v := ask(); !strings.Contains(v.Reason, map[string]string{"who.sh": "never trusted", "told.sh": "not as"}[name]) {
			t.Errorf("%s is new: %s %s", name, v.Effect, v.Reason)
		}
	}
	// An accepted file that is missing, or is another kind of file, is also a change, at every
	// check.
	script := filepath.Join(s.where.Project, "scripts/told.sh")
	outside := filepath.Join(t.TempDir(), "evil.sh")
	write(t, outside, "echo evil\n")
	s.where.Trust, s.where.Known = all, func(path string) bool { return there(path) || path == script }
	for name, put := range map[string]func() error{
		"gone":                   func() error { return nil },
		"a link out":             func() error { return os.Symlink(outside, script) },
		"a link to nothing":      func() error { return os.Symlink("none", script) },
		"a folder":               func() error { return os.Mkdir(script, 0o755) },
		"a pipe that never ends": func() error { return exec.Command("mkfifo", script).Run() },
	} {
		if err := errors.Join(os.RemoveAll(script), put()); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if v := ask(); v.Effect != cardea.Ask || !strings.Contains(v.Reason, "not as you trusted it") || strings.Contains(v.Reason, "evil") {
				t.Errorf("%s: %s %s", name, v.Effect, v.Reason)
			}
		}
	}
	if err := os.RemoveAll(script); err != nil {
		t.Fatal(err)
	}
	write(t, script, "echo told\n")
	// The user sees all of it when trusting the project.
	seen := map[string]bool{}
	s.where.Trust = func(path string, _ []byte) bool { seen[filepath.Base(path)] = true; return true }
	paths := inforce.Load(s.where).ReadScripts()
	for _, name := range []string{"p.rego", "who.sh", "told.sh", "cardea.yaml"} {
		if !seen[name] {
			t.Errorf("%s is not shown: %v", name, paths)
		}
	}
	if got := (&inforce.Loaded{}).ReadScripts(); got != nil {
		t.Errorf("no project: %v", got)
	}
}

// TestBound checks which files of the project belong to a command. A command with unknown
// files does not run.
func TestBound(t *testing.T) {
	project := paths.Real(t.TempDir())
	for _, f := range []string{"tools/b.sh", "tools/Makefile", "Makefile", "tool/__main__.py", "m.py", "package.json", ".npmrc", "web/package.json", ".venv/bin/lintit", ".git/config"} {
		write(t, filepath.Join(project, f), "")
	}
	l := &inforce.Loaded{}
	l.Where.Project = project
	for command, want := range map[string]string{
		`sh "$CLAUDE_PROJECT_DIR"/tools/b.sh`:              "tools/b.sh",
		`sh ${CLAUDE_PROJECT_DIR}/tools/b.sh`:              "tools/b.sh",
		`sh "$(git rev-parse --show-toplevel)/tools/b.sh"`: "tools/b.sh",
		"run-parts tools":                                  "tools/Makefile tools/b.sh",
		"make -s -C tools":                                 "Makefile tools/Makefile tools/b.sh",
		"make -Ctools":                                     "Makefile tools/Makefile tools/b.sh",
		"python3 tool":                                     "tool/__main__.py",
		"python3 -m tool":                                  "tool/__main__.py",
		"python3 -Im m":                                    "m.py",
		"npm -s test":                                      ".npmrc package.json",
		"npm --prefix web test":                            ".npmrc package.json web/package.json",
		"cat tools/b.sh | sh":                              "tools/b.sh",
		". tools/b.sh":                                     "tools/b.sh",
		`eval "$(cat tools/b.sh)"`:                         "tools/b.sh",
		"PATH=/opt/bin:$PATH x":                            "unseen",
		"PATH=/opt/bin:/usr/bin x":                         "",
		"git rev-parse --abbrev-ref HEAD 2>/dev/null || echo x": "",
		`echo "{\"b\": \"$(git branch --show-current)\"}"`:      "",
		"if [ -f x ]; then echo 1; fi":                          "",
		"jq -r .version package.json":                           "",
		"cat tools/b.sh | wc -l":                                "",
		"grep -c x Makefile && tail -n 1 web/package.json":      "",
		"sometool tools/b.sh":                                   "tools/b.sh",
		"awk -f tools/b.sh package.json":                        "package.json tools/b.sh",
		"cat tools/b.sh | python3":                              "tools/b.sh",
		"cat tools/b.sh | xargs sometool":                       "tools/b.sh",
		"source tools/b.sh && cat package.json":                 "package.json tools/b.sh",
		"for f in tools/*.sh; do sh $f; done":                   "unseen",
		"PATH=$PWD/.venv/bin:$PATH lintit":                      "unseen",
		"export PATH=.venv/bin:$PATH; lintit":                   "unseen",
		"sh $X":                                                 "unseen",
		"./tools/*.sh":                                          "unseen",
		"xargs -n1 sh < list":                                   "unseen",
		"xargs cat < list | sh":                                 "unseen",
		`find tools -name '*.sh' -exec sh {} \;`:                "unseen",
	} {
		b := l.Scripts().FilesOf(command)
		var got []string
		for _, path := range b.All {
			rel, _ := filepath.Rel(project, path)
			got = append(got, filepath.ToSlash(rel))
		}
		slices.Sort(got)
		if b.Unseen != "" {
			got = []string{"unseen"}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %q; want %q", command, got, b.Unseen, want)
		}
	}
}

// TestBorrowed checks that a command of the user does not run files of an untrusted
// project.
func TestBorrowed(t *testing.T) {
	s := newFixture(t)
	for _, f := range []string{"Makefile", "package.json", "scripts/x.sh", "VERSION"} {
		write(t, filepath.Join(s.where.Project, f), "")
	}
	for command, want := range map[string]bool{
		"make -s check":             true,
		"npm test":                  true,
		"sh scripts/x.sh":           true,
		"./scripts/x.sh":            true,
		"cat VERSION":               false,
		"git branch --show-current": false,
		"jq . package.json":         false,
	} {
		l := &inforce.Loaded{Where: s.where}
		if got := l.Scripts().RunsUntrusted(command); (got != "") != want {
			t.Errorf("%s: %q", command, got)
		}
		l.Where.Trust = all
		if got := l.Scripts().RunsUntrusted(command); got != "" {
			t.Errorf("%s in a trusted project: %q", command, got)
		}
	}
	write(t, filepath.Join(s.where.Dirs.User, "policies/p.rego"), strings.ReplaceAll(needsSignal, "told", "made"))
	write(t, filepath.Join(s.where.Dirs.User, "cardea.yaml"), "signals: {made: {command: make -s check}, who: {command: echo who}}\nactions: {on_ask: [{command: make -s told}]}\n")
	l := inforce.Load(s.where)
	if v := s.judge(l, "x"); v.Effect != cardea.Ask || !strings.Contains(v.Reason, "a project that you have not trusted") {
		t.Errorf("%s %s", v.Effect, v.Reason)
	}
	v := cardea.Verdict{Effect: cardea.Ask}
	if jobs := l.Actions(&cardea.Event{Kind: cardea.PreToolUse, Call: &cardea.Call{Tool: "Bash"}}, &v); len(jobs) != 0 {
		t.Errorf("%+v", jobs)
	}
}

func TestActionsOfAVerdict(t *testing.T) {
	s := newFixture(t)
	s.user("cardea.yaml", `actions:
  on_any_denial: [{command: deny, when: {severity: high}}, {command: mcp, when: {tools: "mcp__*"}}, {command: events, when: {events: [Pre*], effects: [deny, halt], harnesses: h}}]
  on_halt: [{command: halt}]
  on_ask: [{command: ask}]
  violations: {R: [{command: rule}], S: [{command: other}]}
`)
	s.project("cardea.yaml", "actions: {on_ask: [{command: sh scripts/a.sh}]}\n")
	write(t, filepath.Join(s.where.Project, "scripts/a.sh"), "echo\n")
	said := func(e cardea.Effect, severity cardea.Severity) string {
		v := cardea.Verdict{Effect: e, By: "policies:R", Opinions: []cardea.Opinion{{Decider: "policies", Rule: "R", Effect: e, Severity: severity}, {Decider: "rules", Rule: "S", Effect: cardea.Abstain}}}
		var out []string
		for _, j := range inforce.Load(s.where).Actions(&cardea.Event{Kind: cardea.PreToolUse, Harness: "h", Call: &cardea.Call{Tool: "Bash"}}, &v) {
			out = append(out, j.Trigger+"="+j.Command+"("+j.Rule+")")
		}
		return strings.Join(out, " ")
	}
	if got := said(cardea.Halt, "critical"); got != "on_any_denial=deny(R) on_any_denial=events(R) on_halt=halt(R) violations.R=rule(R)" {
		t.Errorf("halt: %s", got)
	}
	if got := said(cardea.Deny, "low"); got != "on_any_denial=events(R) violations.R=rule(R)" {
		t.Errorf("a deny of low severity: %s", got)
	}
	if got := said(cardea.Ask, ""); got != "on_ask=ask(R) violations.R=rule(R)" {
		t.Errorf("ask: %s", got)
	}
	for _, e := range []cardea.Effect{cardea.Allow, cardea.Abstain, cardea.Defer} {
		if got := said(e, ""); got != "" {
			t.Errorf("%s: %s", e, got)
		}
	}
	s.where.Trust, s.where.Known = all, there
	if got := said(cardea.Ask, ""); !strings.Contains(got, "on_ask=sh scripts/a.sh") {
		t.Errorf("a trusted project's: %s", got)
	}
	s.where.Trust = func(path string, _ []byte) bool { return filepath.Base(path) != "a.sh" }
	if got := said(cardea.Ask, ""); strings.Contains(got, "a.sh") {
		t.Errorf("a script that changed: %s", got)
	}
}

// TestPoliciesOfProjectsNearby checks that surrounding projects can deny, without their
// messages and halts.
func TestPoliciesOfProjectsNearby(t *testing.T) {
	s := newFixture(t)
	other := filepath.Join(filepath.Dir(s.where.Project), "other")
	write(t, filepath.Join(other, ".cardea/policies/p.rego"), plainPolicy)
	s.where.Trust = all
	g := gate.Build(inforce.Load(s.where), gate.SessionFacts{}, nil, nil)
	v := g.Decide(context.Background(), &cardea.Event{Kind: cardea.PreToolUse, Cwd: other, Call: &cardea.Call{Tool: "Bash", Input: map[string]any{"command": "stop"}}})
	if v.Effect != cardea.Deny || strings.Contains(v.Message, "words") {
		t.Errorf("%s %q", v.Effect, v.Message)
	}
}

// TestOtherEvents checks that policies and rules apply to events without a call.
func TestOtherEvents(t *testing.T) {
	s := newFixture(t)
	s.user("policies/p.rego", plainPolicy)
	s.user("rules/r.yaml", "rules: [{id: r, event: Stop, match: {field: last_assistant_message, pattern: bye}, effect: deny, message: stay}]\n")
	g := gate.Build(inforce.Load(s.where), gate.SessionFacts{}, nil, nil)
	for message, want := range map[string]cardea.Effect{"stop": cardea.Halt, "bye": cardea.Deny, "x": cardea.Abstain} {
		if v := g.Decide(context.Background(), &cardea.Event{Kind: "Stop", Sent: sentFields{"last_assistant_message": message}}); v.Effect != want {
			t.Errorf("%s: %s", message, v.Effect)
		}
	}
}

type sentFields map[string]any

func (f sentFields) Fields() map[string]any { return f }

// TestIndexCache checks that an index is trusted only if this user's Cardea wrote it.
func TestIndexCache(t *testing.T) {
	s := newFixture(t)
	s.where.State, s.where.Dirs.Cache = filepath.Join(s.where.Dirs.Home, "state"), filepath.Join(s.where.Dirs.Home, "cache")
	s.user("policies/p.rego", plainPolicy)
	time.Sleep(150 * time.Millisecond)
	keep := func() {
		t.Helper()
		w := s.where
		ev := &cardea.Event{Kind: cardea.PreToolUse, Call: &cardea.Call{Tool: "Bash", Name: "Bash", Input: map[string]any{"command": "stop"}}}
		w.Warm(ev)
		l := inforce.Load(w)
		if v := s.judge(l, "stop"); v.Effect != cardea.Halt {
			t.Errorf("%s", v.Effect)
		}
		if err := l.Keep(redact.New(), func() bool { return false }); err != nil {
			t.Error(err)
		}
	}
	keep()
	files, _ := filepath.Glob(filepath.Join(s.where.Dirs.Cache, "policies", "*"))
	if len(files) != 1 {
		t.Fatalf("%v", files)
	}
	whole, _ := os.ReadFile(files[0])
	c := state.NewIndexes("policies", s.where.Dirs.Cache, s.where.State)
	name := "policies of " + filepath.Join(s.where.Dirs.User, "policies")
	if text := c.Load(name); !strings.Contains(text, "cardea.policies.plain") {
		t.Errorf("no index: %q", text)
	}
	for _, forged := range [][]byte{nil, whole[:20], append(make([]byte, 32), whole[32:]...), append(append([]byte{}, whole...), 'x')} {
		if err := os.WriteFile(files[0], forged, 0o600); err != nil {
			t.Fatal(err)
		}
		if text := c.Load(name); text != "" {
			t.Errorf("believed: %q", text)
		}
		keep()
	}
	if c.Load("another name") != "" || (*state.Indexes)(nil).Load("x") != "" || state.NewIndexes("policies", "", "") != nil {
		t.Error("an index that is not there")
	}
	(*state.Indexes)(nil).Keep("x", "y")
	if err := (*state.Indexes)(nil).Write(neverLate, nil); err != nil {
		t.Error(err)
	}
	// An unwritable folder is reported.
	c.Keep("a", "b")
	if err := os.RemoveAll(s.where.Dirs.Cache); err != nil {
		t.Fatal(err)
	}
	write(t, s.where.Dirs.Cache, "a file")
	if err := c.Write(neverLate, nil); err == nil || !strings.Contains(err.Error(), "index of policies") {
		t.Errorf("%v", err)
	}
}

// TestFunctionsOfPolicies checks that only system and organisation can permit functions
// with outside access.
func TestFunctionsOfPolicies(t *testing.T) {
	s := newFixture(t)
	s.where.Dirs.System = filepath.Join(s.where.Dirs.Home, "etc")
	policy := strings.Replace(plainPolicy, `input.tool_input.command == "stop"`, `time.now_ns() > 0`, 1)
	s.user("policies/p.rego", policy)
	s.user("cardea.yaml", "policies: {functions: [time.now_ns]}\n")
	if v := s.try("x"); v.Effect != cardea.Ask || !strings.Contains(v.Reason, "time.now_ns") {
		t.Errorf("the person's own: %s %s", v.Effect, v.Reason)
	}
	if got := inforce.Load(s.where).Problems(); len(got) != 1 || !strings.Contains(got[0].String(), "cardea.yaml:1:23: policies.functions has no effect in your own settings") {
		t.Errorf("%v", got)
	}
	write(t, filepath.Join(s.where.Dirs.System, "cardea.yaml"), "policies: {functions: [time.now_ns]}\n")
	if v := s.try("x"); v.Effect != cardea.Halt {
		t.Errorf("the system's: %s %s", v.Effect, v.Reason)
	}
	s.project("policies/p.rego", policy)
	if err := os.Remove(filepath.Join(s.where.Dirs.User, "policies/p.rego")); err != nil {
		t.Fatal(err)
	}
	if v := s.try("x"); v.Effect != cardea.Ask || strings.Contains(v.Reason, "now_ns") {
		t.Errorf("an untrusted project: %s %s", v.Effect, v.Reason)
	}
}

// TestBuiltinPolicies checks that built-in policies are on if they have data.
func TestBuiltinPolicies(t *testing.T) {
	s := newFixture(t)
	on := func() string {
		f, _ := inforce.Load(s.where).Builtins()
		var out []string
		for _, p := range f.Paths() {
			out = append(out, strings.TrimSuffix(filepath.Base(p), ".rego"))
		}
		return strings.Join(out, " ")
	}
	for settings, want := range map[string]string{
		"":                                  "",
		"policies: {checks: [x]}":           "git_checks",
		"policies: {protected: [x]}":        "",
		"policies: {context: [x]}":          "",
		"packs: {full-reads: on}":           "full_reads",
		"signals: {validate: {command: x}}": "edit_validators",
		"packs: {git-checks: off, full-reads: on}\npolicies: {checks: [x]}": "full_reads",
		"packs: {git-checks: on}": "git_checks",
	} {
		s.user("cardea.yaml", settings+"\n")
		if got := on(); got != want {
			t.Errorf("%q: %q, want %q", settings, got, want)
		}
	}
	s.user("cardea.yaml", "policies: {checks: [npm test]}\n")
	s.where.State = filepath.Join(s.where.Dirs.Home, "state")
	if v := s.try("git commit -m x"); v.Effect != cardea.Deny || v.By != "policies:git-checks" {
		t.Errorf("%s %s", v.Effect, v.By)
	}
}

// TestScriptsOfCommands checks that scripts in a signal's command are accepted with it, for
// any spelling.
func TestScriptsOfCommands(t *testing.T) {
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tools/a.sh", "tools/b.sh", "Makefile", "tools/Makefile", "package.json"} {
		path := filepath.Join(project, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l := &inforce.Loaded{Where: inforce.Where{Project: project}}
	for command, want := range map[string]string{
		"sh tools/a.sh":           "tools/a.sh",
		"cd tools && ./b.sh":      "tools/b.sh",
		"D=tools; $D/b.sh":        "tools/b.sh",
		"bash -c 'tools/a.sh'":    "tools/a.sh",
		"x=\"$(tools/a.sh)\"":     "tools/a.sh",
		"cat < tools/a.sh | sh":   "tools/a.sh",
		"make all":                "Makefile",
		"cd tools && make":        "tools/Makefile Makefile",
		"timeout 5 npm run check": "package.json",
		"git status":              "",
		"cat /etc/hostname":       "",
	} {
		var got []string
		for _, path := range l.Scripts().FilesOf(command).All {
			rel, _ := filepath.Rel(project, path)
			got = append(got, filepath.ToSlash(rel))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}
