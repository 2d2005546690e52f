package rego

import (
	"context"
	"strings"
	"testing"

	"cardea.dev/internal/decide/policy/engine"
)

// A field that no event has is reported at its position, and no other one.
func TestFields(t *testing.T) {
	shape := engine.Shape{
		Files: []string{"p.rego"},
		Input: map[string]any{"tool_name": nil, "prompt": nil, "raw": map[string]any{}, "cardea": map[string]any{
			"role": nil, "parts": []any{map[string]any{"command": []any{}, "options": []any{map[string]any{"name": nil}}}}}},
		Tools: map[string]any{"Bash": map[string]any{"command": nil, "-i": nil}, "Edit": map[string]any{"file_path": nil}},
	}
	for _, tt := range []struct {
		body, want string
		tools      []string
	}{
		{`input.tool_input.comand == "x"`, `5:39: input.tool_input.comand is always undefined: no documented input of Bash has a field "comand"; did you mean "command"?`, []string{"Bash"}},
		{`input["tool_input"]["comand"] == "x"`, `did you mean "command"?`, []string{"Bash", "Edit"}},
		{`not input.tool_input.comand`, `did you mean "command"?`, []string{"Bash"}},
		{`input.tool_input["-i"]; input.tool_input.command; input.tool_input[input.tool_name]`, "", []string{"Bash"}},
		{`input.tool_input.xyz == "x"`, `no documented input of Bash has a field "xyz"; there are -i, command`, []string{"Bash"}},
		{`input.tool_input.comand == "x"`, "", nil},
		{`input.tool_input.comand == "x"`, "", []string{"Bash", "mcp__github__run"}},
		{`input.tool_name == "Bash"; input.tool_input.comand`, `did you mean "command"?`, nil},
		{`input.tool_name in {"Bash", "Edit"}; input.tool_input.file`, `there are -i, command, file_path`, nil},
		{`"Edit" == input.tool_name; input.tool_input.command`, `no documented input of Edit`, []string{"Bash", "Edit"}},
		{`input.tool_name == "mcp__x__y"; input.tool_input.comand`, "", []string{"Bash"}},
		{`not input.tool_name == "Bash"; input.tool_input.comand`, "", nil},
		{`input.tool_name != "Bash"; input.tool_input.comand`, "", nil},
		{`some p in input.cardea.parts; some o in p.options; o.nam == "x"`, `5:75: o.nam is always undefined: no event has a field "nam"; did you mean "name"?`, []string{"Bash"}},
		{`input.cardea.part[_].command`, `input.cardea.part is always undefined: no event has a field "part"; did you mean "parts"?`, nil},
		{`input.cardea.parts[_].command[0] == "git"; input.cardea.role; input.raw.any.thing`, "", nil},
		{`input.prommt == "x"`, `input.prommt is always undefined: no event has a field "prommt"; did you mean "prompt"?`, nil},
		{`input.tool_input.comand with input.tool_input as {"comand": 1}`, "", []string{"Bash"}},
		{`part_is("x") with input as {"own": 1}`, "", []string{"Bash"}},
		{`object.get(input, "prommt", "") == "x"`, `5:40: input.prommt is always undefined: no event has a field "prommt"; did you mean "prompt"?`, nil},
		{`x := object.get(input.tool_input, "comand", ""); x == "y"`, `input.tool_input.comand is always undefined`, []string{"Bash"}},
		{`object.get(input, ["tool_input", "comand"], "") == "x"`, `input.tool_input.comand is always undefined`, []string{"Bash"}},
		{`count(object.get(input, ["cardea", "part"], [])) == 0`, `did you mean "parts"?`, nil},
		{`object.get(input, "prompt", 1) == 1; object.get(input, ["raw", "any"], 1) == 1; object.get(input.tool_input, input.prompt, 1) == 1`, "", []string{"Bash"}},
		{`o := {"own": 1}; object.get(o, "other", 2) == 2; object.get({"a": 1}, "b", 2) == 2`, "", nil},
		{`every p in input.cardea.parts { p.comand == "x" }`, `5:56: p.comand is always undefined: no event has a field "comand"; did you mean "command"?`, nil},
		{`every i, p in input.cardea.parts { i < 5; some o in p.options; every q in p.options { q.nam == o.name } }`, `did you mean "name"?`, nil},
		{`every p in input.cardea.parts { object.get(input, "prommt", p) == p }`, `did you mean "prompt"?`, nil},
		{`every i, p in input.cardea.parts { i < 5; p.command[0] == "x"; input.prompt }`, "", nil},
		{`every p in input.cardea.parts { p.own == 1 } with input as {"own": 1}`, "", nil},
		{`startswith(input.cardea.role, 5)`, "", nil}, // is not about fields
	} {
		text := "package cardea.policies.p\n\npart_is(x) if input.cardea.role == x\n\ndeny contains 1 if { " + strings.TrimSpace(tt.body) + " }\n"
		test := "package cardea.policies.p_test\n\ntest_x if input.own with input as {\"own\": 1}\n"
		shape.Routed = map[string][]string{"p.rego": tt.tools}
		found, err := Engine{}.Fields(context.Background(), []engine.Source{{Path: "p.rego", Text: text}, {Path: "p_test.rego", Text: test}}, engine.Options{}, []engine.Shape{shape})
		if err != nil {
			t.Errorf("%s: %v", tt.body, err)
			continue
		}
		got := ""
		for _, d := range found {
			got += d.String()
		}
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) || len(found) > 1 {
			t.Errorf("%s: %q, want %q", tt.body, got, tt.want)
		}
	}
}

// Rules with else are about the tools of their file's routing. Other rules are about the
// tools that they name.
func TestFieldsOfRules(t *testing.T) {
	const text = `package cardea.policies.p

shell if {
	input.tool_name == "Bash"
} else if {
	input.tool_input.file_path == "x"
}

deny contains 1 if {
	input.tool_name == "Bash"
	input.tool_input.file_path == "x"
}

ask contains 1 if input.tool_input.anything
`
	shape := engine.Shape{Files: []string{"p.rego"}, Input: map[string]any{"tool_name": nil}, Tools: map[string]any{"Bash": map[string]any{"command": nil}}}
	found, err := Engine{}.Fields(context.Background(), []engine.Source{{Path: "p.rego", Text: text}, {Path: "bad.rego", Text: "package x\n\ny := nosuch(1)\n"}}, engine.Options{}, []engine.Shape{shape})
	if err != nil || len(found) != 1 || found[0].Line != 11 || found[0].Column != 19 {
		t.Errorf("%v, %v", found, err)
	}
}
