package permissionlist

import (
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
)

// translated returns the entries of a list in another language, with their effects
// and lines.
func translated(f Format, text string) (entries, problems []string) {
	from := &Origin{File: "f"}
	s := ReadFormat(f, from, []byte(text))
	for _, e := range s.Entries {
		entries = append(entries, e.Effect.String()+" "+e.Text+" "+e.Source())
	}
	for _, e := range s.Left {
		entries = append(entries, "left "+e.Effect.String()+" "+e.Text+" "+e.Source())
	}
	for _, p := range s.Problems {
		word := "error "
		if p.Severity != diagnostic.LevelError {
			word = "warning "
		}
		problems = append(problems, word+p.String())
	}
	return entries, problems
}

func TestCodexRules(t *testing.T) {
	entries, problems := translated(CodexRules, `# prefix_rule(pattern = ["no"], decision = "forbidden")
prefix_rule(
    pattern = ["git", ["push", "fetch"]],   # two
    decision = "prompt",
    justification = "Pushing \"needs\" approval",
    match = ["git push origin main"],
)
prefix_rule(pattern=["rm", "-rf"], decision='forbidden')
prefix_rule(pattern=["ls"])
prefix_rule(pattern=["cat"], decision="allow")
prefix_rule(pattern=["a b", "it's"], decision="forbidden",)
prefix_rule(pattern=["tar", "~/x y"], decision="forbidden")
host_executable(name = "git", paths = ["/usr/bin/git"])
prefix_rule(pattern=["x" + y], decision="forbidden")
prefix_rule(pattern=VALUE, decision="forbidden")
prefix_rule(pattern=[], decision="forbidden")
prefix_rule(pattern=["x"], decision="maybe")
prefix_rule(pattern=["x"], pattern=["y"], decision="forbidden")
prefix_rule(pattern=["x\n"], decision="forbidden")
prefix_rule(pattern=["python3", "-c", "print(1)\nprint(2)"], decision="allow")
prefix_rule(pattern=["bash", "-lc", r"a\d"])
prefix_rule(pattern=["echo", """a
b"""], decision = 'allow')
[prefix_rule(pattern=[p]) for p in PROGRAMS]
prefix_rule(pattern=["x"] + REST, decision="allow", justification="forbidden is another one")
prefix_rule(pattern=[p], decision="allow" if p == "ls" else "forbidden")
network_rule(host="example.com", protocol="https", decision="deny", justification="x")
network_rule(host="docs.example", protocol="https", decision="allow")
network_rule(host=HOST, protocol="https", decision="deny")
prefix_rule(`)
	want := []string{
		"ask Bash(git push:*) f:2",
		"ask Bash(git fetch:*) f:2",
		"deny Bash(rm -rf:*) f:8",
		`deny Bash('a b' 'it'\''s':*) f:11`,
		`deny Bash(tar '~/x y':*) f:12`,
		`deny Bash(tar ~/'x y':*) f:12`,
		"deny WebFetch(domain:example.com) f:27",
		"left allow Bash(ls:*) f:9",
		"left allow Bash(cat:*) f:10",
		"left allow prefix_rule f:20",
		"left allow prefix_rule f:21",
		"left allow prefix_rule f:22",
		"left allow prefix_rule f:24",
		"left allow prefix_rule f:25",
		"left allow WebFetch(domain:docs.example) f:28",
	}
	if !slices.Equal(entries, want) {
		t.Errorf("%q", entries)
	}
	if len(problems) != 9 || !strings.HasPrefix(problems[0], "warning f:14:1: the rule is not written in literals") {
		t.Errorf("%q", problems)
	}
	many := `prefix_rule(pattern=[` + strings.Repeat(`["a","b"],`, 12) + `], decision="forbidden")`
	if entries, problems := translated(CodexRules, many); len(entries) > 0 || len(problems) != 1 {
		t.Errorf("too many alternatives: %d, %q", len(entries), problems)
	}
}

func TestOpenCodeConfig(t *testing.T) {
	entries, problems := translated(OpenCodeConfig, `{ // comments are documented here
  "permission": {
    "*": "ask",
    "bash": {"*": "ask", "git status*": "allow", "rm *": "deny", "rm -i *": "allow", "git pu?h *": "ask"},
    "edit": "deny",
    "read": {"*.env": "deny", "secrets/*": "deny", "secrets/x.md": "allow"},
    "webfetch": "ask", "doom_loop": "ask"
  },
  "permissions": [{"action": "shell", "resource": "curl *", "effect": "deny"}, {"action": "subagent", "resource": "Explore", "effect": "deny"},
    {"action": "skill", "resource": "x", "effect": "ask"}, {"action": "webfetch", "resource": "https://x/*", "effect": "deny"}, {"action": "websearch", "resource": "*", "effect": "deny"}]
}`)
	want := []string{
		"deny Bash(rm *) f:4",
		"ask Bash(git pu*h *) f:4",
		"deny Edit f:5",
		"deny Read(*.env) f:6",
		"deny Read(secrets/**) f:6",
		"deny Bash(curl *) f:9",
		"deny Agent(Explore) f:9",
		"ask Skill(x) f:10",
		"deny WebFetch(domain:x) f:10",
		"deny WebSearch f:10",
		"left ask * f:3",
		"left ask Bash f:4",
		"left allow Bash(git status*) f:4",
		"left allow Bash(rm -i *) f:4",
		"left allow Read(secrets/x.md) f:6",
		"left ask WebFetch f:7",
		"left ask doom_loop f:7",
	}
	if !slices.Equal(entries, want) || len(problems) > 0 {
		t.Errorf("%q, %q", entries, problems)
	}
	// The last rule that matches wins.
	s := ReadFormat(OpenCodeConfig, &Origin{}, []byte(`{"permission":{"bash":{"rm *":"deny","rm -i *":"allow"},"read":{"secrets/*":"deny","secrets/x.md":"allow"},"edit":{"a":"deny","*":"allow"}}}`))
	if len(s.Entries) != 2 || len(s.Left) != 3 {
		t.Fatalf("%+v", s.Entries)
	}
	rm, secrets := &s.Entries[0], &s.Entries[1]
	if !rm.CommandIs("rm x") || rm.CommandIs("rm -i x") || !rm.Excepts() {
		t.Error("rm -i")
	}
	if !secrets.Touches(read("/w/secrets/y"), at) || secrets.Touches(read("/w/secrets/x.md"), at) {
		t.Error("secrets")
	}
	for _, broken := range []string{"{", "[]"} {
		if _, problems := translated(OpenCodeConfig, broken); len(problems) != 1 || !strings.HasPrefix(problems[0], "error ") {
			t.Errorf("%q: %q", broken, problems)
		}
	}
	for text, want := range map[string]string{
		`{"permission": "allow"}`:         "left allow * f:1",
		`{"permission": "deny"}`:          "deny * f:1",
		`{"permission": {"edit": "ask"}}`: "left ask Edit f:1",
		`{"permission": {"webfetch": {"https://a.example/*": "deny", "https://b/c": "ask"}}}`: "deny WebFetch(domain:a.example) f:1, left ask WebFetch(https://b/c) f:1",
		`{"permission": {"webfetch": {"https://a.example/x*": "deny"}}}`:                      "warning f:1:30: the rule for webfetch https://a.example/x* denies what no entry names",
		`{"permission": {"external_directory": "deny", "list": {"x": "deny"}}}`:               "deny Read(x) f:1, warning f:1:17: the rule for external_directory denies what no entry names",
		`{"permission": {"external_directory": {"~/x/**": "allow"}, "lsp": "allow"}}`:         "left allow external_directory(~/x/**) f:1, left allow lsp f:1",
		`{"agent": {"plan": {"permission": {"edit": "deny", "bash": {"rm *": "deny"}}}}}`:     "left deny Edit f:1, left deny Bash(rm *) f:1",
		`{"mode": {"build": {"permission": "deny"}}}`:                                         "left deny * f:1",
		`{"permission": {"bash": {"git push *": "ask", "*": "allow"}}}`:                       "left allow Bash f:1",
	} {
		entries, problems := translated(OpenCodeConfig, text)
		got := strings.Join(append(entries, problems...), ", ")
		if got, _, _ = strings.Cut(got, ", so it counts"); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if got := folderPattern("a/*.ts"); got != "a/**/*.ts" {
		t.Error(got)
	}
}

func TestGeminiPolicy(t *testing.T) {
	entries, problems := translated(GeminiPolicy, `# policy
[[rule]]
toolName = "run_shell_command"
commandPrefix = ["rm -rf", # first
  'sudo']
decision = "deny"
priority = 500
denyMessage = "Blocked by policy"
modes = ["default", "yolo"]

[[rule]]
toolName = ["write_file", "mcp_x_y"]
decision = "deny"
[[rule]]
commandPrefix = "rm -rf build"
decision = "allow"
priority = 900
[[rule]]
toolName = "run_shell_command"
commandRegex = "x"
decision = "deny"
[[rule]]
toolName = "run_shell_command"
decision = "ask_user"
[[rule]]
commandPrefix = "git push"
decision = "ask_user"
interactive = true
toolOptions = {a = 1}
[other]
decision = "deny"
broken
x = """a"""
y = "open
`)
	want := []string{
		"deny Bash(rm -rf:*) f:2",
		"deny Bash(sudo:*) f:2",
		"deny Write f:11",
		"ask Bash(git push:*) f:25",
		"left allow Bash(rm -rf build:*) f:14",
		"left ask Bash f:22",
	}
	if !slices.Equal(entries, want) {
		t.Errorf("%q", entries)
	}
	if len(problems) != 5 || !strings.HasPrefix(problems[0], "warning f:32:1") {
		t.Errorf("%q", problems)
	}
	s := ReadFormat(GeminiPolicy, &Origin{}, []byte("[[rule]]\ncommandPrefix=\"rm\"\ndecision=\"deny\"\n[[rule]]\ncommandPrefix=\"rm x\"\ndecision=\"allow\"\npriority=1"))
	if len(s.Entries) != 1 || !s.Entries[0].CommandIs("rm y") || s.Entries[0].CommandIs("rm x z") {
		t.Errorf("priority: %+v", s.Entries)
	}
	if v, ok := tomlValues(`["a", 'b', 5, true] # x`); !ok || !slices.Equal(v, []string{"a", "b", "5", "true"}) {
		t.Errorf("%q", v)
	}
}

func TestAmpSettings(t *testing.T) {
	entries, problems := translated(AmpSettings, `{"amp.permissions": [
{"tool": "Bash", "matches": {"cmd": ["git push --dry-run*"]}, "action": "allow"},
{"tool": "Bash", "matches": {"cmd": ["git push*", "npm publish*"]}, "action": "reject"},
{"tool": "shell_command", "matches": {"command": "curl *"}, "action": "ask"},
{"tool": "Bash", "matches": {"cmd": "/rm .*/"}, "action": "reject"},
{"tool": "Read", "matches": {"path": "x"}, "action": "reject"},
{"tool": "Bash", "matches": {"cmd": "/x/"}, "action": "allow"},
{"tool": "mcp__x__y", "action": "reject"},
{"tool": "Bash", "action": "ask"}]}`)
	want := []string{
		"deny Bash(git push*) f:3",
		"deny Bash(npm publish*) f:3",
		"ask Bash(curl *) f:4",
		"deny mcp__x__y f:8",
		"left allow Bash(git push --dry-run*) f:2",
		"left ask Bash f:9",
	}
	if !slices.Equal(entries, want) || len(problems) != 2 {
		t.Errorf("%q, %q", entries, problems)
	}
	s := ReadFormat(
		AmpSettings,
		&Origin{},
		[]byte(`{"amp.permissions": [{"tool": "Bash", "matches": {"cmd": "a b*"}, "action": "allow"}, {"tool": "Bash", "matches": {"cmd": "a*"}, "action": "reject"}]}`),
	)
	if e := &s.Entries[0]; !e.CommandIs("a c") || e.CommandIs("a b c") {
		t.Error("the first rule wins")
	}
	if _, p := translated(AmpSettings, "x"); len(p) != 1 {
		t.Error(p)
	}
}

func TestAugmentSettings(t *testing.T) {
	entries, problems := translated(AugmentSettings, `{"toolPermissions": [
{"toolName": "launch-process", "shellInputRegex": "^rm", "permission": {"type": "deny"}},
{"toolName": "launch-process", "shellInputRegex": "^ls", "permission": {"type": "allow"}},
{"toolName": "save-file", "permission": {"type": "deny"}},
{"toolName": "view", "permission": {"type": "allow"}},
{"toolName": "view", "permission": {"type": "deny"}},
{"toolName": "str-replace-editor", "permission": {"type": "ask-user"}},
{"toolName": "mcp:x", "permission": {"type": "deny"}}]}`)
	if want := []string{"deny Write f:4"}; !slices.Equal(entries[:1], want) || len(problems) != 1 {
		t.Errorf("%q, %q", entries, problems)
	}
	if _, p := translated(AugmentSettings, ""); len(p) != 1 {
		t.Error(p)
	}
}

// Nothing that is sent can make a reader of lists fail, or allow.
func FuzzLists(f *testing.F) {
	for _, s := range []string{`{"permissions":{"allow":["Bash(a:*)"]}}`, `prefix_rule(pattern=["a"],decision="forbidden")`, "[[rule]]\ndecision=\"deny\"", `{"permission":{"bash":{"*":"deny"}}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, format := range []Format{ClaudeSettings, CodexRules, OpenCodeConfig, GeminiPolicy, AmpSettings, AugmentSettings} {
			for _, e := range ReadFormat(format, &Origin{}, data).Entries {
				if e.Effect == cardea.Allow && format != ClaudeSettings {
					t.Errorf("format %d allows %q", format, e.Text)
				}
				_, _, _ = e.Line(), e.Doubts(), e.CommandIs("a b")
				e.Touches(&cardea.Access{Kind: cardea.Read, Path: "/w/a", Recursive: true}, at)
			}
		}
	})
}
