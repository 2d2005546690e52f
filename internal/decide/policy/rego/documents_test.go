package rego

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"cardea.dev/internal/decide/policy/engine"
)

// Documents are merged below the names of their folders, as in OPA.
func TestDocuments(t *testing.T) {
	root, wrong := documents([]engine.Source{
		{Path: "p.rego", Text: "package x"},
		{Path: "data.json", Text: "\uFEFF{\"a\": {\"b\": 1, \"list\": [1]}}", Data: "/"},
		{Path: "a/data.yaml", Text: "c: yes\nd:\n  e: [x]\n", Data: "/a"},
		{Path: "a/d/data.yml", Text: "f: 12345678901234567890\n", Data: "/a/d"},
		{Path: "l/data.json", Text: "[1, \"two\"]", Data: "/l"},
		{Path: "n/data.yaml", Text: "# nothing\n", Data: "/n"},
	})
	want := map[string]any{
		"a": map[string]any{"b": json.Number("1"), "list": []any{json.Number("1")}, "c": "yes",
			"d": map[string]any{"e": []any{"x"}, "f": json.Number("12345678901234567890")}},
		"l": []any{json.Number("1"), "two"}, "n": map[string]any{},
	}
	if !reflect.DeepEqual(root, want) || len(wrong) != 0 {
		t.Errorf("%#v, %v", root, wrong)
	}
}

// A document that cannot be read or merged is reported with its position, and does not
// affect others.
func TestDocumentsWithMistakes(t *testing.T) {
	laughs := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for name := 'b'; name < 'i'; name++ {
		laughs += string(name) + ": &" + string(name) + " [" + strings.Repeat("*"+string(name-1)+", ", 10) + "]\n"
	}
	long := "a: &a " + strings.Repeat("x", 20_000) + "\nb: [" + strings.Repeat("*a, ", 1000) + "]\n"
	for _, tt := range []struct{ path, text, data, want string }{
		{"data.json", "{\n  \"a\": 1,\n}", "/", "data.json:3:1: not valid JSON: invalid character"},
		{"data.json", "{\"a\": 1} x", "/", "data.json:1:9: not valid JSON"},
		{"data.json", "{\"a\": [1", "/", "not valid JSON: unexpected EOF"},
		{"data.json", "", "/a", "not valid JSON"},
		{"data.json", "\"x\"", "/", "no object, but string"},
		{"data.yaml", "a:\n  b: [\n", "/a", "data.yaml:2:"},
		{"data.yaml", "a: 1\n---\nb: 2\n", "/a", "a second document"},
		{"data.yaml", laughs, "/a", "when aliases are followed"},
		{"data.yaml", long, "/a", "have more than 16777216 bytes when aliases are followed"},
		{"data.yaml", "a: &a [*a]\n", "/a", "nested more than 64 deep"},
	} {
		root, wrong := documents([]engine.Source{{Path: tt.path, Text: tt.text, Data: tt.data}, {Path: "b/data.json", Text: "{\"c\": 1}", Data: "/b"}})
		if got := wrong[tt.path].Error(); !strings.Contains(got, tt.want) || len(wrong) != 1 || len(root) != 1 {
			t.Errorf("%.40q: %q, want %q; %v", tt.text, got, tt.want, root)
		}
	}
}

// The paths that a document may define are known even if it cannot be read.
func TestDefines(t *testing.T) {
	for _, tt := range []struct{ text, data, want string }{
		{"{\"b\": 1, \"a\": {\"c\": 1}}", "/", "a b"},
		{"{\"b\": 1}", "/teams/eu", "teams.eu"},
		{"{", "/teams/eu", "teams.eu"},
		{"{", "/", "*"},
		{"{\"a\\nb\": 1}", "/", "*"},
		{"{\"" + strings.Repeat("x", 99) + "\": 1" + func() (s string) {
			for i := range 100 {
				s += ", \"k" + strings.Repeat("x", i) + "\": 1"
			}
			return s
		}() + "}", "/", "*"},
	} {
		parsed, err := Engine{}.Parse(context.Background(), []engine.Source{{Path: "data.json", Text: tt.text, Data: tt.data}})
		if err != nil || strings.Join(parsed[0].Facts.Data, " ") != tt.want {
			t.Errorf("%.40q: %v, %v, want %s", tt.text, parsed, err, tt.want)
		}
	}
}
