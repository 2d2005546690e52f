package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	_ "cardea.dev/internal/base/document/yamltext"

	"cardea.dev"
	"cardea.dev/internal/base/document"
	"cardea.dev/internal/config/settings"
	"cardea.dev/internal/decide/rules"
)

// validator checks a value against the part of JSON Schema that the schemas use. An unknown
// keyword is an error, so that none is skipped.
type validator struct {
	t    *testing.T
	defs map[string]any
}

func (v validator) check(at string, schema map[string]any, value any) []string {
	var out []string
	bad := func(format string, args ...any) { out = append(out, at+": "+fmt.Sprintf(format, args...)) }
	object, _ := value.(map[string]any)
	list, _ := value.([]any)
	properties, _ := schema["properties"].(map[string]any)
	for _, word := range slices.Sorted(maps.Keys(schema)) {
		switch want := schema[word]; word {
		case "$schema", "title", "description", "default", "$defs":
		case "$ref":
			out = append(out, v.check(at, v.defs[strings.TrimPrefix(want.(string), "#/$defs/")].(map[string]any), value)...)
		case "type":
			names, ok := want.([]any)
			if !ok {
				names = []any{want}
			}
			if !slices.ContainsFunc(names, func(n any) bool { return isType(n.(string), value) }) {
				bad("%v is no %v", value, want)
			}
		case "enum":
			if !slices.Contains(want.([]any), value) {
				bad("%v is none of %v", value, want)
			}
		case "const":
			if fmt.Sprint(want) != fmt.Sprint(value) {
				bad("%v is not %v", value, want)
			}
		case "pattern":
			if s, ok := value.(string); ok && !regexp.MustCompile(want.(string)).MatchString(s) {
				bad("%q does not match %s", s, want)
			}
		case "minimum", "maximum":
			n, ok := value.(json.Number)
			f, err := n.Float64()
			if limit := want.(float64); ok && (err != nil || word == "minimum" && f < limit || word == "maximum" && f > limit) {
				bad("%v is beyond the %s %v", value, word, want)
			}
		case "items":
			for i, e := range list {
				out = append(out, v.check(fmt.Sprintf("%s[%d]", at, i), want.(map[string]any), e)...)
			}
		case "required":
			for _, name := range want.([]any) {
				if _, there := object[name.(string)]; object != nil && !there {
					bad("%s is missing", name)
				}
			}
		case "anyOf":
			if !slices.ContainsFunc(want.([]any), func(s any) bool { return len(v.check(at, s.(map[string]any), value)) == 0 }) {
				bad("%v is none of the alternatives", value)
			}
		case "properties", "additionalProperties":
		default:
			v.t.Fatalf("the validator does not know %q", word)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		switch known, other := properties[name], schema["additionalProperties"]; {
		case known != nil:
			out = append(out, v.check(at+"."+name, known.(map[string]any), object[name])...)
		case other == false:
			bad("unknown key %s", name)
		case other != nil:
			out = append(out, v.check(at+"."+name, other.(map[string]any), object[name])...)
		}
	}
	return out
}

func isType(name string, value any) bool {
	switch v := value.(type) {
	case string:
		return name == "string"
	case bool:
		return name == "boolean"
	case json.Number:
		return name == "number" || name == "integer" && !strings.ContainsAny(v.String(), ".eE")
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return false
}

// validate checks YAML text against a schema as it is checked in.
func validate(t *testing.T, o Object, text string) []string {
	t.Helper()
	data, err := Bytes(o)
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	defs, _ := schema["$defs"].(map[string]any)
	doc := document.Read("text", []byte(text))
	value := doc.Top().Any()
	if len(doc.Problems()) > 0 {
		t.Fatalf("%s: %v", text, doc.Problems())
	}
	return validator{t, defs}.check("", schema, value)
}

func TestSchemasAreCurrent(t *testing.T) {
	for name, o := range map[string]Object{"cardea": Settings(), "rules": Rules()} {
		want, err := Bytes(o)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "schema", name+".schema.json"))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("docs/schema/%s.schema.json is not current: %v; run: go generate ./internal/config/settings", name, err)
		}
	}
}

func TestTableOfKeysIsCurrent(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "settings.md"))
	if err != nil {
		t.Fatal(err)
	}
	if want, err := Page(string(data)); err != nil || want != string(data) {
		t.Errorf("the table of keys in docs/settings.md is not current: %v; run: go generate ./internal/config/settings", err)
	}
	if _, err := Page("# Settings\n"); err == nil {
		t.Error("a page without a place for the table is no error")
	}
}

func TestPacksAreValid(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "..", "packs", "*.yaml"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range validate(t, Rules(), string(data)) {
			t.Errorf("%s%s", filepath.Base(f), bad)
		}
	}
}

// TestSettingsAgreeWithTheProgram checks that schema and program accept and reject the same
// settings.
func TestSettingsAgreeWithTheProgram(t *testing.T) {
	for _, k := range settings.Keys() {
		v := settings.Defaults()
		words := strings.Split(k.Name, ".")
		text := strings.Join(words, ": {") + ": " + k.Text(&v) + strings.Repeat("}", len(words)-1)
		if bad := validate(t, Settings(), text); len(bad) > 0 {
			t.Errorf("%s: %v", text, bad)
		}
	}
	for text, right := range map[string]bool{
		"": true, "version: 1": true, "version: 2": false, "packs: {git: off}": true, "packs: {git: of}": false,
		"rules: {off: a, effect: {x: ask}}": true, "rules: {effect: {x: may}}": false, "nonsense: 1": false, "default: {attended: halt}": false,
		"human: {mode: queue, timeout: 30s, ntfy: 'https://ntfy.example/x'}": true,
		"human: {mode: prompt}": false,
		"judge: {chain: [anthropic, {type: openai, model: x, api_key_command: [a, b]}]}": true,
		"judge: {chain: [{type: x}]}":                                           false,
		"judge: {chain: [{type: openai, api_key: x}]}":                          false,
		"judge: {prices: {m: {in: 1, out: 0.5}}, budget: {money_per_day: 0.5}}": true,
		"judge: {prices: {m: {in: 1}}}":                                         false,
		"confidence: {org: 0.5}":                                                true,
		"confidence: {org: 2}":                                                  false,
		"sensitive: {deny_read: [a/*]}":                                         true,
		"sensitive: {deny_read: {a: b}}":                                        false,
		"signals: {s: {command: x, timeout_seconds: 0}}":                        false, "signals: {s: {command: x}}": true, "signals: {s: {}}": false,
		"actions: {violations: {r: [{command: x}]}}": true, "actions: {on_ask: x}": false, "from_env: [PATH]": false, "from_env: role": true, "from_env: permissions": true,
		"permissions: {expand: maybe}": false, "ledger: {levels: {allow: false}}": true,
	} {
		f := settings.Parse("f", cardea.ScopeUser, []byte(text))
		if program := len(f.Problems) == 0; program != right {
			t.Errorf("the program on %q: %v", text, f.Problems)
		}
		if text == "" {
			text = "{}"
		}
		if bad := validate(t, Settings(), text); (len(bad) == 0) != right {
			t.Errorf("the schema on %q: %v", text, bad)
		}
	}
}

// TestRulesAgreeWithTheProgram checks that schema and program agree on rules. A key that
// only the schema has would be a warning or an error of the program.
func TestRulesAgreeWithTheProgram(t *testing.T) {
	all := `rules: [{id: x, event: [PreToolUse], tool: Bash, effect: ask, person: true, certain: true, message: 7, instead: b, because: c, context: d, severity: low, loses: files,
  rewrite: {command: e}, match: {command: a, flags: -f, args: x, path: [a], files: histories, access: write, own: key, holds: private-key,
    redirection: true, host: h, role: r, flow: download-run, opaque: true, outside: true,
  field: f, any_program: true, pattern: p, env: [X], started_by: x, unless: {flags: [-x], files: templates, search: true, metadata: true, command: [y]}, any: [{command: [a, b]}]},
  tests: [{input: {command: x}, tool: Bash, expect: none, contains: c, desc: d, event: PreToolUse, role: r, cwd: /}, {tool_name: Bash, tool_input: {command: x}, expect: none}]},
  {id: y, effect: allow, match: {command: a, stdin: any}}]`
	if bad := validate(t, Rules(), all); len(bad) > 0 {
		t.Errorf("the schema: %v", bad)
	}
	if _, problems := rules.Parse("f.yaml", []byte(all), rules.Origin{}); len(problems) > 0 {
		t.Errorf("the program: %v", problems)
	}
	keys := func(o Object) []string { return slices.Sorted(maps.Keys(o["properties"].(Object))) }
	rule := Rules()["properties"].(Object)["rules"].(Object)["items"].(Object)
	for _, list := range [][]string{keys(rule), keys(Rules()["$defs"].(Object)["match"].(Object)), keys(rule["properties"].(Object)["tests"].(Object)["items"].(Object))} {
		for _, k := range list {
			if !strings.Contains(all, k+":") {
				t.Errorf("the example has no %s", k)
			}
		}
	}
	for _, text := range []string{
		"{}",
		"rules: {}",
		"rules: [{effect: deny}]",
		"rules: [{id: 'a b', effect: deny, tool: x}]",
		"rules: [{id: a, efect: deny, tool: x}]",
		"rules: [{id: a, effect: denny, tool: x}]",
		"rules: [{id: a, effect: deny, match: {comand: x}}]",
		"rules: [{id: a, effect: deny, match: {any: [{access: reed}]}}]",
		"rules: [{id: a, effect: deny, match: {opaque: false}}]",
		"rules: [{id: a, effect: deny, tool: x, tests: [{input: {}, expect: no}]}]",
	} {
		if bad := validate(t, Rules(), text); len(bad) == 0 {
			t.Errorf("the schema accepts %s", text)
		}
		if _, problems := rules.Parse("f.yaml", []byte(text), rules.Origin{}); len(problems) == 0 {
			t.Errorf("the program accepts %s", text)
		}
	}
}
