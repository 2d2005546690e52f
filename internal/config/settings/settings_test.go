package settings

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	_ "cardea.dev/internal/base/document/yamltext"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
)

func settings(t *testing.T, text string) File {
	t.Helper()
	f := Parse("cardea.yaml", cardea.ScopeUser, []byte(text))
	for _, p := range f.Problems {
		t.Errorf("problem: %s", p)
	}
	return f
}

func TestParseSettings(t *testing.T) {
	f := settings(t, `
version: 1
default: {attended: ask, unattended: deny}
on_error: deny
packs: {git: off, bash: on}
rules:
  off: [web-plain-http, secrets-*]
  effect: {git-clean: ask}
`)
	v := f.Values
	if v.Default.Attended != cardea.Ask || v.Default.Unattended != cardea.Deny || v.OnError != cardea.OnErrorDeny {
		t.Errorf("security values: %+v", v)
	}
	if !slices.Equal(f.Switches.Off, []string{"git", "web-plain-http", "secrets-*"}) || f.Switches.Effect["git-clean"] != cardea.Ask {
		t.Errorf("switches: %+v", f.Switches)
	}
}

func TestEmptySettingsAreSilent(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "{}"} {
		f := settings(t, text)
		if len(f.Given)+len(f.Switches.Off) != 0 || !reflect.DeepEqual(f.Values, Defaults()) {
			t.Errorf("%q: %+v", text, f)
		}
	}
}

// TestSettingsProblems checks that all errors are reported at once with their places, and
// that valid parts apply.
func TestSettingsProblems(t *testing.T) {
	f := Parse("/u/cardea.yaml", cardea.ScopeUser, []byte(`version: 2
on_eror: deny
default: {atended: ask, unattended: maybe}
packs: {git: of}
rules: {off: {a: b}, effect: {x: denny, y: deny}}
human: {mode: queues}
on_error: deny
`))
	text := ""
	for _, p := range f.Problems {
		text += p.String() + "\n"
	}
	for _, want := range []string{
		"/u/cardea.yaml:1:10:", "/u/cardea.yaml:2:1: unknown key \"on_eror\"; did you mean \"on_error\"?",
		"unknown key \"atended\"; did you mean \"attended\"?", "unknown value \"maybe\"", "unknown value \"of\"",
		"/u/cardea.yaml:6:15: unknown value \"queues\"", "unknown value \"denny\"", ":5:",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no problem says %q:\n%s", want, text)
		}
	}
	if f.Values.OnError != cardea.OnErrorDeny || f.Switches.Effect["y"] != cardea.Deny {
		t.Error("a broken key took others with it")
	}
	if !diagnostic.HasError(f.Problems) {
		t.Error("the file counts as whole")
	}
}

func TestMerge(t *testing.T) {
	strict := "default: {attended: deny, unattended: deny}\non_error: deny\nrules: {off: [p]}\n"
	lax := "default: {attended: allow, unattended: allow}\non_error: allow\nrules: {off: [p], effect: {x: allow}}\npacks: {git: off}\n"
	for _, c := range []struct {
		name, system, user, project string
		trusted                     bool
		effect                      cardea.Effect
		onError                     cardea.OnError
	}{
		{"nothing", "", "", "", true, cardea.Abstain, cardea.OnErrorDefer},
		{"user loosens", "", lax, "", true, cardea.Allow, cardea.OnErrorAllow},
		{"user tightens", "", strict, lax, true, cardea.Deny, cardea.OnErrorDeny},
		{"trusted project tightens", "", lax, strict, true, cardea.Deny, cardea.OnErrorDeny},
		{"trusted project cannot loosen the default", "", "", lax, true, cardea.Abstain, cardea.OnErrorDefer},
		{"untrusted project does not count", "", "", strict, false, cardea.Abstain, cardea.OnErrorDefer},
		{"untrusted project cannot loosen", "", strict, lax, false, cardea.Deny, cardea.OnErrorDeny},
		{"system loosens for all", lax, "", "", true, cardea.Allow, cardea.OnErrorAllow},
		{"user does not loosen what system wrote", strict, lax, "", true, cardea.Deny, cardea.OnErrorDeny},
		{"user tightens what system wrote", lax, strict, "", true, cardea.Deny, cardea.OnErrorDeny},
	} {
		got := Merge(scoped(t, cardea.ScopeSystem, c.system), counting(scoped(t, cardea.ScopeProject, c.project), c.trusted), settings(t, c.user))
		if got.Default.Attended != c.effect || got.Default.Unattended != c.effect || got.OnError != c.onError {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func scoped(t *testing.T, scope cardea.Scope, text string) File {
	t.Helper()
	f := Parse(scope.String()+".yaml", scope, []byte(text))
	for _, p := range f.Problems {
		t.Errorf("problem: %s", p)
	}
	return f
}

func counting(f File, counts bool) File {
	f.Counts = counts
	return f
}

// TestMergeOfEveryKind checks that keys merge as in docs/settings.md, for every scope.
func TestMergeOfEveryKind(t *testing.T) {
	for _, c := range []struct{ key, system, org, project, user, want string }{
		{"on_error", "", "deny", "allow", "allow", "deny"},
		{"on_error", "", "", "", "allow", "allow"},
		{"on_error", "", "", "allow", "", "defer"}, // a project does not loosen a default
		{"default.attended", "deny", "", "allow", "ask", "deny"},
		{"ledger.keep_days", "9", "8", "", "6", "6"}, // a preference: the nearest
		{"ledger.keep_days", "9", "8", "", "", "8"},
		{"permissions.expand", "", "", "true", "false", "false"},
		{"permissions.expand", "", "", "true", "", "true"},
		{"permissions.env", "", "", "known-safe", "any-but-dangerous", "known-safe"},
		{"org.name", "acme", "", "", "other", "acme"}, // the system's organisation cannot be left
		{"sensitive.ask_read", "[a]", "[b]", "[c]", "[d]", "[c, d, b, a]"},
		{"judge.enabled", "", "", "true", "", "false"}, // a project does not switch it on
		{"judge.enabled", "", "", "false", "true", "false"},
		{"judge.enabled", "false", "", "", "true", "false"},
		{"judge.enabled", "", "true", "", "", "true"},
		{"judge.allow_opaque", "false", "", "", "true", "false"},
		{"judge.chain", "[ollama]", "[openai]", "", "[anthropic]", "[{type: anthropic}]"}, // one whole chain, no mixture
		{"judge.chain", "[ollama]", "[openai]", "", "", "[{type: openai}]"},
		{"judge.budget.calls_per_day", "", "100", "0", "0", "100"},
		{"judge.budget.calls_per_day", "", "", "50", "100", "50"},
		{"judge.budget.calls_per_day", "", "", "500", "100", "100"},
		{"judge.budget.money_per_day", "", "0.5", "", "0", "0.5"},
		{"judge.budget.money_per_day", "2", "0.5", "0.25", "1", "0.25"},
		{
			"judge.prices",
			"{a: {in: 1, out: 1}}",
			"",
			"",
			"{a: {in: 2, out: 2}, b: {in: 0, out: 0.5}}",
			"{a: {in: 1, out: 1}, b: {in: 0, out: 0.5}}",
		},
		{"confidence.user", "", "0.8", "0.5", "0.2", "0.8"},
		{"confidence.user", "", "", "0.5", "", "0.6"},
		{"confidence.user", "", "", "0.95", "0.2", "0.95"},
		{
			"signals",
			"",
			"",
			"{s: {command: p}}",
			"{s: {command: u}}",
			"{s: {command: u, timeout_seconds: 5}}",
		},
		{
			"actions.on_ask",
			"[{command: a}]",
			"",
			"[{command: b}]",
			"",
			"[{command: b}, {command: a}]",
		},
		{
			"actions.violations",
			"{r: [{command: a}]}",
			"",
			"{r: [{command: b}]}",
			"",
			"{r: [{command: a}]}",
		},
	} {
		k, ok := lookup(c.key)
		if !ok {
			t.Fatalf("no key %s", c.key)
		}
		file := func(scope cardea.Scope, value string) File {
			if value == "" {
				return File{Scope: scope}
			}
			return scoped(t, scope, nested(c.key, value))
		}
		got := Merge(file(cardea.ScopeSystem, c.system), file(cardea.ScopeOrg, c.org), file(cardea.ScopeProject, c.project), file(cardea.ScopeUser, c.user))
		if text := k.Text(&got.Values); text != c.want {
			t.Errorf("%s of %q %q %q %q: %s, want %s", c.key, c.system, c.org, c.project, c.user, text, c.want)
		}
	}
}

// nested writes a dotted key as maps.
func nested(key, value string) string {
	words := strings.Split(key, ".")
	return strings.Join(words, ": {") + ": " + value + strings.Repeat("}", len(words)-1) + "\n"
}

// TestEverySecurityValueHasAnOrder checks that no security key lacks an order, which would
// make its merge arbitrary.
func TestEverySecurityValueHasAnOrder(t *testing.T) {
	for _, k := range Keys() {
		v := Defaults()
		if k.Security && (k.order == nil || k.order(k.At(&v), k.At(&v)) != 0) {
			t.Errorf("%s has no order", k.Name)
		}
		if k.About == "" || strings.ContainsAny(k.About, "\n") {
			t.Errorf("%s: %q", k.Name, k.About)
		}
	}
}

// TestOwnKeysOfAProject checks that a project cannot set keys about the user's machine.
func TestOwnKeysOfAProject(t *testing.T) {
	for _, k := range Keys() {
		v := Defaults()
		text := k.Text(&v)
		if k.Name == "ledger.dir" {
			text = "/tmp/x"
		}
		f := Parse("f", cardea.ScopeProject, []byte(nested(k.Name, text)))
		if _, gives := f.Gives(k.Name); gives == k.PersonOnly || (len(f.Problems) > 0) != k.PersonOnly || diagnostic.HasError(f.Problems) {
			t.Errorf("%s: %v", k.Name, f.Problems)
		}
	}
}

// TestDefaultsAreReadBack checks that the default of every key is read as written.
func TestDefaultsAreReadBack(t *testing.T) {
	for _, k := range Keys() {
		v := Defaults()
		f := settings(t, nested(k.Name, k.Text(&v)))
		if got, want := k.Text(&f.Values), k.Text(&v); got != want || len(f.Given) != 1 {
			t.Errorf("%s: %s, want %s", k.Name, got, want)
		}
	}
}

func TestValuesAreReadBack(t *testing.T) {
	for key, value := range map[string]string{
		"from_env": "[permissions]", "sensitive.exempt": `["a/*", b]`,
		"judge.chain": `[{type: ollama}, {type: openai, model: "gpt-4.1", endpoint: "https://x.example/v1", api_key_command: [op, read, "op://a/b ` +
			`c"], timeout: 1.5s, max_tokens: 200}, {type: anthropic, api_key_command: "pass show x"}]`,
		"judge.prices": `{"m:1": {in: 0.15, out: 0.6}}`, "judge.budget.money_per_day": "0.25", "confidence.user": "0.125", "judge.context": `["docs/policy.md"]`,
		"ledger.keep_days": "7", "ledger.dir": `"/var/log/x"`, "org.name": "acme",
		"signals": `{"a.b": {command: "./x y", timeout_seconds: 9}}`, "actions.violations": `{rm: [{command: "true"}]}`,
	} {
		k, _ := lookup(key)
		f := settings(t, nested(key, value))
		if got := k.Text(&f.Values); got != value && got != strings.Replace(value, "1m30s", "1m30s", 1) {
			t.Errorf("%s: %s, want %s", key, got, value)
		}
	}
}

// TestValuesThatAreWrong checks that a value out of range, of the wrong type or unknown is
// a problem.
func TestValuesThatAreWrong(t *testing.T) {
	for _, text := range []string{
		"near: {jaccard: 2}",
		"near: {min_tokens: 0}",
		"sessions: {registration: must}",
		"sessions: {wait: 2m}",
		"sessions: {wait: 5}",
		"sessions: {required: true}",
		"learn: always",
		"learn: {auto: true}",
		"human: {mode: qeue}",
		"human: {timeout: 1h}",
		"human: {ntfy: 'http://ntfy.example/x'}",
		"human: {webhook: 'https://user@example'}",
		"confidence: {org: 1.1}",
		"confidence: {user: -1}",
		"confidence: {user: 1e-1}",
		"confidence: {user: often}",
		"confidence: 1",
		"judge: on",
		"judge: {enable: true}",
		"judge: {backend: socket}",
		"judge: {chain: anthropic}",
		"judge: {chain: [claude]}",
		"judge: {chain: [openai-compatible]}",
		"judge: {chain: [{model: x}]}",
		"judge: {chain: [{type: openai, api_key: sk-1}]}",
		"judge: {chain: [{type: openai, apiKeyCommand: x}]}",
		"judge: {chain: [{type: openai, endpoint: 'http://example.com'}]}",
		"judge: {chain: [{type: openai, endpoint: 'https://me:pw@host'}]}",
		"judge: {chain: [{type: openai, timeout: 1h}]}",
		"judge: {chain: [{type: openai, timeout: 0s}]}",
		"judge: {chain: [{type: openai, max_tokens: 0}]}",
		"judge: {budget: {calls_per_day: -1}}",
		"judge: {budget: {money_per_day: lots}}",
		"judge: {budget: {call_per_day: 1}}",
		"judge: {prices: {m: {in: 1}}}",
		"judge: {prices: {m: {in: 1, out: -2}}}",
		"judge: {context: [../../etc/passwd]}",
		"judge: {context: [/etc/passwd]}",
		"on_eror: deny",
		"defualt: {attended: ask}",
		"sensitve: {deny_read: [x]}",
		"permisions: {strict: true}",
		"default: {atended: ask}",
		"sensitive: {deny_reads: [x]}",
		"sensitive: {deny_read: ['{a,b}']}",
		"sensitive: {ask_read: ['!a']}",
		"sensitive: {ask_write: ['~bob/x']}",
		"policies: {protect: [x]}",
		"from_env: [path]",
		"from_env: [PATH]",
		"permissions: {env: all}",
		"permissions: []",
		"sensitive: {exempt: ['']}",
		"sensitive: {exempt: {a: b}}",
		"signals: {a: x}",
		"signals: {a: {}}",
		"signals: {a: {command: x, timeout_seconds: 0}}",
		"actions: {on_ask: x}",
		"actions: {on_ask: [x]}",
		"actions: {violations: {r: {command: x}}}",
		"ledger: {keep_days: 0}",
		"ledger: {dir: ../x}",
		"ledger: {levels: all}",
		"org: {name: ../../etc}",
		"org: {name: .hidden}",
		"org: {name: a/b}",
		"org: acme",
		"default: ask",
		"default: {attended: halt}",
		"version: 2",
	} {
		f := Parse("f", cardea.ScopeUser, []byte(text+"\n"))
		if !diagnostic.HasError(f.Problems) || f.Problems[0].Line != 1 || f.Problems[0].Hint == "" {
			t.Errorf("%s: %v", text, f.Problems)
		}
		if text != "version: 2" && len(f.Given) > 0 && f.Values.Signals["a"].Wrong == "" {
			t.Errorf("%s counts: %v", text, f.Given)
		}
	}
}

// TestWrongEntriesTakeNoOthersDown checks that valid entries of lists and maps apply
// although others are invalid, and that an invalid signal stores its error.
func TestWrongEntriesTakeNoOthersDown(t *testing.T) {
	f := Parse("f.yaml", cardea.ScopeUser, []byte(`signals:
  cat: {command: cat}
  zero: {command: "echo x", timeout_seconds: 0}
  none: {}
policies: {protected: ["a/", "", "b/"], checks: [{x: y}, make], context: [[]]}
actions:
  on_any_denial: [{command: a}, {comand: b}, c]
  violations: {one: [{command: a}], two: {command: b}}
from_env: [permissions, nothing]
`))
	v := f.Values
	if !diagnostic.HasError(f.Problems) || v.Signals["cat"] != (Signal{Command: "cat", TimeoutSeconds: 5}) ||
		!strings.HasPrefix(v.Signals["zero"].Wrong, `f.yaml:3:46: "timeout_seconds" is out of range`) || !strings.Contains(v.Signals["none"].Wrong, `"command" is missing`) {
		t.Errorf("%+v, %v", v.Signals, f.Problems)
	}
	if !slices.Equal(v.Policies.Protected, []string{"a/", "b/"}) || !slices.Equal(v.Policies.Checks, []string{"make"}) || v.Policies.Context != nil {
		t.Errorf("%+v", v.Policies)
	}
	if len(v.Actions.OnAnyDenial) != 1 || len(v.Actions.Violations) != 1 || v.Actions.Violations["one"][0].Command != "a" {
		t.Errorf("%+v", v.Actions)
	}
	if _, gives := f.Gives("from_env"); gives || len(v.FromEnv) > 0 {
		t.Errorf("what loosens counts although it cannot be read: %v", v.FromEnv)
	}
}

// TestEntriesWithoutEffect checks that entries without effect are reported, and that the
// file stays in force.
func TestEntriesWithoutEffect(t *testing.T) {
	for text, want := range map[string]string{
		`policies: {functions: [rand.intn]}`:                                            "f:1:23: policies.functions has no effect in your own settings",
		`actions: {on_halt: [{command: ""}]}`:                                           "f:1:31: an empty command does nothing",
		`signals: {a: {command: ""}}`:                                                   "an empty command does nothing",
		`actions: {on_halt: [{command: x, when: {effects: [dney, ask]}}]}`:              `f:1:51: there is no effect after which actions run "dney", so nothing runs for it; write "deny"`,
		`actions: {on_halt: [{command: x, when: {effects: allow}}]}`:                    `; use ask, deny, halt`,
		`actions: {on_halt: [{command: x, when: {events: [PostToolUsed]}}]}`:            `there is no event "PostToolUsed", so nothing runs for it; write "PostToolUse"`,
		`actions: {on_halt: [{command: x, when: {events: ["Pre*"], effects: ["d*"]}}]}`: "",
	} {
		f := Parse("f", cardea.ScopeUser, []byte(text+"\n"))
		if want == "" && len(f.Problems) > 0 || want != "" && (len(f.Problems) != 1 || !strings.Contains(f.Problems[0].String(), want)) || diagnostic.HasError(f.Problems) {
			t.Errorf("%s: %v", text, f.Problems)
		}
	}
}

func TestEffective(t *testing.T) {
	user, project := settings(t, "on_error: deny\nrules: {off: [x]}\nledger: {keep_days: 3}\n"), scoped(t, cardea.ScopeProject, "default: {attended: ask}\n")
	s := Merge(project, user)
	var lines []string
	for _, e := range s.Effective() {
		lines = append(lines, fmt.Sprint(e.Key, "=", e.Value, " ", e.Source, " ", e.Scope))
	}
	want := []string{"default.attended=ask project.yaml:1 project", "default.unattended=abstain default ", "judge.enabled=false default ", "learn=suggest default ",
		"on_error=deny cardea.yaml:1 user", "sessions.registration=optional default ", `ledger.keep_days=3 cardea.yaml:3 user`, "rules.off=x cardea.yaml:2 user"}
	if !slices.Equal(lines, want) {
		t.Errorf("got  %q\nwant %q", lines, want)
	}
}
