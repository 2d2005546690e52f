package jsonedit

import (
	"errors"
	"strings"
	"testing"
)

var value = []Field{{"matcher", "*"}, {"hooks", []any{[]Field{{"args", []any{"a", "<b>"}}, {"timeout", 10}}}}}

// layouts are containers named "c" in the layouts that users write.
var layouts = map[string]string{
	"spread":          "{\n  \"a\": 1,\n  \"c\": [\n    {\"x\": 1}\n  ]\n}\n",
	"tabs":            "{\n\t\"c\": {\n\t\t\"x\": 1\n\t}\n}",
	"four spaces":     "{\n    \"c\": {\n        \"x\": 1\n    },\n    \"z\": true\n}\n",
	"windows":         "{\r\n  \"c\": {\r\n    \"x\": 1\r\n  }\r\n}\r\n",
	"one line":        `{"a": 1, "c": {"x": 1}, "d": [1, 2]}` + "\n",
	"small":           `{"a":1,"c":["x"],"d":2}`,
	"empty":           "{\n  \"c\": {},\n  \"d\": 1\n}\n",
	"empty list":      "{\n  \"c\": []\n}\n",
	"empty small":     `{"c":{}}`,
	"trailing comma":  "{\n  \"c\": [\n    1,\n    2, // two\n  ],\n}\n",
	"comment behind":  "{\n  \"c\": {\n    \"x\": 1 // why\n    // more\n  } // end\n}\n// eof",
	"comment inside":  "{\n  \"c\": { /* nothing yet */ }\n}\n",
	"line comment":    "{\"c\": [ // here\n]}",
	"comment and end": "{\"c\": [1 // here\n]}",
	"closer beside":   "{\n  \"c\": {\n    \"x\": {\"y\": 1}}}",
	"mark":            "\ufeff{\"c\": {\"x\": \"/* no comment */ // none\"}}",
	"string tricks":   "{\"b\": \"\\\" , } ]\", \"c\": [\"\\\\\"]}",
}

func appended(t *testing.T, text string) (string, []Insertion) {
	t.Helper()
	d, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	ins := d.Append(d.Root.Get("c"), "new", value)
	return string(Apply(d.Data, ins)), ins
}

// TestAppendAndRemove checks that Revert and Remove undo Append, and that Append only adds
// the new value.
func TestAppendAndRemove(t *testing.T) {
	for name, text := range layouts {
		out, ins := appended(t, text)
		back, ok := Revert([]byte(out), ins)
		if !ok || string(back) != text {
			t.Errorf("%s: reverted:\n%s", name, back)
		}
		d, err := Parse([]byte(out))
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
			continue
		}
		c := d.Root.Get("c")
		last := c.Items[len(c.Items)-1]
		if c.Kind == Object && last.Key != "new" || last.Value.Str("matcher") != "*" || last.Value.Get("hooks").Elements()[0].Lit("timeout") != "10" {
			t.Errorf("%s: the value is not there:\n%s", name, out)
		}
		if got := string(d.Remove(c, len(c.Items)-1)); got != text {
			t.Errorf("%s: removed:\n%q\nwant\n%q", name, got, text)
		}
	}
}

// TestLayoutIsStored checks that insertions follow the layout of the file.
func TestLayoutIsStored(t *testing.T) {
	for name, want := range map[string]string{
		"tabs":     "\t\t\"x\": 1,\n\t\t\"new\": {\n\t\t\t\"matcher\": \"*\",\n",
		"small":    `["x",{"matcher":"*","hooks":[{"args":["a","<b>"],"timeout":10}]}]`,
		"one line": `{"x": 1, "new": {"matcher": "*", `,
		"windows":  "1,\r\n    \"new\": {\r\n",
		"spread":   "    {\"x\": 1},\n    {\n      \"matcher\": \"*\",\n",
	} {
		if out, _ := appended(t, layouts[name]); !strings.Contains(out, want) {
			t.Errorf("%s: no %q in\n%s", name, want, out)
		}
	}
}

func TestRemoveFromTheMiddle(t *testing.T) {
	for _, tt := range []struct {
		text string
		item int
		want string
	}{
		{"[\n  1,\n  2, // two\n  3\n]", 1, "[\n  1, // two\n  3\n]"},
		{"[\n  1, // one\n  2,\n  3\n]", 1, "[\n  1, // one\n  3\n]"},
		{"[ // one\n  2, 3\n]", 0, "[ // one\n   3\n]"},
		{"[1 /* a */ , 2]", 0, "[ /* a */  2]"},
		{"[1, 2 /* b */]", 1, "[1 /* b */]"},
		{"[\n  1,\n]", 0, "[]"},
	} {
		d, err := Parse([]byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		got := d.Remove(d.Root, tt.item)
		if string(got) != tt.want {
			t.Errorf("%q without item %d is %q, want %q", tt.text, tt.item, got, tt.want)
		}
		if again, err := Parse(got); err != nil || len(again.Root.Items) != len(d.Root.Items)-1 {
			t.Errorf("%q: %v", got, err)
		}
	}
}

func TestBrokenFiles(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "1:1: the file is empty",
		"// only":                      "1:8: the file is empty",
		"{\n  \"a\": 1\n  \"b\": 2\n}": "3:3: a comma or '}' is missing here",
		"{a: 1}":                       "1:2: a key in double quotes",
		"{\"a\" 1}":                    "1:6: a colon",
		"{\"a\": }":                    "1:7: a value",
		"{\"ä\": \"x\n\"}":             "1:7: this text has no closing quote",
		"{\"a\": \"\\x\"}":             "1:7: this text has a character or an escape",
		"{} {}":                        "1:4: something stands behind",
		"{ /* x":                       "1:3: the comment has no end",
		"{} /* x":                      "1:4: the comment has no end",
		"[1":                           "a comma or ']'",
		"/*":                           "the comment has no end",
		"{\"a\" /*":                    "the comment has no end",
		"{\"a\": /*":                   "the comment has no end",
		"[1 /*":                        "the comment has no end",
		"{\"a":                         "no closing quote",
		strings.Repeat("[", 300):       "nested deeper",
	} {
		_, err := Parse([]byte(text))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}

func TestReading(t *testing.T) {
	d, err := Parse([]byte(`{"a": 1, "a": "two", "l": ["x", "y"], "m": [1], "t": true}`))
	if err != nil {
		t.Fatal(err)
	}
	words, ok := d.Root.Get("l").Words()
	_, mixed := d.Root.Get("m").Words()
	_, none := d.Root.Get("t").Words()
	if d.Root.Str("a") != "two" || len(d.Root.All("a")) != 2 || d.Root.Lit("t") != "true" || d.Root.Lit("a") != "" || d.Root.Str("t") != "" ||
		!ok || len(words) != 2 || mixed || none || d.Root.Get("t").Elements() != nil || d.Root.Get("t").Get("x") != nil {
		t.Errorf("%+v", d.Root)
	}
	if n, err := ValueAt([]byte("}} {\"a\": 1}, broken"), 3); err != nil || n.Lit("a") != "1" || n.End != 11 {
		t.Errorf("%+v, %v", n, err)
	}
	if s := Object.String() + Array.String() + String.String() + Literal.String(); !strings.Contains(s, "a list") {
		t.Error(s)
	}
	if got := string(Render([]Field{{"version", 1}, {"l", []any{"a&b"}}})); got != "{\n  \"version\": 1,\n  \"l\": [\"a&b\"]\n}\n" {
		t.Error(got)
	}
	if _, ok := Revert([]byte("abc"), []Insertion{{At: 1, Text: "x"}}); ok {
		t.Error("reverted what is not there")
	}
}

// FuzzAppend checks that an item can be added to every parsed file, and that the rest
// stays.
func FuzzAppend(f *testing.F) {
	for _, text := range layouts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := Parse([]byte(text))
		if err != nil {
			return
		}
		for _, c := range []*Node{d.Root, d.Root.Get("c")} {
			if c == nil || c.Kind > Array {
				continue
			}
			out := Apply(d.Data, d.Append(c, "new", value))
			again, err := Parse(out)
			if err != nil {
				t.Fatalf("%v\n%q\n%q", err, text, out)
			}
			at := again.Root
			if c != d.Root {
				at = again.Root.Get("c")
			}
			if _, err := Parse(again.Remove(at, len(at.Items)-1)); err != nil || len(at.Items) != len(c.Items)+1 {
				t.Fatalf("%v\n%q\n%q", err, text, out)
			}
		}
	})
}

// TestPlain checks Document.Plain, which reports standard JSON.
func TestPlain(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a": [1, "/* x */", {}], "b": {}}`: true, "\ufeff{}": true, `[]`: true, `[[]]`: true,
		`{} // x`: false, `{"a": 1,}`: false, `[1,]`: false, "/**/{}": false, `{"a": /* b */ 1}`: false,
	} {
		doc, err := Parse([]byte(text))
		if err != nil || doc.Plain != want {
			t.Errorf("%s: %v, %v", text, doc, err)
		}
	}
}
