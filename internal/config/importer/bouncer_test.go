package importer_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/lookaround"
	"cardea.dev/internal/config/importer"
	"cardea.dev/internal/decide/rules"
	"cardea.dev/internal/harness"
	"cardea.dev/internal/harness/call"
	"cardea.dev/internal/testing/sharedtest"
)

// original is a default rule of Bouncer.
type original struct{ group, id, tool, field, action, pattern string }

func originals(t *testing.T) (out []original) {
	for line := range strings.Lines(string(sharedtest.Read(t, "corpus", "bouncer-patterns.tsv"))) {
		c := strings.Split(strings.TrimSpace(line), "\t")
		if len(c) != 7 || c[0] == "group" {
			continue
		}
		pattern := strings.ReplaceAll(c[5], `\\`, `\`)
		if lookaround.Has(pattern) {
			var err error
			if pattern, err = lookaround.Remove(pattern, true); err != nil {
				t.Fatal(err)
			}
		}
		out = append(out, original{c[0], c[1], c[2], c[3], c[4], "(?i)" + pattern})
	}
	return out
}

// stored imports a configuration of Bouncer with its denials.
func stored(config string) importer.Imported {
	return importer.Bouncer("c.json", []byte(config), importer.BouncerOptions{KeepDenials: true})
}

// toolOf returns Bouncer's name of a tool.
func toolOf(tool string) string {
	return map[string]string{"Bash": "bash", "PowerShell": "pwsh", "WebFetch": "web_fetch"}[tool] + map[string]string{"Read": "read", "Write": "write", "Edit": "edit"}[tool]
}

// TestClaims checks the claims of the import: the first matching default rule of Bouncer
// denies the call, and an example covers each such rule.
func TestClaims(t *testing.T) {
	list := originals(t)
	shown := map[string]bool{"secret-file-view": true} // it has the files of secret-file-read
	for _, c := range stored(`{}`).Calls {
		var input map[string]any
		if json.Unmarshal([]byte(c.Input), &input) != nil {
			t.Fatal(c.Input)
		}
		group, action := "defaultAction", "allow"
		for _, o := range list {
			if o.tool == toolOf(c.Tool) && regexp.MustCompile(o.pattern).MatchString(c.About) {
				group, action = "ruleGroups."+o.group, o.action
				shown[o.id] = true
				break
			}
		}
		if action != c.Said || action == "deny" && group != c.Group {
			t.Errorf("%s %s: %s by %s, and Bouncer: %s by %s", c.Tool, c.About, c.Said, c.Group, action, group)
		}
	}
	for _, o := range list {
		if o.action == "deny" && !shown[o.id] {
			t.Errorf("no example of %s", o.id)
		}
	}
}

// TestStoredDenials checks that texts generated from Bouncer's expressions are denied, also
// as parts of other texts.
func TestStoredDenials(t *testing.T) {
	d := decider(t, stored(`{}`))
	around := map[string][]string{
		"bash": {
			"%",
			"cd x && %",
			"(%) | tee log",
			"bash -c '%'",
			"if true; then %; fi",
		},
		"pwsh": {
			"%",
			"Get-Date; %",
			"if ($x) { % }",
			"% -Verbose",
			"cd x\n%",
		},
		"web_fetch": {"%", "%/x", "%:443/a", "https://example.org/?u=%", "%?q"},
		"write":     {"%", "a/%", "./%", "/home/user/p/%", "../%"},
	}
	// In the shell, type only describes a name; text after kubectl apply makes it another
	// command.
	text := regexp.MustCompile(`^type |^kubectl apply[#/]`)
	for _, o := range originals(t) {
		if o.action != "deny" {
			continue
		}
		tree, err := syntax.Parse(o.pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		tool, field := "Bash", "command"
		switch o.tool {
		case "pwsh":
			tool = "PowerShell"
		case "web_fetch":
			tool, field = "WebFetch", "url"
		case "write", "edit", "read", "view":
			field, around[o.tool] = "file_path", around["write"]
			tool = map[string]string{"write": "Write", "edit": "Edit", "read": "Read", "view": "Read"}[o.tool]
		}
		re, r := regexp.MustCompile(o.pattern), rand.New(rand.NewPCG(1, 2))
		seen := map[string]bool{}
		for range 40 {
			inner := made(r, tree)
			for _, form := range around[o.tool] {
				line := strings.ReplaceAll(form, "%", inner)
				if strings.HasPrefix(form, "bash") && strings.Contains(inner, "'") || o.id == "db-drop-truncate" {
					line = strings.ReplaceAll(form, "%", `psql -c "`+inner+` a"`)
				}
				if seen[line] || !re.MatchString(line) || text.MatchString(inner) {
					continue
				}
				seen[line] = true
				if got := effect(t, d, tool, map[string]any{field: line, "content": "x", "old_string": "x", "new_string": "y"}); got != cardea.Deny {
					t.Errorf("%s: %s %q: %s", o.id, tool, line, got)
				}
			}
		}
		if len(seen) < 5 {
			t.Errorf("%s: only %q", o.id, slices.Sorted(maps.Keys(seen)))
		}
	}
}

// made returns a text that matches an expression.
func made(r *rand.Rand, e *syntax.Regexp) string {
	switch e.Op {
	case syntax.OpLiteral:
		return strings.ToLower(string(e.Rune))
	case syntax.OpCharClass:
		for _, c := range "x /c\\" {
			for i := 0; i+1 < len(e.Rune); i += 2 {
				if e.Rune[i] <= c && c <= e.Rune[i+1] {
					return string(c)
				}
			}
		}
		return string(e.Rune[0])
	case syntax.OpConcat, syntax.OpCapture:
		var b strings.Builder
		for _, sub := range e.Sub {
			b.WriteString(made(r, sub))
		}
		return b.String()
	case syntax.OpAlternate:
		return made(r, e.Sub[r.IntN(len(e.Sub))])
	case syntax.OpStar:
		if e.Sub[0].Op == syntax.OpAnyCharNotNL {
			return []string{" x", " -q x", " a b ", " "}[r.IntN(4)]
		}
	case syntax.OpQuest:
		if r.IntN(2) == 0 {
			return made(r, e.Sub[0])
		}
	case syntax.OpPlus:
		return made(r, e.Sub[0])
	}
	return ""
}

// TestOwnRules runs the examples of the written rules.
func TestOwnRules(t *testing.T) {
	list, problems := rules.Parse("f.yaml", []byte(rulesOf(stored(`{}`))), rules.Origin{Scope: cardea.ScopeUser, Tool: harness.ToolWord})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	results := rules.RunTests(list, rules.Stand{Options: rules.Options{Home: "/home/user"}, Project: "/home/user/project", Harness: "claude-code"},
		func(ev *cardea.Event) *cardea.Event { return call.Analyse(ev, knowledge.System{Home: "/home/user"}) })
	for _, r := range results {
		if r.Problem != "" {
			t.Errorf("%s: %s: %s %s", r.Rule, r.Test.Input, r.Got, r.Problem)
		}
	}
	if len(results) < 100 {
		t.Errorf("%d examples", len(results))
	}
}

// TestWhatBouncerSays checks Bouncer's answers with disabled groups, custom rules in order
// and defaultAction. A disabled group writes no rule.
func TestWhatBouncerSays(t *testing.T) {
	const custom = `"customRules": [{"name": "a", "toolMatch": "bash", "pattern": "force-with-lease$", "action": "allow"}, {"name": "b", "toolMatch": "bash", "pattern": "push", "action": "deny"}]`
	for _, tt := range []struct {
		config, about, said, group string
		rule                       bool
	}{
		{`{}`, "git push --force", "deny", "ruleGroups.git", true},
		{`{"ruleGroups": {"git": false}}`, "git push --force", "allow", "defaultAction", false},
		{`{"ruleGroups": {"git": {"enabled": false}}, "defaultAction": "deny"}`, "git push --force", "deny", "defaultAction", true},
		{`{"ruleGroups": {"git": false}, ` + custom + `}`, "git push --force", "deny", `customRules[1] "b"`, false},
		{`{"ruleGroups": {"git": false}, ` + custom + `}`, "git push origin main --force-with-lease", "allow", `customRules[0] "a"`, false},
		{`{` + custom + `}`, "git push origin main --force-with-lease", "deny", "ruleGroups.git", true},
		{`{"ruleGroups": {"builtins": false}}`, "ca.pem", "allow", "defaultAction", true},
		{`{"ruleGroups": {"web": false, "bash": false}}`, "http://hastebin.com/x", "allow", "defaultAction", true},
		{`{"defaultAction": "deny"}`, "grep -r TODO src", "deny", "defaultAction", true},
		{`{"defaultAction": "deny"}`, "git status", "allow", "defaultAction", true},
		{`{"defaultAction": "deny", "ruleGroups": {"git": false}}`, "git status", "deny", "defaultAction", true},
		{`{}`, "npm test", "allow", "defaultAction", true},
	} {
		got := stored(tt.config)
		i := slices.IndexFunc(got.Calls, func(c importer.TrialCall) bool { return c.About == tt.about })
		if i < 0 || got.Calls[i].Said != tt.said || tt.said == "deny" && got.Calls[i].Group != tt.group {
			t.Errorf("%s: %s: %+v, want %s by %s", tt.config, tt.about, got.Calls[max(i, 0)], tt.said, tt.group)
		}
		if strings.Contains(rulesOf(got), "- id: bouncer/git-force-push\n") != tt.rule {
			t.Errorf("%s: the rules are\n%s", tt.config, rulesOf(got))
		}
	}
	if without := importer.Bouncer("c.json", []byte(`{}`), importer.BouncerOptions{}); rulesOf(without) != "" {
		t.Error("rules are written without the option")
	}
}
