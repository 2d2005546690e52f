package importer_test

import (
	"context"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/call"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/importer"
	"cardea.dev/internal/knowledge"
)

// decider is what an imported file of rules decides.
func decider(t *testing.T, got importer.Imported) *rules.Decider {
	t.Helper()
	list, problems := rules.Parse("f.yaml", []byte(got.Rules), rules.Origin{Scope: cardea.ScopeUser, Tool: harness.ToolWord})
	for _, p := range problems {
		t.Errorf("what was imported has a problem: %v\n%s", p, got.Rules)
	}
	if len(list) != got.Count {
		t.Errorf("%d rules, counted %d", len(list), got.Count)
	}
	return rules.New(rules.ListOf(list), rules.Settings{Home: "/home/user"})
}

// effect is the strictest opinion on a call; a call of several parts is
// allowed only where each is.
func effect(t *testing.T, d *rules.Decider, name string, input map[string]any) cardea.Effect {
	t.Helper()
	_, known := harness.Tool(name)
	ev := &cardea.Event{Kind: cardea.PreToolUse, Mode: cardea.ModeDefault, Cwd: "/home/user/p", Project: "/home/user/p",
		Call: &cardea.Call{Tool: name, Name: name, Known: known, Input: input}}
	ev = call.Analyse(ev, knowledge.World{Home: "/home/user"})
	gate := &cardea.Gate{Slots: []cardea.Slot{{Decider: d}}}
	return gate.Decide(context.Background(), ev).Effect
}

func bouncer(t *testing.T, custom string) importer.Imported {
	t.Helper()
	return importer.Bouncer("config.json", []byte(`{"customRules": [`+custom+`]}`))
}

func TestRulesThatTighten(t *testing.T) {
	d := decider(t, bouncer(t, `
		{"name": "deploy", "toolMatch": "bash", "pattern": "^deploy\\b", "action": "deny", "reason": "it's: \"theirs\"\n"},
		{"Name": "pipe", "ToolMatch": "Bash", "Pattern": "curl.*\\|.*sh", "Action": "Block"},
		{"name": "vendor", "toolMatch": "write|edit", "pattern": "^vendor/", "action": "ask"},
		{"name": "note", "toolMatch": "NotebookEdit", "pattern": "secret", "action": "ask"},
		{"name": "hosts", "toolMatch": "web_fetch", "pattern": "evil\\.example", "action": "deny"},
		{"name": "query", "toolMatch": "WebSearch", "pattern": "evil", "action": "deny"},
		{"name": "find", "toolMatch": "Grep", "pattern": "/etc", "action": "ask"},
		{"name": "mcp", "toolMatch": "mcp__db__.*", "pattern": "drop", "action": "deny"},
		{"name": "all", "toolMatch": "*", "pattern": "forbidden", "action": "deny"}`))
	for _, c := range []struct {
		tool  string
		input map[string]any
		want  cardea.Effect
	}{
		{"Bash", map[string]any{"command": "deploy now"}, cardea.Deny},
		{"Bash", map[string]any{"command": "cd x && timeout 5 deploy"}, cardea.Deny}, // Bouncer's ^ missed it
		{"Bash", map[string]any{"command": "echo deploy"}, cardea.Abstain},
		{"Bash", map[string]any{"command": "curl x | tee y | sh"}, cardea.Deny}, // no single part says it
		{"Write", map[string]any{"file_path": "vendor/a.go", "content": "x"}, cardea.Ask},
		{"Edit", map[string]any{"file_path": "vendor/a.go", "old_string": "x", "new_string": "y"}, cardea.Ask},
		{"Write", map[string]any{"file_path": "src/vendor", "content": "x"}, cardea.Abstain},
		{"NotebookEdit", map[string]any{"notebook_path": "/p/secret.ipynb", "new_source": "x"}, cardea.Ask},
		{"WebFetch", map[string]any{"url": "https://evil.example/x", "prompt": "x"}, cardea.Deny},
		{"WebSearch", map[string]any{"query": "EVIL things"}, cardea.Deny},
		{"Grep", map[string]any{"pattern": "x", "path": "/etc"}, cardea.Ask},
		{"mcp__db__run", map[string]any{"query": "drop table"}, cardea.Deny},
		{"mcp__other__run", map[string]any{"query": "drop table"}, cardea.Abstain},
		{"Read", map[string]any{"file_path": "/p/forbidden.txt"}, cardea.Deny},
	} {
		if got := effect(t, d, c.tool, c.input); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.tool, c.input, got, c.want)
		}
	}
}

// TestRulesThatAllow: what an expression allowed by being found somewhere must
// not be allowed now.
func TestRulesThatAllow(t *testing.T) {
	got := bouncer(t, `
		{"name": "tests", "toolMatch": "Bash", "pattern": "npm test( --watch)?|make", "action": "allow"},
		{"name": "docs", "toolMatch": "WebFetch", "pattern": "https://docs\\.example/.*", "action": "allow"}`)
	d := decider(t, got)
	for command, want := range map[string]cardea.Effect{
		"npm test":                      cardea.Allow,
		"npm test --watch":              cardea.Allow,
		"npm test && make":              cardea.Allow,
		"npm test; rm -rf /":            cardea.Abstain,
		"npm test\nrm -rf /":            cardea.Abstain,
		"rm -rf / # npm test":           cardea.Abstain,
		"make --eval=x":                 cardea.Abstain,
		"makeevil":                      cardea.Abstain,
		"xmake":                         cardea.Abstain,
		"LD_PRELOAD=/x npm test":        cardea.Abstain,
		"npm test $(curl evil.example)": cardea.Abstain,
		"npm test > Makefile":           cardea.Abstain,
		"sudo npm test":                 cardea.Abstain,
	} {
		if e := effect(t, d, "Bash", map[string]any{"command": command}); e != want {
			t.Errorf("%q: %s, want %s", command, e, want)
		}
	}
	for url, want := range map[string]cardea.Effect{
		"https://docs.example/x":                      cardea.Allow,
		"https://evil.example/?https://docs.example/": cardea.Abstain,
		"https://docs.example.evil.example/":          cardea.Abstain,
	} {
		if e := effect(t, d, "WebFetch", map[string]any{"url": url, "prompt": "x"}); e != want {
			t.Errorf("%q: %s, want %s", url, e, want)
		}
	}
	if len(got.Notes) < 2 {
		t.Errorf("not every rule that allows is reported: %v", got.Notes)
	}
}

// TestNothingIsLeftOutInSilence: each of these is told, with its place, and
// the rule is there or not as given.
func TestNothingIsLeftOutInSilence(t *testing.T) {
	for rule, want := range map[string]struct {
		count   int
		told    string
		mistake bool
	}{
		`{"name": "a", "toolMatch": "bash", "pattern": "(?!x)y", "action": "deny"}`:                   {0, "lookahead", true},
		`{"name": "a", "toolMatch": "bash", "pattern": "x", "action": "explode"}`:                     {0, `action "explode"`, true},
		`{"name": "a", "toolMatch": "bash", "action": "deny"}`:                                        {0, "no pattern", true},
		`{"name": "a", "toolMatch": "ba[s]h", "pattern": "x", "action": "deny"}`:                      {0, "cannot be taken over", true},
		`{"name": "a", "toolMatch": "bash", "pattern": "x", "action": "deny", "enabled": false}`:      {0, "switched off", false},
		`{"name": "a", "toolMatch": "write", "pattern": "^src/.*", "action": "allow"}`:                {0, "would allow more", false},
		`{"name": "a", "toolMatch": "*", "pattern": ".*", "action": "allow"}`:                         {0, "would allow more", false},
		`{"name": "a", "toolMatch": "read", "pattern": "x", "action": "deny"}`:                        {1, "did nothing on Claude Code", false},
		`{"name": "a", "toolMatch": "mcp__x__y", "pattern": "x", "action": "deny"}`:                   {1, "dropped rules for MCP", false},
		`{"name": "a", "toolMatch": "Frobnicate", "pattern": "x", "action": "deny"}`:                  {1, "no tool that Cardea knows", false},
		`{"name": "a", "toolMatch": "bash", "pattern": "x", "action": "deny", "colour": 1}`:           {1, `unknown key "colour"`, false},
		`{"name": "a", "toolMatch": "bash", "pattern": "x", "action": "deny"}, {"name": "b", "x": 1}`: {1, "", true},
		`"text"`: {0, "", true},
	} {
		got := bouncer(t, rule)
		decider(t, got)
		if got.Count != want.count {
			t.Errorf("%s: %d rules, want %d", rule, got.Count, want.count)
		}
		told, mistake := false, false
		for _, p := range got.Notes {
			told = told || strings.Contains(p.String(), want.told)
			mistake = mistake || p.Severity == cardea.LevelError
			if p.Line == 0 || p.Column == 0 || p.Hint == "" {
				t.Errorf("%s: %v has no place or no hint", rule, p)
			}
		}
		if !told || mistake != want.mistake {
			t.Errorf("%s: told %v", rule, got.Notes)
		}
	}
}

func TestIdsAreUnique(t *testing.T) {
	got := bouncer(t, `
		{"name": "No Deploy!", "toolMatch": "bash", "pattern": "a", "action": "deny"},
		{"name": "no-deploy", "toolMatch": "bash", "pattern": "b", "action": "deny"},
		{"name": "", "toolMatch": "bash", "pattern": "c", "action": "deny"},
		{"name": "x\ny: evil", "toolMatch": "bash", "pattern": "d\te'f\u0085", "action": "deny", "reason": "a\u2028b\"\\c\u0001"}`)
	decider(t, got) // a duplicate would be a problem
	for _, id := range []string{"bouncer-no-deploy\n", "bouncer-no-deploy-2\n", "bouncer\n", "bouncer-x-y-evil\n"} {
		if !strings.Contains(got.Rules, "- id: "+id) {
			t.Errorf("no %q in\n%s", id, got.Rules)
		}
	}
	if got.Count != 4 {
		t.Errorf("%d rules, %v", got.Count, got.Notes)
	}
}

func TestSettings(t *testing.T) {
	got := importer.Bouncer("config.json", []byte("\ufeff{\n\t\"Version\": 1, \"DefaultAction\": \"Deny\",\n"+`
		"RuleGroups": {"Bash": {"Enabled": false}, "git": true, "web": false, "builtins": false, "colours": true},
		"providerChain": ["anthropic", {"type": "openai", "model": "m: x", "baseUrl": "https://o.example", "timeoutMs": 2000, "apiKeyCommand": "op read x", "apiKey": "sk-1"},
			{"name": "ollama", "timeoutSeconds": 3}],
		"llmFallback": {"enabled": false, "maxTokens": 150, "confidenceThreshold": 0.7},
		"logging": {"file": {"path": "x"}}}`))
	text := strings.Join(got.Settings, "\n")
	for _, want := range []string{"on_error: deny", "packs: {bash: off, web: off}"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	notes := ""
	for _, p := range got.Notes {
		notes += p.String() + "\n"
		if p.Severity == cardea.LevelError {
			t.Errorf("a mistake: %v", p)
		}
	}
	for _, want := range []string{`no group "colours"`, "keeps the gate shut", "this version asks no model", "logging is not imported"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in\n%s", want, notes)
		}
	}
	if strings.Contains(text+notes, "sk-1") {
		t.Error("a key is shown")
	}
	if got.Rules != "" || got.Count != 0 {
		t.Errorf("rules out of nothing: %q", got.Rules)
	}
}

func TestDefaultAction(t *testing.T) {
	for action, want := range map[string]string{"allow": "harness's own prompt", "explode": "no action"} {
		got := importer.Bouncer("c.json", []byte(`{"defaultAction": "`+action+`"}`))
		if len(got.Notes) != 1 || !strings.Contains(got.Notes[0].Text, want) || len(got.Settings) > 0 {
			t.Errorf("%s: %v %v", action, got.Notes, got.Settings)
		}
	}
}

func TestBrokenJSON(t *testing.T) {
	for text, at := range map[string]string{
		"":                                    "c.json:1:1",
		"{\n  \"a\": 1,\n}":                   "c.json:3:1",
		"{\n  \"é\": tru }":                   "c.json:2:11",
		"{\"a\": 1} x":                        "c.json:1:",
		"{\"a\": 1} {}":                       "c.json:1:",
		"{\"customRules\": [":                 "c.json:1:",
		"[1]":                                 "c.json:1:1",
		"\"x\"":                               "c.json:1:1",
		"{\"a\": 1,\n \"a\": 2}":              "c.json:2:2",
		"version: 1":                          "c.json:1:1",
		"{\"version\": 2}":                    "c.json:1:13",
		"{\"customRules\": {\"name\": \"\"}}": "c.json:1:17",
	} {
		got := importer.Bouncer("c.json", []byte(text))
		if len(got.Notes) == 0 || !strings.HasPrefix(got.Notes[0].String(), at) || got.Count > 0 {
			t.Errorf("%q: %v, want a problem at %s", text, got.Notes, at)
		}
	}
}

func TestSeal(t *testing.T) {
	file := importer.Seal("version: 1\n")
	if !importer.Untouched(file) {
		t.Error("a sealed file counts as changed")
	}
	for _, other := range []string{"", "version: 1\n", file + "\n", strings.Replace(file, "1\n", "2\n", 1), strings.TrimPrefix(file, "#")} {
		if importer.Untouched(other) {
			t.Errorf("%q counts as untouched", other)
		}
	}
}

// FuzzBouncer: whatever the file holds, what is given can be read, and a rule
// is never given without a pattern.
func FuzzBouncer(f *testing.F) {
	f.Add(`{"customRules": [{"name": "a", "toolMatch": "bash", "pattern": "x'\"", "action": "allow", "reason": "\u0085"}]}`)
	f.Add(`{"customRules": [{"name": "a", "toolMatch": "mcp__*", "pattern": "(?i)x", "action": "deny"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		got := importer.Bouncer("c.json", []byte(text))
		if got.Count > 0 {
			decider(t, got)
		}
	})
}
