package rego

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/decide/policy/engine"
)

const head = "# METADATA\n# scope: package\n# title: T\n# description: D\n# authors: [A]\n# custom:\n#   routing:" +
	"\n#     required_events: [PreToolUse]\n#     required_tools: Bash\n#     required_signals: [s]\n"

func parsed(t *testing.T, path, text string) *Module {
	t.Helper()
	m, err := Parse(path, text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestFacts(t *testing.T) {
	m := parsed(t, "x.rego", head+"package cupcake.policies.x\n\nimport rego.v1\nimport data.lib.y as z\n\ndeny contains {\"a\": z.b, \"c\": data.other.d[input.e]}\nhalt contains 1\ndeny contains 2\n")
	f := m.Facts
	f.Refs = nil
	want := Facts{Package: "cupcake.policies.x", Line: 11, VerbLine: 16, Title: "T", Description: "D", Authors: []string{"A"}, Routed: true,
		Events: []string{"PreToolUse"}, Tools: []string{"Bash"}, Signals: []string{"s"}, Verbs: []string{"deny", "halt"}}
	if !reflect.DeepEqual(f, want) {
		t.Errorf("%+v", f)
	}
	for _, ref := range []string{"lib.y", "other.d"} {
		if !slices.Contains(m.Facts.Refs, ref) {
			t.Errorf("no %s in %v", ref, m.Facts.Refs)
		}
	}
	for text, says := range map[string]string{
		"# METADATA\n# scope: package\n# custom: {routing: x}\npackage cardea.policies.x\n":                                      "routing is no map",
		"# METADATA\n# scope: package\n# custom: {routing: {required_event: [x]}}\npackage cardea.policies.x\n":                  "no key \"required_event\"",
		"# METADATA\n# scope: package\n# custom: {routing: {required_events: [1]}}\npackage cardea.policies.x\n":                 "no list of names",
		head + "package cardea.policies.x\n\n# METADATA\n# custom: {routing: {required_events: [x]}}\ndeny contains 1 if true\n": "scope rule",
	} {
		m := parsed(t, "x.rego", text)
		if len(m.Facts.Mistakes) != 1 || !strings.Contains(m.Facts.Mistakes[0].String(), says) {
			t.Errorf("%q: %v", text, m.Facts.Mistakes)
		}
	}
	for pkg, want := range map[string]bool{"cardea.policies": true, "cardea.policies.a.b": true, "cardea.policiesx": false, "cupcake.global.policies.a": true, "cupcake.policies": true, "lib": false} {
		if engine.IsPolicy(pkg) != want {
			t.Errorf("%s: %v", pkg, !want)
		}
	}
}

// TestRoutingBehind tests that the first METADATA of a file applies wherever it is, as in
// Cupcake.
func TestRoutingBehind(t *testing.T) {
	routing := func(scope, event string) string {
		return "# METADATA\n" + scope + "# custom:\n#   routing:\n#     required_events: [" + event + "]\n#     required_signals: [s]\n"
	}
	begin, rule := "package cupcake.policies.x\n\nimport rego.v1\n\n", "deny contains 1 if true\n"
	title := "# METADATA\n# scope: package\n# title: T\n"
	for _, text := range []string{
		begin + routing("# scope: rule\n", "PreToolUse") + rule,
		begin + routing("# scope: rule\n", "PreToolUse") + "\n\n" + rule,
		begin + routing("# scope: document\n", "PreToolUse") + rule,
		begin + routing("", "PreToolUse") + rule,
		begin + "lib := 1\n\n" + routing("# scope: rule\n", "PreToolUse") + rule,
		begin + routing("# scope: rule\n", "PreToolUse") + rule + "\n" + routing("# scope: rule\n", "Stop") + "halt contains 1 if true\n",
		title + begin + routing("# scope: rule\n", "PreToolUse") + rule,
		routing("# scope: package\n", "PreToolUse") + begin + routing("# scope: rule\n", "Stop") + rule,
		routing("# scope: subpackages\n", "PreToolUse") + begin + rule,
	} {
		f := parsed(t, "x.rego", text).Facts
		if !f.Routed || strings.Join(f.Events, " ") != "PreToolUse" || strings.Join(f.Signals, " ") != "s" {
			t.Errorf("%s\n%+v", text, f)
		}
	}
	for _, text := range []string{begin + rule, begin + "# METADATA\n# title: T\n" + rule, begin + "# custom:\n#   routing:\n#     required_events: [Stop]\n" + rule} {
		if parsed(t, "x.rego", text).Facts.Routed {
			t.Errorf("%s\nis routed", text)
		}
	}
	// A file that OPA rejects is broken, and asks where it is routed.
	for _, text := range []string{
		begin + routing("# scope: package\n", "PreToolUse") + rule,
		begin + routing("# scope: rule\n", "PreToolUse") + "deny contains {{",
		"package cupcake.policies.x\n" + routing("", "PreToolUse") + "import rego.v1\n" + rule,
	} {
		if _, err := Parse("x.rego", text); err == nil {
			t.Errorf("%s\nis taken", text)
		}
		if f, ok := Head("x.rego", text); !ok || !f.Routed || strings.Join(f.Events, " ") != "PreToolUse" {
			t.Errorf("%s\n%+v", text, f)
		}
	}
}

func TestHead(t *testing.T) {
	if f, ok := Head("x.rego", head+"package cardea.policies.x\n\ndeny contains {{{"); !ok || f.Package != "cardea.policies.x" || !f.Routed {
		t.Errorf("%+v %v", f, ok)
	}
	for _, text := range []string{"", "deny", "package 7\n", "\x00", "# METADATA\n# {\npackage x\n"} {
		if _, ok := Head("x.rego", text); ok {
			t.Errorf("%q has a head", text)
		}
	}
	var problems Problems
	if _, err := Parse("x.rego", "package x\n\na b"); !errors.As(err, &problems) || problems[0].Line != 3 || !strings.HasPrefix(err.Error(), "x.rego:3:") {
		t.Errorf("%v", err)
	}
	if _, err := reparse("x.rego", "package x\n\na b"); err == nil {
		t.Error("a file that changed is taken")
	}
	if (Problems{}).Error() == "" || (diagnostic.Diagnostic{File: "x", Text: "y"}).String() != "x: y" {
		t.Error("problems without a place")
	}
}

// Each bad file is left out, with the reason, and the others work.
func TestCompile(t *testing.T) {
	modules := []*Module{
		parsed(t, "good.rego", "package a\n\nimport rego.v1\n\nx := input.n + 1\n\nset contains 1\n\nno := 1 if false\n\nprinted if print(\"hello\", input.n)\n"),
		parsed(t, "bad1.rego", "package b\n\nimport rego.v1\n\nx := nosuch(1)\n"),
		parsed(t, "bad2.rego", "package c\n\nimport rego.v1\n\nx if y\n"),
		parsed(t, "bad3.rego", "package d\n\nimport rego.v1\n\nx := http.send({})\n"),
		parsed(t, "fails.rego", "package e\n\nimport rego.v1\n\nx := 1 if input.n\n\nx := 2 if input.n\n"),
		parsed(t, "loops.rego", "package f\n\nimport rego.v1\n\nx if x\n"),
	}
	p, out := Compile(modules, nil, engine.Options{})
	for file, says := range map[string]string{"bad1.rego": "nosuch", "bad2.rego": "unsafe", "bad3.rego": "policies may not use it", "loops.rego": "recursive"} {
		if len(out[file]) == 0 || !strings.Contains(out[file].Error(), says) {
			t.Errorf("%s: %v", file, out[file])
		}
	}
	in, err := engine.NewInput(map[string]any{"n": 41})
	if err != nil || len(out) != 4 {
		t.Fatal(err, out)
	}
	got := p.Eval(context.Background(), []Query{
		{Package: "a", Rule: "x", Input: in},
		{Package: "a", Rule: "set", Input: in},
		{Package: "a", Rule: "no", Input: in},
		{Package: "e", Rule: "x", Input: in},
		{Package: "nowhere", Rule: "x", Input: in},
		{Package: "a", Rule: "printed", Input: in},
	})
	if s, _ := got[0].Value.(interface{ String() string }); s == nil || s.String() != "42" || got[2].Value != nil || got[2].Err != nil || got[4].Value != nil || got[4].Err != nil {
		t.Errorf("%+v", got)
	}
	if list, _ := got[1].Value.([]any); len(list) != 1 {
		t.Errorf("a set: %+v", got[1])
	}
	if got[3].Err == nil || !strings.Contains(got[3].Err.Error(), "fails.rego:") {
		t.Errorf("a conflict: %+v", got[3])
	}
	if _, err := engine.NewInput(map[string]any{"f": func() {}}); err == nil {
		t.Error("a function is input")
	}
	// Files compiled before with all checks compile without them, with the same results.
	again := parsed(t, "good.rego", "package a\n\nimport rego.v1\n\nx := input.n + 1\n")
	p, out = Compile([]*Module{again}, nil, engine.Options{Checked: true})
	if got := p.Eval(context.Background(), []Query{{Package: "a", Rule: "x", Input: in}}); len(out) > 0 || got[0].Err != nil {
		t.Errorf("%+v %v", got, out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got := p.Eval(ctx, []Query{{Package: "a", Rule: "x", Input: in}}); !errors.Is(got[0].Err, engine.ErrTime) && got[0].Value == nil {
		t.Errorf("without time: %+v", got)
	}
	for _, none := range [][]*Module{nil, {parsed(t, "bad.rego", "package a\n\nx := nosuch(1)\n")}} {
		p, out := Compile(none, nil, engine.Options{})
		if got := p.Eval(context.Background(), []Query{{Package: "a", Rule: "x", Input: in}}); len(out) != len(none) || got[0].Value != nil || got[0].Err != nil {
			t.Errorf("nothing: %v, %+v", out, got)
		}
	}
}

// Functions that reach outside are missing, except those in extra.
func TestFunctions(t *testing.T) {
	for _, name := range []string{"http.send", "net.lookup_ip_addr", "opa.runtime", "rand.intn", "time.now_ns", "uuid.rfc4122", "providers.aws.sign_req", "bits.lsh",
		"graph.reachable_paths", "regex.globs_match", "net.cidr_expand", "strings.render_template", "rego.parse_module", "io.jwt.decode_verify", "json.match_schema"} {
		if slices.Contains(Builtins(), name) || !slices.Contains(Refused(), name) {
			t.Errorf("policies may use %s", name)
		}
	}
	for _, name := range []string{"sprintf", "contains", "regex.match", "walk", "object.get", "glob.match", "json.unmarshal", "time.weekday"} {
		if slices.Contains(Refused(), name) {
			t.Errorf("policies may not use %s", name)
		}
	}
	m := parsed(t, "x.rego", "package a\n\nimport rego.v1\n\nx := time.now_ns()\n")
	if _, out := Compile([]*Module{m}, nil, engine.Options{Extra: []string{"time.now_ns"}}); len(out) > 0 {
		t.Errorf("%v", out)
	}
}

// A rule without end is stopped, and the rules after it have no value.
func TestStopped(t *testing.T) {
	m := parsed(t, "x.rego", "package a\n\nimport rego.v1\n\nslow if {\n\tsome x in numbers.range(1, 100000)\n\tsome y in numbers.range(1, 100000)\n\tx * y < 0\n}\n")
	p, _ := Compile([]*Module{m}, nil, engine.Options{})
	in, _ := engine.NewInput(map[string]any{})
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	begin := time.Now()
	got := p.Eval(ctx, []Query{{Package: "a", Rule: "slow", Input: in}, {Package: "a", Rule: "slow", Input: in}})
	if took := time.Since(begin); !errors.Is(got[0].Err, engine.ErrTime) || !errors.Is(got[1].Err, engine.ErrTime) || took > 30*time.Second {
		t.Errorf("%+v after %s", got, took)
	}
}

func TestLook(t *testing.T) {
	m := parsed(
		t,
		"x.rego",
		head+"package cardea.policies.x\n\nimport rego.v1\n\ndeny contains d if {\n\td := {\"rule_id"+
			"\": \"a\", \"reason\": \"b\", \"colour\": \"red\"}\n}\n\nask contains [1]\n\nmodify contains {\"rule_id\": \"a\"}\n\nadd_context contains \"x\" if not input.tool_input.y.z\n",
	)
	var got []string
	for _, r := range m.Look() {
		got = append(got, string(r.Code)+" "+r.Text)
	}
	all := strings.Join(got, "\n")
	for _, want := range []string{`no field "colour"`, "ask holds array", "modify has no updated_input", "not holds, too, where there is no input.tool_input.y.z"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
}

// A malformed part of a decision is found at its position.
func TestMalformedDecisions(t *testing.T) {
	for object, want := range map[string]string{
		`{"rule_id": 5, "reason": "r"}`:                              "4:37: rule_id holds number: write a text",
		`{"rule_id": "x", "reason": ["x"]}`:                          "reason holds array: write a text",
		`{"rule_id": "a rule", "reason": "r"}`:                       `"a rule" is no id; use letters, digits, and . _ / -`,
		`{"rule_id": "", "reason": "r"}`:                             `"" is no id`,
		`{"rule_id": "x", "reason": "r", "severity": 3}`:             "severity holds number: write a text",
		`{"rule_id": "x", "reason": "r", "question": null}`:          "question holds null",
		`{"rule_id": "x", "reason": "r", "priority": "1"}`:           "priority holds string: write a number",
		`{"rule_id": "x", "reason": "r", "updated_input": "x"}`:      "updated_input holds string: write an object",
		`{"rule_id": "x", "reason": "r", "part": "0"}`:               `write an index without quotes`,
		`{"rule_id": "x", "reason": "r", "part": null}`:              "part holds null: name a part by its index or text",
		`{"rule_id": "x", "reason": "r", "parts": [0, {}]}`:          "parts holds object",
		`{"rule_id": "x", "reason": "r", "parts": []}`:               "parts names no part",
		`{"rule_id": "x", "reason": "r", "parts": [1, -1]}`:          "parts holds -1, which is no index",
		`{"rule_id": "x", "reason": "r", "parts": [" "]}`:            "parts holds an empty text",
		`{"rule_id": "x", "reason": "r", "parts": "make"}`:           "", // one word is read as a list of one
		`{"rule_id": "x", "reason": "r", "parts": {0, 1}}`:           "",
		`{"rule_id": "x", "reason": "r", "part": input.cwd}`:         "",
		`{"rule_id": "x", "reason": "r", "parts": [p | p := 1]}`:     "",
		`{"rule_id": input.cwd, "reason": concat("", ["a", "b"])}`:   "",
		`{"rule_id": "A.b_c/d-1", "reason": sprintf("%d", [1])}`:     "",
		`{"rule_id": "x", "reason": $"r {input.cwd}", "part": 0}`:    "",
		`{"rule_id": "x", "reason": "r", "updated_input": {"a": 1}}`: "",
	} {
		var got []string
		for _, r := range parsed(t, "x.rego", "package cardea.policies.x\n\nimport rego.v1\ndeny contains d if d := "+object+"\n").Look() {
			if r.Code == "decision" {
				got = append(got, r.String())
			}
		}
		if all := strings.Join(got, "\n"); len(got) > 1 || want == "" && all != "" || !strings.Contains(all, want) {
			t.Errorf("%s: %q, want %q", object, all, want)
		}
	}
}

// A function that fails for its constant argument is undefined at every call.
func TestConstantsThatNeverWork(t *testing.T) {
	for body, want := range map[string]string{
		`regex.match("(", "x")`:                                   `4:33: regex.match of "(" always fails, so it is always undefined: error parsing regexp: missing closing ): ` + "`(`",
		`not regex.match("[", input.prompt)`:                      `regex.match of "["`,
		`count(regex.split("*", input.prompt)) > 1`:               `regex.split of "*"`,
		`regex.replace(input.cwd, "(?=x)", "") == ""`:             `regex.replace of "(?=x)"`,
		`some x in [y | y := regex.find_n("(", input.cwd, 1)]; x`: `regex.find_n of "("`,
		`glob.match("[", null, input.cwd)`:                        `glob.match of "["`,
		`json.unmarshal("{") == input.raw`:                        `json.unmarshal of "{"`,
		`to_number("x") == 1`:                                     `to_number of "x"`,
		`net.cidr_contains("10.0.0.0/99", "10.0.0.1")`:            `net.cidr_contains of "10.0.0.0/99"`,
		`regex.match("^a$", input.cwd)`:                           "",
		`regex.match(input.cwd, "(")`:                             "",
		`glob.match("**/*.go", ["/"], input.cwd)`:                 "",
		`net.cidr_contains("10.0.0.0/8", input.cwd)`:              "",
		`to_number("1") == 1`:                                     "",
		`regex.find_all_string_submatch_n("a", input.cwd, -1); time.parse_duration_ns("5s") > 0; units.parse_bytes("5MB") > 0; ` +
			`hex.decode("00"); base64.decode("YQ=="); time.parse_rfc3339_ns("2020-01-01T00:00:00Z") > 0`: "",
	} {
		var got []string
		for _, r := range parsed(t, "x.rego", "package cardea.policies.x\n\nimport rego.v1\ndeny contains 1 if {"+body+"}\n").Look() {
			if r.Code == "constant" {
				got = append(got, r.String())
			}
		}
		if all := strings.Join(got, "\n"); len(got) > 1 || want == "" && all != "" || !strings.Contains(all, want) {
			t.Errorf("%s: %q, want %q", body, all, want)
		}
	}
}

// An error within "with" leaves no results that the next rule would use for its own input.
func TestErrorsLeaveNothingBehind(t *testing.T) {
	m := parsed(
		t,
		"x.rego",
		"package a\n\nimport rego.v1\n\nname := input.name\n\ntwo := 1 if input.name\n\ntwo := 2 if input.name\n\nfails if {\n\tname == "+
			"\"other\"\n\ttwo == 3\n}\n\nouter if fails with input as {\"name\": \"other\"}\n\nsaid contains name\n",
	)
	p, out := Compile([]*Module{m}, nil, engine.Options{})
	in, err := engine.NewInput(map[string]any{"name": "mine"})
	if err != nil || len(out) > 0 {
		t.Fatal(err, out)
	}
	got := p.Eval(context.Background(), []Query{{Package: "a", Rule: "outer", Input: in}, {Package: "a", Rule: "said", Input: in}, {Package: "a", Rule: "name", Input: in}})
	if got[0].Err == nil || !reflect.DeepEqual(got[1].Value, []any{"mine"}) || got[2].Value != "mine" {
		t.Errorf("%+v", got)
	}
}

// A rule without end, or one that takes all memory, leaves time and memory for the rules
// after it.
func TestOneWithoutEndLeavesTheOthers(t *testing.T) {
	slow := "\tsome x in numbers.range(1, 100000)\n\tsome y in numbers.range(1, 100000)\n\tx * y < 0\n}\n"
	modules := []*Module{
		parsed(t, "a.rego", "package a\n\nimport rego.v1\n\ndeny if {\n"+slow+"\nask if {\n"+slow),
		parsed(t, "b.rego", "package b\n\nimport rego.v1\n\ndeny if count([[i, j] | some i in numbers.range(1, 100000); some j in numbers.range(1, 100000)]) == 0\n"),
		parsed(t, "c.rego", "package c\n\nimport rego.v1\n\ndeny := input.n\n"),
	}
	p, _ := Compile(modules, nil, engine.Options{})
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
	defer cancel()
	in, err := engine.NewInput(map[string]any{"n": "seen"})
	if err != nil {
		t.Fatal(err)
	}
	got := p.Eval(ctx, []Query{{Package: "a", Rule: "deny", Input: in}, {Package: "a", Rule: "ask", Input: in}, {Package: "b", Rule: "deny", Input: in}, {Package: "c", Rule: "deny", Input: in}})
	if !errors.Is(got[0].Err, engine.ErrTime) || !errors.Is(got[1].Err, engine.ErrTime) || got[2].Err == nil || got[3].Err != nil || got[3].Value != "seen" {
		t.Errorf("%v, %v, %v, %v %v", got[0].Err, got[1].Err, got[2].Err, got[3].Err, got[3].Value)
	}
}

// Code without effect is reported: verbs with typing errors, signals that are not required.
func TestNeverHeard(t *testing.T) {
	const routed = "# METADATA\n# scope: package\n# title: T\n# custom:\n#   routing:\n#     required_events: [PreToolUse]\n#     required_signals: [s]\npackage cardea.policies.p\n\nimport rego.v1\n\n"
	for text, want := range map[string]string{
		"deny contains d if d := {\"rule_id\": \"x\", \"reason\": \"r\"}\n\ndney contains 1\n":                                "dney is no verb",
		"deny contains d if { some x in names; d := {\"rule_id\": x, \"reason\": \"r\"} }\n\nnames contains \"x\"\n":          "",
		"deny contains d if { count(names) > 0; d := {\"rule_id\": \"x\", \"reason\": \"r\"} }\n\nnames contains \"x\"\n":     "",
		"deny contains d if { input.signals.t; d := {\"rule_id\": \"x\", \"reason\": \"r\"} }\n":                              "signal t does not run",
		"deny contains d if { input.signals.s.ok == false; d := {\"rule_id\": \"x\", \"reason\": \"r\"} }\n":                  "",
		"deny contains d if { some n, v in input.signals; v; d := {\"rule_id\": n, \"reason\": \"r\"} }\n":                    "",
		"deny contains d if { input.signals[\"u\"]; d := {\"rule_id\": \"x\", \"reason\": \"r\"} }\n\nhelper := 1\n":          "signal u does not run",
		"deny contains d if { helper; d := {\"rule_id\": \"x\", \"reason\": \"r\"} }\n\nhelper if input.tool_name == \"x\"\n": "",
	} {
		got := ""
		for _, r := range parsed(t, "x.rego", routed+text).Look() {
			if r.Code == "verb" || r.Code == "signal" {
				got += r.Text
			}
		}
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
