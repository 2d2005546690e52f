package policy

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/decide/policy/rego"
	"cardea.dev/internal/harness"
)

// The worked examples have no mistakes, and their tests pass.
func TestExamples(t *testing.T) {
	s, found := Folder{Dir: "../../../examples/policies"}.Sources()
	s.Tool, s.Engine = harness.ToolWord, rego.Engine{}
	for _, f := range append(found, validated(t, s)...) {
		t.Errorf("%+v", f)
	}
	tested, broken, err := s.Test(context.Background(), rego.Engine{}, "")
	if len(tested.Coverage) != 8 || len(tested.Results) < 16 || len(broken) > 0 || err != nil {
		t.Errorf("%d files, %d tests, %v, %v", len(tested.Coverage), len(tested.Results), broken, err)
	}
	for _, r := range tested.Results {
		if !r.Pass {
			t.Errorf("%s.%s fails at %s:%d: %s", r.Package, r.Name, r.File, r.Failed, r.Error)
		}
	}
}

func validated(t *testing.T, s Sources) []diagnostic.Diagnostic {
	t.Helper()
	s.Engine = rego.Engine{}
	found, err := s.Validate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Every check of Validate finds its mistake and its position.
func TestValidate(t *testing.T) {
	head := "# METADATA\n# scope: package\n# custom:\n#   routing:\n"
	for check, tt := range map[string]struct {
		text string
		line int
	}{
		"parse":       {"package cardea.policies.x\n\ndeny contains", 3},
		"no-metadata": {"package cardea.policies.x\n\nimport rego.v1\n\ndeny contains {\"rule_id\": \"a\", \"reason\": \"b\"}\n", 1},
		"metadata": {
			head + events("[Stop]") + "package cardea.policies.x\n\n# METADATA\n# custom: {routing: {required_events: [PreToolUse]}}\ndeny contains {\"rule_id\": \"a\", \"reason\": \"b\"}\n",
			8,
		},
		"no-events":       {head + tools("[Bash]") + "package cardea.policies.x\n\ndeny contains {\"rule_id\": \"a\", \"reason\": \"b\"}\n", 6},
		"no-verb":         {head + events("[Stop]") + "package cardea.policies.x\n\nx := 1\n", 6},
		"library-verb":    {"package lib.x\n\ndeny contains {\"rule_id\": \"a\", \"reason\": \"b\"}\n", 1},
		"library-routing": {head + events("[Stop]") + "package lib.x\n\nhalt contains {\"rule_id\": \"a\", \"reason\": \"b\"}\n", 6},
		"event":           {head + events("[preToolUse]") + "package cardea.policies.x\n\ndeny contains {\"rule_id\": \"a\", \"reason\": \"b\"}\n", 6},
		"tool":            {head + events("[Stop]") + tools("[Bash]") + "package cardea.policies.x\n\nhalt contains {\"rule_id\": \"a\", \"reason\": \"b\"}\n", 7},
		"verb":            {head + events("[Stop]") + "package cardea.policies.x\n\nmodify contains {\"rule_id\": \"a\", \"updated_input\": {\"b\": 1}}\n", 6},
		"signal":          {head + events("[Stop]") + "#     required_signals: [nosuch]\npackage cardea.policies.x\n\nhalt contains {\"rule_id\": \"a\", \"reason\": \"b\"}\n", 7},
		"no-set":          {head + events("[Stop]") + "package cardea.policies.x\n\nhalt := true\n", 8},
		"decision":        {head + events("[Stop]") + "package cardea.policies.x\n\nhalt contains d if {\n\td := {\"rule_id\": \"a\", \"reason\": \"b\", \"severity\": \"BAD\"}\n}\n", 9},
		"negation":        {head + events("[Stop]") + "package cardea.policies.x\n\nhalt contains {\"rule_id\": \"a\", \"reason\": \"b\"} if {\n\tnot input.tool_input.x\n}\n", 9},
		"field":           {head + events("[Stop]") + "package cardea.policies.x\n\nhalt contains {\"rule_id\": \"a\", \"reason\": \"b\"} if input.params.x\n", 8},
		"package":         {head + events("[Stop]") + "package cardea.policies.x\n\nimport data.cardea.nosuch\n\nhalt contains {\"rule_id\": \"a\", \"reason\": \"b\"} if nosuch.y\n", 6},
		"compile":         {head + events("[Stop]") + "package cardea.policies.x\n\nhalt contains {\"rule_id\": \"a\", \"reason\": \"b\"} if time.now_ns() > 1\n", 8},
		"system-package":  {"package cupcake.system\n", 1},
	} {
		s := Sources{Paths: []string{"x.rego"}, Texts: map[string]string{"x.rego": tt.text}, Tool: harness.ToolWord, Signals: func(string) bool { return false }}
		got := validated(t, s)
		hit := false
		for _, f := range got {
			hit = hit || string(f.Code) == check && f.Line == tt.line && f.Text != "" && f.Column > 0
		}
		if !hit {
			t.Errorf("%s at line %d is not found: %+v", check, tt.line, got)
		}
	}
	good := Sources{Paths: []string{"x.rego"}, Texts: map[string]string{"x.rego": routed("x", events("[PreToolUse]")+tools("[bash, mcp__x]"))}, Tool: harness.ToolWord}
	if got := validated(t, good); len(got) > 0 {
		t.Errorf("a good one: %+v", got)
	}
	lost := Sources{Paths: []string{"x.rego"}, Tool: harness.ToolWord, Texts: map[string]string{
		"x.rego": strings.Replace(routed("x", events("[Notification]")), "deny contains {\"rule_id\": \"x\", \"reason\": \"no\"}", "add_context contains \"x\"", 1)}}
	if got := validated(t, lost); len(got) != 1 || got[0].Severity != diagnostic.LevelWarning || !strings.Contains(got[0].Text, "add_context means nothing on Notification, but in Copilot CLI") {
		t.Errorf("a context on a notification: %+v", got)
	}
	two := Sources{Paths: []string{"a.rego", "b.rego"}, Tool: harness.ToolWord,
		Texts: map[string]string{"a.rego": routed("x", events("[PreToolUse]")), "b.rego": routed("x", events("[Stop]"))}}
	if got := validated(t, two); len(got) != 1 || got[0].Code != "routing" {
		t.Errorf("two files of a package: %+v", got)
	}
}

// Ignored and empty files give notes, not mistakes.
func TestNotes(t *testing.T) {
	p := newPlace(t, map[string]string{".hidden.rego": "x", ".hid/deep/x.rego": "x", ".hid/readme": "x", "X.REGO": "x", "empty.rego": "# later\n",
		"notes.txt": "x", "x.rego": routed("x", events("[PreToolUse]")), "x_test.rego": ""})
	s, found := p.folder.Sources()
	s.Tool = harness.ToolWord
	var got []string
	for _, f := range append(found, validated(t, s)...) {
		name, _ := filepath.Rel(p.dir, f.File)
		got = append(got, f.Severity.String()+" "+string(f.Code)+" "+filepath.ToSlash(name))
	}
	want := []string{
		"note ignored .hid/deep/x.rego",
		"note ignored .hidden.rego",
		"note ignored X.REGO",
		"note empty empty.rego",
		"note empty x_test.rego",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if len(s.Paths) != 3 {
		t.Errorf("%q are read", s.Paths)
	}
}

// The table of verbs matches what the gate does on each event.
func TestVerbs(t *testing.T) {
	for _, k := range Events() {
		for _, verb := range []string{"halt", "deny", "block", "ask", "modify", "allow_override", "add_context"} {
			u := Use(k, verb, "")
			if u.Becomes == "" {
				t.Errorf("%s on %s: nothing is said", verb, k)
			}
			if permits := verb == "modify" || verb == "allow_override"; permits && u.Valid != k.Answered() {
				t.Errorf("%s on %s: %+v", verb, k, u)
			}
		}
	}
	if Use("Stop", "allow", "").Valid {
		t.Error("a verb that there is not")
	}
	if Use("Notification", "add_context", "claude-code").Valid || !Use("Notification", "add_context", "copilot-cli").Valid {
		t.Error("Claude Code tells its model nothing of a notification, and Copilot CLI does")
	}
}
