package routes_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cardea.dev/internal/base/document"
	_ "cardea.dev/internal/base/document/yamltext"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/decide/routes"
	"cardea.dev/internal/harness"
)

const good = `
routes:
  github-pr:
    tool: WebFetch
    pattern: 'github\.com/[^/]+/[^/]+/pull/\d+'
    message: Use gh pr view.
    tests:
      - desc: a pull request
        input: {tool_name: WebFetch, tool_input: {url: "https://GITHUB.com/a/b/pull/7"}}
        expect: block
        contains: gh pr
      - input: {tool_name: WebFetch, tool_input: {url: "https://github.com/a/b"}}
        expect: allow
  git-commit-multiline:
    tool: bash
    pattern: "git\\s+commit\\b.*\\$\\(cat"
    message: Use a file.
  later:
    tool: Bash
    pattern: commit$
    message: never reached by the line above
`

func parse(t *testing.T, text string, o routes.Origin) []routes.Route {
	t.Helper()
	o.Tool = harness.ToolWord
	list, _, problems := routes.Parse("f.yaml", []byte(text), o)
	for _, p := range problems {
		t.Errorf("%s", p)
	}
	return list
}

func call(tool string, input map[string]any) *cardea.Event {
	return &cardea.Event{Kind: cardea.PreToolUse, Call: &cardea.Call{Tool: tool, Name: tool, Input: input}}
}

func decide(t *testing.T, ev *cardea.Event, list []routes.Route) []cardea.Opinion {
	t.Helper()
	d := routes.New(list)
	ops, err := d.Decide(context.Background(), ev)
	if err != nil {
		t.Error(err)
	}
	for _, o := range ops {
		if o.Decider != (routes.Late{}).Name() || o.Effect != cardea.Deny || o.Part != cardea.WholeCall {
			t.Errorf("%+v", o)
		}
	}
	return ops
}

func TestFirstMatchSpeaks(t *testing.T) {
	list := parse(t, good, routes.Origin{Scope: cardea.ScopeUser})
	for _, c := range []struct {
		ev   *cardea.Event
		want string
	}{
		{call("WebFetch", map[string]any{"url": "http://x/github.com/a/b/pull/1"}), "github-pr"},
		{call("WebFetch", map[string]any{"url": "http://x"}), ""},
		{call("WebFetch", map[string]any{"url": nil}), ""},
		{call("WebFetch", map[string]any{"url": []any{"github.com/a/b/pull/1"}}), "github-pr"},
		{call("WebFetch", nil), ""},
		{call("Bash", map[string]any{"command": "GIT commit -m \"$(cat x)\"; commit"}), "git-commit-multiline"},
		{call("Bash", map[string]any{"command": "git commit"}), "later"},
		{call("Bash", map[string]any{"command": "git commit\n"}), "later"},
		{call("Bash", map[string]any{"command": "git commit\n\n"}), ""},
		{call("Read", map[string]any{"command": "git commit"}), ""},
	} {
		got := ""
		if ops := decide(t, c.ev, list); len(ops) == 1 {
			got = ops[0].Rule
		} else if len(ops) > 1 {
			t.Errorf("%d routes speak", len(ops))
		}
		if got != c.want {
			t.Errorf("%v: route %q, want %q", c.ev.Call.Input, got, c.want)
		}
	}
	shadowed := call("Bash", map[string]any{"command": "ls"})
	shadowed.Call.Shadowed = map[string][]any{"command": {"git commit"}}
	if len(decide(t, shadowed, list)) != 1 {
		t.Error("the value of a duplicate key is not looked at")
	}
	o := decide(t, call("Bash", map[string]any{"command": "commit"}), list)[0]
	if o.Reason != "never reached by the line above" || o.Source != "f.yaml:18" || o.Scope != cardea.ScopeUser || o.Withheld {
		t.Errorf("%+v", o)
	}
	stop := call("Bash", map[string]any{"command": "commit"})
	stop.Kind = "PostToolUse"
	if len(decide(t, stop, list)) != 0 || len(decide(t, &cardea.Event{Kind: cardea.PreToolUse}, list)) != 0 {
		t.Error("routes are about calls before they run")
	}
}

func TestAnyToolAnyField(t *testing.T) {
	list := parse(t, `
routes:
  mcp: {tool: 'mcp__gh__*', field: repo.name, pattern: secret, message: m}
  agent: {tool: Task, pattern: everything, message: m}
`, routes.Origin{Scope: cardea.ScopeProject})
	ops := decide(t, call("mcp__gh__get", map[string]any{"repo": map[string]any{"name": "Secret"}}), list)
	if len(ops) != 1 || !ops[0].Withheld {
		t.Errorf("an untrusted project's message is withheld: %+v", ops)
	}
	if len(decide(t, call("mcp__gl__get", map[string]any{"repo": map[string]any{"name": "secret"}}), list)) != 0 ||
		len(decide(t, call("mcp__gh__get", map[string]any{"repo": "secret"}), list)) != 0 {
		t.Error("another tool or another shape")
	}
	if len(decide(t, call("Agent", map[string]any{"prompt": "do everything"}), list)) != 1 {
		t.Error("harness aliases are folded in")
	}
	trusted := parse(t, good, routes.Origin{Scope: cardea.ScopeProject, Trusted: true})
	if ops := decide(t, call("Bash", map[string]any{"command": "commit"}), trusted); len(ops) != 1 || ops[0].Withheld {
		t.Errorf("%+v", ops)
	}
}

func TestBrokenPatternIsReported(t *testing.T) {
	list := parse(t, good, routes.Origin{})
	list[1].Pattern = "("
	ev := call("Bash", map[string]any{"command": "git commit"})
	ops, err := routes.New(list).Decide(context.Background(), ev)
	var issues cardea.Issues
	if !errors.As(err, &issues) || issues[0].Failure != cardea.BrokenFile || len(ops) != 1 {
		t.Errorf("%v, %+v", err, ops)
	}
	list[1].Scope, list[1].Pattern = cardea.ScopeProject, "(IGNORE-ALL"
	if _, err := routes.New(list).Decide(context.Background(), ev); !errors.As(err, &issues) || strings.Contains(err.Error(), "IGNORE") {
		t.Errorf("a project that nobody trusts: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if ops, err := routes.New(list).Decide(ctx, ev); len(ops) != 0 || err != nil {
		t.Error("a call that is out of time is the gate's business")
	}
}

// TestLookaroundIsRewrittenLate tests a pattern that cannot be written without lookahead.
// Checks of the file report it. The hook reports it at a call that the route may be about,
// without an effect on the call.
func TestLookaroundIsRewrittenLate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tool-routes.yaml")
	text := "routes: {long: {tool: Bash, pattern: 'a(?!.{90}b)', message: m}, short: {tool: Bash, pattern: 'c(?!d)', message: m}}"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sources := []routes.Source{{File: file, Scope: cardea.ScopeUser, Root: filepath.Dir(file)}}
	list, problems := routes.Load(sources, nil, harness.ToolWord, document.Read, true)
	if len(list) != 1 || len(problems) != 1 || problems[0].Line != 1 || problems[0].File != file || !strings.Contains(problems[0].Text, `"long" cannot be run`) {
		t.Errorf("exact: %+v %v", list, problems)
	}
	list, problems = routes.Load(sources, nil, harness.ToolWord, document.Read, false)
	if len(list) != 2 || len(problems) != 0 {
		t.Errorf("at the hook: %+v %v", list, problems)
	}
	for command, want := range map[string]struct {
		opinions int
		told     bool
	}{"xyz": {0, false}, "ce": {1, false}, "cd": {0, false}, "a": {0, true}, "a; ce": {1, true}} {
		ops, err := routes.New(list).Decide(t.Context(), call("Bash", map[string]any{"command": command}))
		var issues cardea.Issues
		if told := errors.As(err, &issues); told != want.told || len(ops) != want.opinions || told && issues[0].Failure != cardea.NoFailure {
			t.Errorf("%s: %+v, %v", command, ops, err)
		}
	}
}

func TestParseProblems(t *testing.T) {
	for _, c := range []struct {
		text, want string
		left       int
	}{
		{"{}", "the file has no routes", 0},
		{"[]", "must be a map", 0},
		{"# nothing", "f:1:1: the file has no routes", 0},
		{"routes:", "must be a map, not null", 0},
		{"routes: 3", "must be a map, not a number", 0},
		{"routes: {a: 3, b: {tool: Bash, pattern: x, message: m}}", "must be a map, not a number", 1},
		{"routes: {a: {pattern: x, message: m}}", `"tool" is missing`, 0},
		{"routes: {a: {tool: Bash, message: m}}", `"pattern" is missing`, 0},
		{"routes: {a: {tool: Bash, pattern: '', message: m}}", "matches everything", 0},
		{"routes: {a: {tool: Bash, pattern: x}}", `"message" is missing`, 0},
		{"routes: {a: {tool: mcp__x, pattern: x, message: m}}", "add field:", 0},
		{"routes: {a: {tool: Bash, pattern: '(x(?!y)|z)*a', message: m}}", "the pattern of route \"a\" cannot be run: invalid or unsupported Perl syntax: `(?!`; RE2 has no lookahead", 0},
		{"routes: {a: {tool: Bash, pattern: '(x)\\1', message: m}}", "no backreferences", 0},
		{"routes: {a: {tool: Bash, pattern: '(?P<n>x)(?P=n)', message: m}}", "no backreferences", 0},
		{"routes: {a: {tool: Bash, pattern: '(?x)a', message: m}}", "does not know this group", 0},
		{"routes: {a: {tool: Bash, pattern: 'a{2000}', message: m}}", "at most 1000", 0},
		{"routes: {a: {tool: Bash, pattern: '(a', message: m}}", "check brackets", 0},
		{"routes: {a: {tool: Bash, pattern: '(?#x', message: m}}", "without end", 0},
		{"routes: {a: {tool: Bash, pattern: x, mesage: y, message: m}}", `unknown key "mesage"`, 1},
		{"routes: {a: {tool: Bash, pattern: x, message: m, tests: [{expect: deny}]}}", `unknown value "deny"`, 0},
		{"routes: {a: {tool: Bash, pattern: x, message: m, tests: [{expect: block, input: {tool_name: Bash, tool_input: []}}]}}", "no tool_input", 0},
		{"routes: {a: {tool: Bash, pattern: x, message: m}, a: {tool: Bash, pattern: y, message: m}}", `"a" is given twice`, 1},
		{"routes: [", "not valid YAML", 0},
	} {
		list, _, problems := routes.Parse("f", []byte(c.text), routes.Origin{Tool: harness.ToolWord})
		var told strings.Builder
		for _, p := range problems {
			told.WriteString(p.String() + "\n")
		}
		if !strings.Contains(told.String(), c.want) {
			t.Errorf("%s: got %q, want %q", c.text, told.String(), c.want)
		}
		if len(list) != c.left {
			t.Errorf("%s: %d routes are left, want %d", c.text, len(list), c.left)
		}
	}
}

// TestPythonPatterns tests that translated patterns match like Python's re.search.
func TestPythonPatterns(t *testing.T) {
	for _, c := range []struct{ pattern, text, no string }{
		{`(?P<n>a)b`, "xab", "b"}, {`end\Z`, "the end", "end\n"}, {`end$`, "end\n", "ends"}, {`a{,2}b`, "aab", "c"}, {`\u0041`, "A", "B"},
		{`\U00000041`, "A", "B"}, {`a(?#note)b`, "ab", "a#b"}, {`(?a)x`, "x", "y"}, {`[$]x`, "$x", "x"}, {`[]a]`, "]", "b"}, {`[^]a]`, "b", "]"},
		{`(?m)a$`, "a\nb", "ab"}, {`\$x`, "$x", "x"}, {`\/\-\_`, "/-_", "-"}, {`x{,y`, "x{,y", "x"},
	} {
		list := parse(t, "routes: {a: {tool: Bash, pattern: '"+c.pattern+"', message: m}}", routes.Origin{})
		if len(list) != 1 {
			continue
		}
		if len(decide(t, call("Bash", map[string]any{"command": c.text}), list)) != 1 {
			t.Errorf("%s does not match %q", c.pattern, c.text)
		}
		if len(decide(t, call("Bash", map[string]any{"command": c.no}), list)) != 0 {
			t.Errorf("%s matches %q", c.pattern, c.no)
		}
	}
}

func TestInlineTests(t *testing.T) {
	list := parse(t, strings.Replace(good, "message: Use a file.", `message: Use a file.
    tests:
      - {input: {tool_name: Bash, tool_input: {command: "git commit -m $(cat"}}, expect: allow}
      - {input: {tool_name: Bash, tool_input: {command: "git commit -m $(cat"}}, expect: block, contains: absent}
      - {input: {tool_name: Bash, tool_input: {command: "ls"}}, expect: block}
      - {input: {tool_name: bash, tool_input: {command: "git commit -m $(cat"}}, expect: block}`, 1), routes.Origin{})
	var problems []string
	for _, r := range routes.RunTests(list, harness.ToolWord) {
		problems = append(problems, r.Route+": "+r.Problem)
	}
	want := `github-pr: |github-pr: |git-commit-multiline: expected allow, got block|` +
		`git-commit-multiline: the message does not contain "absent"|git-commit-multiline: expected block, got allow|git-commit-multiline: `
	if got := strings.Join(problems, "|"); got != want {
		t.Errorf("got %s", got)
	}
}

func write(t *testing.T, text string, elem ...string) string {
	t.Helper()
	file := filepath.Join(elem...)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestFindAndLoad(t *testing.T) {
	dir := t.TempDir()
	route := func(name string) string {
		return "routes: {" + name + ": {tool: Bash, pattern: " + name + ", message: m}}"
	}
	project, plugins := filepath.Join(dir, "project"), filepath.Join(dir, "plugins [x]")
	write(t, route("project"), project, ".claude", "tool-routes.yaml")
	write(t, route("one"), plugins, "one", "hooks", "tool-routes.yaml")
	write(t, `{"routes": ["./hooks/more.yaml", "../two/hooks/tool-routes.yaml", "hooks/link.yaml", "hooks/absent.yaml", "hooks/list.json", "hooks"]}`,
		plugins, "one", ".claude-plugin", "routes.json")
	write(t, route("more"), plugins, "one", "hooks", "more.yaml")
	write(t, `{"routes": ["more.yaml"]}`, plugins, "one", "hooks", "list.json")
	secret := write(t, route("outside"), dir, "outside.yaml")
	if err := os.Symlink(secret, filepath.Join(plugins, "one", "hooks", "link.yaml")); err != nil {
		t.Skip(err)
	}
	write(t, route("two"), plugins, "two", "hooks", "tool-routes.yaml")
	write(t, `{"routes": {"json": {"tool": "Bash", "pattern": "json", "message": "m"}}}`, plugins, "two", ".claude-plugin", "routes.json")
	write(t, route("sibling"), plugins, "three", "hooks", "tool-routes.yaml")
	write(t, route("inner"), project, "plugin", "hooks", "tool-routes.yaml")
	if err := os.MkdirAll(filepath.Join(plugins, "odd", "hooks", "tool-routes.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}

	sources := routes.Find([]string{filepath.Join(plugins, "one"), filepath.Join(plugins, "one"), filepath.Join(project, "plugin"), filepath.Join(dir, "none")},
		project, filepath.Join(plugins, "two"))
	var found []string
	for _, s := range sources {
		rel, err := filepath.Rel(dir, s.File)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, filepath.ToSlash(rel)+" "+s.Scope.String())
	}
	want := `plugins [x]/odd/hooks/tool-routes.yaml user
plugins [x]/one/.claude-plugin/routes.json user
plugins [x]/one/hooks/tool-routes.yaml user
plugins [x]/three/hooks/tool-routes.yaml user
plugins [x]/two/.claude-plugin/routes.json user
plugins [x]/two/hooks/tool-routes.yaml user
project/.claude/tool-routes.yaml project
project/plugin/hooks/tool-routes.yaml project`
	if got := strings.Join(found, "\n"); got != want {
		t.Errorf("found\n%s", got)
	}

	list, problems := routes.Load(sources, nil, harness.ToolWord, document.Read, true)
	var names []string
	for _, r := range list {
		names = append(names, r.Name)
	}
	if got := strings.Join(names, " "); got != "more one sibling json two project inner" {
		t.Errorf("loaded %s", got)
	}
	var told []string
	for _, p := range problems {
		told = append(told, p.Text)
	}
	all := strings.Join(told, "\n")
	for _, want := range []string{
		`"../two/hooks/tool-routes.yaml" lies outside`,
		`"hooks/link.yaml" lies outside`,
		"absent.yaml",
		"cannot name further files",
		"no regular file",
	} {
		if !regexp.MustCompile(regexp.QuoteMeta(want)).MatchString(all) {
			t.Errorf("no problem says %q:\n%s", want, all)
		}
	}
	if len(problems) != 6 {
		t.Errorf("%d problems:\n%s", len(problems), all)
	}
	if got := routes.Find(nil, "", ""); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestDuplicatesAndNothingLoaded(t *testing.T) {
	dir := t.TempDir()
	text := "routes: {a: {tool: Bash, pattern: x, message: m}}"
	var sources []routes.Source
	for _, name := range []string{"1.yaml", "2.yaml"} {
		sources = append(sources, routes.Source{File: write(t, text, dir, name), Scope: cardea.ScopeUser, Root: dir})
	}
	list, problems := routes.Load(sources, nil, nil, document.Read, true)
	if len(list) != 2 || len(problems) != 1 || problems[0].Severity == diagnostic.LevelError || !strings.Contains(problems[0].String(), "both stay in force") {
		t.Errorf("%d routes, %v", len(list), problems)
	}
	broken := []routes.Source{{File: write(t, "routes:", dir, "3.yaml"), Root: dir}}
	list, problems = routes.Load(broken, nil, nil, document.Read, true)
	if len(list) != 0 || len(problems) != 2 || !strings.Contains(problems[1].Text, "no routes were loaded although there are files of routes (1)") {
		t.Errorf("%d routes, %v", len(list), problems)
	}
	if !diagnostic.HasError(problems) {
		t.Error("a file without routes is broken")
	}
	if list, problems := routes.Load(nil, nil, nil, document.Read, true); len(list)+len(problems) != 0 {
		t.Error("no files, nothing to say")
	}
}

func FuzzParseRoutes(f *testing.F) {
	f.Add([]byte(good), "git commit")
	f.Add([]byte(`{"routes": {"a": {"tool": "Bash", "pattern": "[^]a]{,3}$\\Z(?#x)\\u00e9", "message": "m"}}}`), "é")
	f.Add([]byte(`{"routes": ["a", null, 3]}`), "")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		list, _, problems := routes.Parse("f", data, routes.Origin{Tool: harness.ToolWord})
		for _, p := range problems {
			if p.Text == "" || p.Line < 1 {
				t.Errorf("a problem without text or place: %#v", p)
			}
		}
		routes.RunTests(list, harness.ToolWord)
		for _, r := range list {
			ev := call(r.Tool, map[string]any{r.Field: text})
			if _, err := routes.New([]routes.Route{r}).Decide(t.Context(), ev); err != nil {
				t.Errorf("a route without problems cannot be run: %v", err)
			}
		}
	})
}
