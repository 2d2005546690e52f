package inforce_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/config/inforce"
	"cardea.dev/internal/config/project"
	"cardea.dev/internal/decide/policy"
	"cardea.dev/internal/decide/policy/rego"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness/call"
	"cardea.dev/internal/hook/gate"
)

// fixture is a user's folder and a project on disk.
type fixture struct {
	t     *testing.T
	where inforce.Where
}

func newFixture(t *testing.T) *fixture {
	base := realTemp(t)
	s := &fixture{t: t, where: inforce.Where{
		Engines: policy.Engines{Own: rego.Engine{}, Project: rego.Engine{}}, Project: filepath.Join(base, "app"), Dirs: project.Dirs{Home: filepath.Join(base, "home")}}}
	s.where.Dirs.User = filepath.Join(s.where.Dirs.Home, ".config/cardea")
	mkdir(t, s.where.Project)
	return s
}

func (s *fixture) user(name, text string) { write(s.t, filepath.Join(s.where.Dirs.User, name), text) }

func (s *fixture) project(name, text string) {
	write(s.t, filepath.Join(s.where.Project, ".cardea", name), text)
}

// try returns the verdict about a command in the project.
func (s *fixture) try(command string) cardea.Verdict {
	s.t.Helper()
	return s.judge(inforce.Load(s.where), command)
}

func (s *fixture) judge(l *inforce.Loaded, command string) cardea.Verdict {
	s.t.Helper()
	system := knowledge.System{Home: s.where.Dirs.Home, Resolve: paths.Resolve}
	analyse := func(ev *cardea.Event) *cardea.Event { return call.Analyse(ev, system) }
	return gate.Build(l, gate.SessionFacts{}, analyse, nil).Decide(context.Background(), analyse(&cardea.Event{Kind: cardea.PreToolUse, Cwd: s.where.Project, Project: s.where.Project,
		Call: &cardea.Call{Tool: "Bash", Name: "Bash", Known: true, Input: map[string]any{"command": command}}}))
}

// all trusts every file.
func all(string, []byte) bool { return true }

func rule(id, effect string) string {
	return fmt.Sprintf("rules: [{id: %s, tool: Bash, match: {command: %s}, effect: %s, message: words of %s}]\n", id, id, effect, id)
}

func TestLoadWithNothing(t *testing.T) {
	s := newFixture(t)
	l := inforce.Load(s.where)
	if len(l.Issues())+len(l.Files)+len(l.Routes)+len(l.Off())+len(l.Uncounted()) != 0 || len(l.Rules()) == 0 {
		t.Errorf("got %+v", l)
	}
	for _, w := range []inforce.Where{{}, {Dirs: project.Dirs{User: "/none"}}} {
		if l := inforce.Load(w); len(l.Issues()) != 0 || len(l.Rules()) == 0 {
			t.Errorf("%+v: %v", w, l.Issues())
		}
	}
	for command, want := range map[string]cardea.Effect{
		"git push --force": cardea.Deny, "X=1 && true": cardea.Allow, "true; make": cardea.Abstain, "eval $x": cardea.Defer, "X=1; rm -rf /": cardea.Deny} {
		if got := s.try(command); got.Effect != want {
			t.Errorf("%q: %s by %s, want %s", command, got.Effect, got.By, want)
		}
	}
}

// TestTrust checks that only a project's files depend on trust, not the user's.
func TestTrust(t *testing.T) {
	s := newFixture(t)
	s.user("rules/u.yaml", rule("umay", "allow"))
	s.project("cardea.yaml", "default: {attended: deny}\nrules: {off: [poff, umay, git-force-push], effect: {pask: deny}}\n")
	s.project("rules/p.yaml", "rules:\n"+
		"  - {id: pmay, tool: Bash, match: {command: pmay}, effect: allow}\n"+
		"  - {id: pask, tool: Bash, match: {command: pask}, effect: ask, message: words}\n"+
		"  - {id: phalt, tool: Bash, match: {command: phalt}, effect: halt}\n"+
		"  - {id: poff, tool: Bash, match: {command: poff}, effect: ask}\n")
	for _, c := range []struct {
		command              string
		untrusted, isTrusted cardea.Effect
	}{
		{"umay", cardea.Allow, cardea.Allow},
		{"pmay", cardea.Abstain, cardea.Allow},
		{"pask", cardea.Ask, cardea.Deny},
		{"phalt", cardea.Deny, cardea.Halt},
		{"poff", cardea.Ask, cardea.Deny}, // off, so that the project's default applies
		{"make", cardea.Abstain, cardea.Deny},
		{"git push --force", cardea.Deny, cardea.Deny},
	} {
		s.where.Trust = nil
		if got := s.try(c.command); got.Effect != c.untrusted {
			t.Errorf("untrusted, %s: %s by %s, want %s", c.command, got.Effect, got.By, c.untrusted)
		}
		s.where.Trust = all
		if got := s.try(c.command); got.Effect != c.isTrusted {
			t.Errorf("trusted, %s: %s by %s, want %s", c.command, got.Effect, got.By, c.isTrusted)
		}
	}
	s.where.Trust = nil
	told := fmt.Sprint(inforce.Load(s.where).Uncounted())
	for _, want := range []string{"these settings do not count, since the project is not trusted", "rule pmay does not count", "the halt of rule phalt counts as deny"} {
		if !strings.Contains(told, want) {
			t.Errorf("not told: %q in %s", want, told)
		}
	}
	if v := s.try("pask"); strings.Contains(v.Message, "words") {
		t.Errorf("the model reads what an untrusted project wrote: %q", v.Message)
	}
	s.where.Trust = all
	l := inforce.Load(s.where)
	if l.Uncounted() != nil {
		t.Errorf("trusted: %v", l.Uncounted())
	}
	// Switches for rules of other scopes have no effect, which is reported.
	text := problemText(l)
	for _, id := range []string{"umay", "git-force-push"} {
		if !strings.Contains(text, `"`+id+`" has no effect`) || !strings.Contains(text, "to switch it for yourself") {
			t.Errorf("no warning about %s in %s", id, text)
		}
	}
}

func problemText(l *inforce.Loaded) string {
	var b strings.Builder
	for _, tr := range l.Issues() {
		fmt.Fprintf(&b, "%s: %s\n", tr.Failure, tr.Error())
	}
	return b.String()
}

func TestSwitches(t *testing.T) {
	s := newFixture(t)
	s.user("cardea.yaml", "packs: {git: off, builtins: off}\nrules: {off: [mine], effect: {other: ask, gone: ask}}\n")
	s.user("rules/r.yaml", "rules:\n  - {id: mine, tool: Bash, match: {command: mine}, effect: deny}\n  - {id: other, tool: Bash, match: {command: other}, effect: deny}\n")
	l := inforce.Load(s.where)
	for command, want := range map[string]cardea.Effect{"git push --force": cardea.Abstain, "mine": cardea.Abstain, "other": cardea.Ask, "cardea trust init": cardea.Deny} {
		if got := s.judge(l, command); got.Effect != want {
			t.Errorf("%q: %s by %s, want %s", command, got.Effect, got.By, want)
		}
	}
	off := func(r rules.Rule) bool { return r.ID == "mine" }
	if !slices.ContainsFunc(l.Off(), off) || slices.ContainsFunc(l.Rules(), off) {
		t.Error("the rule is not listed as switched off")
	}
	text := problemText(l)
	for _, want := range []string{"cardea.yaml:1:1: \"builtins\" has no effect: the rules of the pack builtins are switched one by one", "cardea.yaml:2:1: no rule or pack is called \"gone\""} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

// TestBrokenFiles checks the effect of a broken file, and that nothing else is lost.
func TestBrokenFiles(t *testing.T) {
	for onError, want := range map[string]cardea.Effect{"defer": cardea.Ask, "deny": cardea.Deny, "allow": cardea.Abstain} {
		s := newFixture(t)
		s.user("cardea.yaml", "on_error: "+onError+"\n")
		s.user("rules/a.yaml", "rules: [")
		s.user("rules/b.yaml", rule("mine", "deny"))
		if got := s.try("make"); got.Effect != want {
			t.Errorf("%s: %s, want %s", onError, got.Effect, want)
		}
		if got := s.try("mine"); got.Effect != cardea.Deny || !strings.Contains(got.Reason, "words of mine") {
			t.Errorf("%s: %s, %q", onError, got.Effect, got.Reason)
		}
		if text := problemText(inforce.Load(s.where)); !strings.Contains(text, "a file is broken: "+filepath.Join(s.where.Dirs.User, "rules/a.yaml")+":1:") {
			t.Errorf("%s: %s", onError, text)
		}
	}
}

func TestBrokenSettings(t *testing.T) {
	s := newFixture(t)
	s.user("cardea.yaml", "on_error: maybe\nledger: {}\n")
	if text := problemText(inforce.Load(s.where)); !strings.Contains(text, "a file is broken: ") || strings.Contains(text, "ledger") {
		t.Errorf("got %s", text)
	}
	// Settings of an untrusted project do not apply, so their errors have no effect; those of
	// a trusted one do.
	s = newFixture(t)
	s.project("cardea.yaml", "on_error: maybe\nledger: {}\n")
	if got := s.try("make"); got.Effect != cardea.Abstain || len(got.Issues) != 1 {
		t.Errorf("untrusted: %s, %v", got.Effect, got.Issues)
	}
	s.where.Trust = all
	if got := s.try("make"); got.Effect != cardea.Ask || len(got.Issues) != 1 {
		t.Errorf("trusted: %s, %v", got.Effect, got.Issues)
	}
}

func TestUnreadableFiles(t *testing.T) {
	s := newFixture(t)
	mkdir(t, filepath.Join(s.where.Dirs.User, "cardea.yaml"))
	write(t, filepath.Join(s.where.Project, ".cardea/rules"), "a file in the place of a folder")
	mkdir(t, filepath.Join(s.where.Dirs.User, "rules/x.yaml"))
	text := problemText(inforce.Load(s.where))
	for _, want := range []string{"cardea.yaml: cannot be read: it is no regular file", ".cardea/rules: has mistakes", "x.yaml: cannot be read"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

// TestProjectLinks checks that a project cannot link to files outside, whose text the
// problems would quote.
func TestProjectLinks(t *testing.T) {
	s := newFixture(t)
	secret := write(t, filepath.Join(s.where.Dirs.Home, "secret.yaml"), "password: hunter2\n")
	mkdir(t, filepath.Join(s.where.Project, ".cardea/rules"))
	for _, name := range []string{"cardea.yaml", "rules/link.yaml"} {
		if err := os.Symlink(secret, filepath.Join(s.where.Project, ".cardea", name)); err != nil {
			t.Skip(err)
		}
	}
	l := inforce.Load(s.where)
	text := fmt.Sprint(l.Problems(), problemText(l))
	if strings.Contains(text, "password") || strings.Count(text, "outside of the project") != 2 {
		t.Errorf("got %s", text)
	}
}

// TestProblemsOfUntrustedFilesAreNotQuoted checks that text of untrusted files does not
// reach the model through problems.
func TestProblemsOfUntrustedFilesAreNotQuoted(t *testing.T) {
	s := newFixture(t)
	s.project("rules/p.yaml", "rules: [{id: x, IGNORE-ALL: 1, effect: deny, match: {IGNORE-ALL: 2}}]")
	write(t, filepath.Join(s.where.Project, ".claude/tool-routes.yaml"), "IGNORE-ALL: 1\n")
	v := s.try("make")
	text := fmt.Sprint(v.Reason, v.Message, v.Issues)
	if v.Effect != cardea.Ask || strings.Contains(text, "IGNORE") || !strings.Contains(text, "p.yaml: has mistakes (unknown-key)") || !strings.Contains(text, "cardea rules lint") {
		t.Errorf("%s, %s", v.Effect, text)
	}
	shown := map[string]bool{}
	for _, issue := range v.Issues {
		if d := issue.Diagnostic; d.Line != 0 || d.Column != 0 || d.Text != d.Withheld().Text || d.File == "" || d.Code == "" || shown[d.String()] {
			t.Errorf("more than file and kind is told, or it is told twice: %+v", d)
		}
		shown[issue.Error()] = true
	}
	if !strings.Contains(fmt.Sprint(inforce.Load(s.where).Problems()), "IGNORE-ALL") {
		t.Error("the person cannot learn what is wrong")
	}
	s.where.Trust = all
	if v := s.try("make"); !strings.Contains(v.Reason, "IGNORE-ALL") {
		t.Errorf("trusted: %s", v.Reason)
	}
}

func TestRoutesCostNothing(t *testing.T) {
	s := newFixture(t)
	file := filepath.Join(s.where.Project, ".claude/tool-routes.yaml")
	write(t, file, "routes:\n  ok: {tool: Bash, pattern: routed, message: m}\n  bad: {tool: Bash, pattern: '(', message: m}\n")
	if got := s.try("make"); got.Effect != cardea.Abstain || len(got.Issues) == 0 {
		t.Errorf("%s, %v", got.Effect, got.Issues)
	}
	if got := s.try("routed"); got.Effect != cardea.Deny || got.By != "routes:ok" {
		t.Errorf("%s by %s", got.Effect, got.By)
	}
}

// TestSurroundingRules checks that the rules of a project apply to every call that accesses
// it.
func TestSurroundingRules(t *testing.T) {
	s := newFixture(t)
	lib := filepath.Join(filepath.Dir(s.where.Project), "lib")
	write(t, filepath.Join(lib, ".cardea/rules/l.yaml"), "rules:\n"+
		"  - {id: keep, match: {path: src/precious, access: [delete]}, effect: deny}\n"+
		"  - {id: may, tool: Bash, match: {command: ls}, effect: allow}\n")
	s.where.Trust = all
	for command, want := range map[string]cardea.Effect{
		"rm ../lib/src/precious":               cardea.Deny,
		"cd ../lib && rm src/precious":         cardea.Deny,
		"rm src/precious":                      cardea.Abstain,
		"cd ../lib && make":                    cardea.Abstain,
		"ssh host rm " + lib + "/src/precious": cardea.Abstain,
	} {
		if got := s.try(command); got.Effect != want {
			t.Errorf("%q: %s by %s, want %s", command, got.Effect, got.By, want)
		}
	}
	write(t, filepath.Join(lib, ".cardea/rules/broken.yaml"), "rules: {")
	if got := s.try("touch ../lib/x"); got.Effect != cardea.Ask || len(got.Issues) != 1 {
		t.Errorf("broken rules around: %s, %v", got.Effect, got.Issues)
	}
	if got := s.try("rm ../lib/src/precious"); got.Effect != cardea.Deny {
		t.Errorf("broken rules beside good ones: %s", got.Effect)
	}
}

// TestTooManySurroundings checks that padding a call with projects does not hide one: the
// call is not allowed.
func TestTooManySurroundings(t *testing.T) {
	s := newFixture(t)
	s.user("rules/u.yaml", "rules: [{id: may, tool: Bash, match: {command: touch}, effect: allow}]")
	line := "touch"
	for i := range project.MaxSurroundings + 1 {
		if got := s.try(line + " here"); got.Effect != cardea.Allow {
			t.Fatalf("with %d projects: %s by %s", i, got.Effect, got.By)
		}
		dir := filepath.Join(filepath.Dir(s.where.Project), fmt.Sprintf("p%d", i))
		mkdir(t, filepath.Join(dir, ".cardea"))
		line += " " + dir + "/x"
	}
	if got := s.try(line); got.Effect != cardea.Defer || got.By != "rules:surroundings" {
		t.Errorf("%s by %s", got.Effect, got.By)
	}
}

func TestLoadSettings(t *testing.T) {
	s := newFixture(t)
	s.user("cardea.yaml", "on_error: allow\n")
	s.project("cardea.yaml", "on_error: deny\n")
	if got := inforce.LoadSettings(s.where); got.OnError != cardea.OnErrorAllow {
		t.Errorf("untrusted: %v", got.OnError)
	}
	s.where.Trust = all
	if got := inforce.LoadSettings(s.where); got.OnError != cardea.OnErrorDeny {
		t.Errorf("trusted: %v", got.OnError)
	}
}

func TestLoadPaths(t *testing.T) {
	base := realTemp(t)
	write(t, filepath.Join(base, "scope/cardea.yaml"), "on_error: deny\n")
	write(t, filepath.Join(base, "scope/rules/a.yaml"), rule("a", "deny"))
	write(t, filepath.Join(base, "proj/.cardea/rules/b.yaml"), rule("b", "deny"))
	write(t, filepath.Join(base, "proj/.claude/tool-routes.yaml"), "routes: {r1: {tool: Bash, pattern: x, message: m}}")
	write(t, filepath.Join(base, "plugin/hooks/tool-routes.yaml"), "routes: {r2: {tool: Bash, pattern: x, message: m}}")
	write(t, filepath.Join(base, "plugin/.claude-plugin/routes.json"), `{"routes": ["more.yaml"]}`)
	write(t, filepath.Join(base, "plugin/more.yaml"), "routes: {r3: {tool: Bash, pattern: x, message: m}}")
	write(t, filepath.Join(base, "loose/c.yaml"), rule("c", "allow"))
	write(t, filepath.Join(base, "loose/broken.yaml"), "rules: [")
	for path, want := range map[string][]string{
		"scope": {"a"}, "proj": {"b", "r1"}, "plugin": {"r2", "r3"}, "loose": {"c"}, "loose/c.yaml": {"c"},
		"plugin/hooks/tool-routes.yaml": {"r2"}, "plugin/.claude-plugin/routes.json": {"r3"}, "scope/cardea.yaml": {},
	} {
		l, err := inforce.LoadPaths([]string{filepath.Join(base, path)})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		got := []string{}
		for _, r := range l.Rules() {
			got = append(got, r.ID)
		}
		for _, r := range l.Routes {
			got = append(got, r.Name)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v (%s)", path, got, want, problemText(l))
		}
		if broken := len(l.Problems()) > 0; broken != (path == "loose") {
			t.Errorf("%s: %v", path, l.Problems())
		}
		if path == "scope" && len(l.SettingsFiles[0].Given) != 1 {
			t.Error("the settings of a scope's folder are not read")
		}
	}
	if _, err := inforce.LoadPaths([]string{filepath.Join(base, "none")}); err == nil || !strings.Contains(err.Error(), "is not there") {
		t.Errorf("got %v", err)
	}
	write(t, filepath.Join(base, "odd/rules/x"), "")
	for i := range project.MaxRuleFiles + 1 {
		write(t, filepath.Join(base, fmt.Sprintf("odd/rules/%d.yaml", i)), "rules: []")
	}
	if l, err := inforce.LoadPaths([]string{filepath.Join(base, "odd")}); err != nil || len(l.Problems()) != 1 {
		t.Errorf("too many files: %v", err)
	}
}

// TestRulesOfAProjectAreBounded checks the size limit of a project's rules. A slow hook
// would decide nothing in time.
func TestRulesOfAProjectAreBounded(t *testing.T) {
	s := newFixture(t)
	padding := "# " + strings.Repeat("x", 400<<10) + "\n"
	for _, name := range []string{"a", "b", "c", "d"} {
		s.project("rules/"+name+".yaml", padding+rule(name, "deny"))
		s.user("rules/"+name+".yaml", padding+rule("u"+name, "deny"))
	}
	for command, want := range map[string]cardea.Effect{"a": cardea.Deny, "b": cardea.Deny, "c": cardea.Ask, "ud": cardea.Deny} {
		if got := s.try(command); got.Effect != want {
			t.Errorf("%s: %s by %s, want %s", command, got.Effect, got.By, want)
		}
	}
	if text := problemText(inforce.Load(s.where)); strings.Count(text, "has mistakes") != 2 {
		t.Errorf("got %s", text)
	}
}

// TestIssuesAreFew checks the limit on reported issues.
func TestIssuesAreFew(t *testing.T) {
	s := newFixture(t)
	for i := range 2 * inforce.MaxIssues {
		s.project(fmt.Sprintf("rules/%02d.yaml", i), "rules: [")
	}
	write(t, filepath.Join(s.where.Project, ".claude/tool-routes.yaml"), "routes: ["+strings.Repeat("a, b, ", 2*inforce.MaxIssues)+"c]")
	v := s.try("make")
	if len(v.Issues) != inforce.MaxIssues+3 || v.Effect != cardea.Ask || v.Issues[inforce.MaxIssues].Failure != cardea.BrokenFile {
		t.Errorf("%s, %d troubles", v.Effect, len(v.Issues))
	}
	if !strings.Contains(v.Issues[inforce.MaxIssues].Error(), "and 20 more") {
		t.Errorf("got %s", v.Issues[inforce.MaxIssues].Error())
	}
	s.user("rules/u.yaml", rule("mine", "deny"))
	if v := s.try("mine"); v.Effect != cardea.Deny {
		t.Errorf("beside all that: %s", v.Effect)
	}
}

// scope writes the files of a scope's folder, by name.
func (s *fixture) scope(dir string, files map[string]string) {
	for name, text := range files {
		write(s.t, filepath.Join(dir, name), text)
	}
}

// TestScopesAbove checks that deny and ask rules of system and org apply, and that weaker
// scopes cannot switch them off.
func TestScopesAbove(t *testing.T) {
	s := newFixture(t)
	s.where.Dirs.System = filepath.Join(filepath.Dir(s.where.Project), "etc")
	s.scope(s.where.Dirs.System, map[string]string{
		"cardea.yaml":  "on_error: deny\nrules: {off: [orgoff], effect: {git-clean: deny}}\n",
		"rules/s.yaml": rule("sysdeny", "deny")})
	s.scope(filepath.Join(s.where.Dirs.User, "org/acme"), map[string]string{
		"cardea.yaml": "default: {attended: ask}\norg: {name: other}\n",
		"rules/o.yaml": "rules:\n  - {id: orgask, tool: Bash, match: {command: orgask}, effect: ask}\n  - {id: orgoff, tool: Bash, match: {command: " +
			"orgoff}, effect: deny}\n  - {id: orgmay, tool: Bash, match: {command: orgmay}, effect: allow}\n",
	})
	s.scope(filepath.Join(s.where.Dirs.User, "org/other"), map[string]string{"rules/x.yaml": rule("never", "deny"), "rules/y.yaml": rule("othermay", "allow")})
	s.user(
		"cardea.yaml",
		"org: {name: acme}\non_error: allow\ndefault: {attended: allow}\npacks: {git: off}\nrules: {off: [sysdeny, 'org*', s, o], effect: {sysdeny: ask, orgask: allow, git-clean: ask}}\n",
	)
	s.project("cardea.yaml", "rules: {off: [sysdeny, orgask]}\n")
	s.where.Trust = all
	for command, want := range map[string]cardea.Effect{
		"sysdeny": cardea.Deny, "orgask": cardea.Ask, "orgoff": cardea.Ask, "orgmay": cardea.Allow, "git clean -fd": cardea.Deny, "make": cardea.Ask, "never": cardea.Deny, "othermay": cardea.Ask,
		"git push --force": cardea.Ask, // the user may switch off built-in rules; the org's default remains
	} {
		if got := s.try(command); got.Effect != want {
			t.Errorf("%s: %s by %s, want %s", command, got.Effect, got.By, want)
		}
	}
	l := inforce.Load(s.where)
	if l.Settings.OnError != cardea.OnErrorDeny || l.Settings.Org.Name != "acme" {
		t.Errorf("%v, %+v", l.Settings.OnError, l.Settings.Org)
	}
	if text := problemText(l); !strings.Contains(text, "rule sysdeny is of the scope system, which is stronger") || !strings.Contains(text, `"orgask" has no effect`) {
		t.Errorf("not told: %s", text)
	}
	// System names the organisation before the user does.
	write(t, filepath.Join(s.where.Dirs.System, "cardea.yaml"), "org: {name: other}\n")
	write(t, filepath.Join(s.where.Dirs.User, "cardea.yaml"), "")
	if got := s.try("othermay"); got.Effect != cardea.Allow {
		t.Errorf("the system's organisation: %s", got.Effect)
	}
}

// TestSystemScopeOfOthers checks that files in the system's folder that are not root's are
// reported and ignored.
func TestSystemScopeOfOthers(t *testing.T) {
	s := newFixture(t)
	s.where.Dirs.System = filepath.Join(filepath.Dir(s.where.Project), "etc")
	files := map[string]string{"cardea.yaml": "default: {attended: deny}\n", "rules/s.yaml": rule("s", "deny")}
	s.scope(s.where.Dirs.System, files)
	for bad, want := range map[string][2]cardea.Effect{
		"": {cardea.Abstain, cardea.Abstain}, "cardea.yaml": {cardea.Abstain, cardea.Deny}, "rules": {cardea.Deny, cardea.Deny}, "rules/s.yaml": {cardea.Deny, cardea.Deny}} {
		path := filepath.Join(s.where.Dirs.System, bad)
		s.where.Guarded = func(p string) string {
			if p == path {
				return "belongs to somebody; chown it"
			}
			return ""
		}
		v := s.try("make")
		if v.Effect != want[0] || s.try("s").Effect != want[1] {
			t.Errorf("%q: %s, %s, want %s", bad, v.Effect, s.try("s").Effect, want)
		}
		if text := problemText(inforce.Load(s.where)); !strings.Contains(text, "none: "+path+": is ignored: it belongs to somebody") {
			t.Errorf("%q: not told: %s", bad, text)
		}
		if bad == "rules" || bad == "rules/s.yaml" {
			l := inforce.Load(s.where)
			for _, r := range l.Rules() {
				if r.Scope == cardea.ScopeSystem {
					t.Errorf("%q: rule %s is in force", bad, r.ID)
				}
			}
		}
	}
	// A link from the system's folder is not followed.
	s.where.Guarded = nil
	out := write(t, filepath.Join(s.where.Dirs.Home, "x.yaml"), rule("linked", "allow"))
	if err := os.Symlink(out, filepath.Join(s.where.Dirs.System, "rules/l.yaml")); err != nil {
		t.Skip(err)
	}
	if got := s.try("linked"); got.Effect == cardea.Allow {
		t.Error("a link out of the system's folder is believed")
	}
}
func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
