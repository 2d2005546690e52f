package document_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	_ "cardea.dev/internal/base/document/yamltext"

	"cardea.dev/internal/base/diagnostic"
	"cardea.dev/internal/base/document"
)

// told returns every problem as a line, with warnings marked.
func told(r *document.Reader) string {
	var b strings.Builder
	for _, p := range r.Problems() {
		if p.Severity == diagnostic.LevelWarning {
			b.WriteString("warning ")
		}
		b.WriteString(p.String() + "\n")
	}
	return b.String()
}

func TestAllProblemsAtOnce(t *testing.T) {
	r := document.Read("f.yaml", []byte(`
version: one
on_error: dny
unknwon: 1
wait: soon
rules:
  off: {a: b}
  off: [x]
list: 3
flag: maybe
`))
	top := r.Top().Map()
	top.Int("version", 1, 1)
	top.Word("on_error", "defer", "deny", "allow")
	top.Duration("wait")
	top.Texts("unknown")
	rules := top.Map("rules")
	rules.Texts("off")
	rules.Done()
	top.List("list")
	top.Bool("flag")
	top.Need("name")
	top.Done()
	want := `f.yaml:2:1: "name" is missing; add name: …
f.yaml:2:10: "version" must be a whole number, not "one"; write 1
f.yaml:3:11: unknown value "dny" for "on_error"; did you mean "deny"? use defer, deny or allow
warning f.yaml:4:1: unknown key "unknwon"; did you mean "unknown"?
f.yaml:5:7: "wait" must be a length of time; write it as "5s", "200ms" or "1m30s"
f.yaml:7:8: "off" must be text, not a map; put it in quotes
f.yaml:8:3: key "off" is given twice, first in line 7; remove one of them
f.yaml:9:7: "list" must be a list, not a number; write "- " before each entry
f.yaml:10:7: "flag" must be true or false; use true or false
`
	if got := told(r); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if r.Errors() != 8 || !diagnostic.HasError(r.Problems()) {
		t.Errorf("Errors() = %d, want 8", r.Errors())
	}
}

func TestGetters(t *testing.T) {
	r := document.Read("f.yaml", []byte(`
text: hello
number: 7
switch: off
yes: true
no: false
wait: 1m30s
one: single
many: [a, 2, true]
word: deny
nothing:
base: &base {a: 1, b: 2}
merged:
  <<: *base
  b: 3
both: {<<: [*base, {c: 4}]}
same: *base
any: {s: x, n: 1.5, h: 0x10, t: true, z: null, l: [1, "2"]}
`))
	m := r.Top().Map()
	for key, want := range map[string]string{"text": "hello", "number": "7", "switch": "off", "absent": ""} {
		if got := m.Text(key); got != want {
			t.Errorf("Text(%s) = %q, want %q", key, got, want)
		}
	}
	if !m.Bool("yes") || m.Bool("no") || m.Bool("absent") {
		t.Error("Bool is wrong")
	}
	if got := m.Int("number", 0, 9); got != 7 {
		t.Errorf("Int = %d", got)
	}
	if got := m.Duration("wait"); got != 90*time.Second {
		t.Errorf("Duration = %s", got)
	}
	if got := m.Texts("one"); !reflect.DeepEqual(got, []string{"single"}) {
		t.Errorf("Texts of a scalar = %q", got)
	}
	if got := m.Texts("many"); !reflect.DeepEqual(got, []string{"a", "2", "true"}) {
		t.Errorf("Texts = %q", got)
	}
	if got := m.Word("word", "allow", "deny"); got != "deny" {
		t.Errorf("Word = %q", got)
	}
	if v := m.Get("nothing"); !v.Present() || !v.Null() || v.Line() != 11 {
		t.Errorf("null: present %v, null %v, line %d", v.Present(), v.Null(), v.Line())
	}
	if v := m.Get("merged"); v.Line() != 14 || v.KeyLine() != 13 || r.Top().KeyLine() != 2 {
		t.Errorf("a key in line %d, its value in line %d", v.KeyLine(), v.Line())
	}
	if v := m.Get("absent"); v.Present() || v.Null() || v.Line() != 2 || v.Column() != 1 {
		t.Error("an absent value stands at its parent's place")
	}
	merged := m.Map("merged")
	if merged.Text("a") != "1" || merged.Text("b") != "3" {
		t.Errorf("merge: a=%s b=%s", merged.Text("a"), merged.Text("b"))
	}
	if got := m.Map("both").Keys(); !reflect.DeepEqual(got, []string{"a", "b", "c"}) {
		t.Errorf("merge of a list = %q", got)
	}
	if m.Map("same").Text("b") != "2" || !m.Get("same").IsMap() || !m.Get("many").IsList() {
		t.Error("an alias stands for its map")
	}
	want := map[string]any{"s": "x", "n": json.Number("1.5"), "h": json.Number("16"), "t": true, "z": nil,
		"l": []any{json.Number("1"), "2"}}
	if got := m.Get("any").Any(); !reflect.DeepEqual(got, want) {
		t.Errorf("Any = %#v", got)
	}
	m.Know("base")
	m.Done()
	if got := told(r); got != "" {
		t.Errorf("problems:\n%s", got)
	}
}

func TestWrongTypes(t *testing.T) {
	for _, c := range []struct {
		yaml string
		read func(document.Map)
		want string
	}{
		{"a: [x]", func(m document.Map) { m.Text("a") }, `f:1:4: "a" must be text, not a list`},
		{"a:", func(m document.Map) { m.Text("a") }, `f:1:3: "a" must be text, not null`},
		{"a: !!binary aGk=", func(m document.Map) { m.Text("a") }, `not a value of type !!binary`},
		{"a: !x y", func(m document.Map) { m.Get("a").Any() }, `has the type !x`},
		{"a: 99", func(m document.Map) { m.Int("a", 1, 9) }, `f:1:4: "a" is out of range: 99; use 1 to 9`},
		{"a: -5s", func(m document.Map) { m.Duration("a") }, `must be a length of time`},
		{"a: [1]", func(m document.Map) { m.Word("a", "x", "y") }, `"a" must be a word, not a list; use x or y`},
		{"a: [b, [c]]", func(m document.Map) { m.Texts("a") }, `entry 2 of "a" must be text, not a list`},
		{"a: 1", func(m document.Map) { m.Map("a") }, `"a" must be a map, not a number`},
		{"a:", func(m document.Map) { m.Need("a") }, `"a" is empty`},
		{"a: {? [x] : y}", func(m document.Map) { m.Map("a") }, `a key must be text`},
		{"a: {<<: 3}", func(m document.Map) { m.Map("a") }, `"<<" must name a map`},
		{"a: {b: 1, b: 2}", func(m document.Map) { m.Get("a").Any() }, `"b" is given twice`},
		{"comand: x", func(m document.Map) { m.Text("command"); m.Only() }, `f:1:1: unknown key "comand"; did you mean "command"?`},
		{"a: .inf", func(m document.Map) {
			if got := m.Get("a").Any(); got != ".inf" {
				t.Errorf("Any of .inf = %v", got)
			}
			m.Value().Warn(diagnostic.CodeUncertain, "", "seen")
		}, `seen`},
	} {
		r := document.Read("f", []byte(c.yaml))
		c.read(r.Top().Map())
		if got := told(r); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.yaml, got, c.want)
		}
	}
}

func TestUnreadableFiles(t *testing.T) {
	laughs := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 10; i++ {
		p := fmt.Sprintf("*a%d", i-1)
		laughs += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(p+", ", 10), ", "))
	}
	for _, c := range []struct{ name, data, want string }{
		{"size", strings.Repeat("#", document.MaxSize+1), "f:1:1: the file has 1048577 bytes"},
		{"two documents", "a: 1\n---\nb: 2\n", "f:2:1: a second document in the file"},
		{"second document broken", "a: 1\n---\nb: [\n", "not valid YAML"},
		{"syntax", "a: 1\n  b: 2\n", "f:2:3: not valid YAML: the line is indented like none above it"},
		{"tab", "a:\n\tb: 1\n", "indent with spaces"},
		{"first line", "[", "f:1:1: not valid YAML"},
		{"control character", "a: \x00b", "not valid YAML"},
		{"billion laughs", laughs, "when aliases are followed"},
		{"long texts", "a: &a " + strings.Repeat("x", 20_000) + "\nb: [" + strings.Repeat("*a, ", 1000) + "]\n", "f:1:4: the texts of the file have more than 16777216 bytes when aliases are followed"},
		{"own parent", "a: &a [*a]\n", "f:1"},
		{"nesting", strings.Repeat("[", 100) + strings.Repeat("]", 100), "nested more than 64 deep"},
		{"deep nesting", strings.Repeat("[", 500_000), "not valid YAML"},
		{"unknown anchor", "a: *b", "unknown anchor"},
	} {
		begin := time.Now()
		r := document.Read("f", []byte(c.data))
		if got := told(r); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if r.Errors() == 0 || r.Top().Present() {
			t.Errorf("%s: the file counts as readable", c.name)
		}
		if d := time.Since(begin); d > 20*time.Second {
			t.Errorf("%s took %s", c.name, d)
		}
	}
}

func TestEmptyFile(t *testing.T) {
	for _, data := range []string{"", "\n", "# nothing\n"} {
		r := document.Read("f", []byte(data))
		m := r.Top().Map()
		m.Done()
		if m.Has("x") || len(r.Problems()) > 0 {
			t.Errorf("%q: %s", data, told(r))
		}
	}
	r := document.Read("f", []byte("null"))
	if r.Top().Map(); r.Errors() != 1 {
		t.Error("null is no map")
	}
}

func TestProblemFloodIsCut(t *testing.T) {
	r := document.Read("f", []byte(strings.Repeat("- []\n", 5000)))
	r.Top().Texts()
	if n := len(r.Problems()); n != 101 {
		t.Errorf("%d problems are told", n)
	}
	if r.Errors() != 5000 {
		t.Errorf("%d errors are counted", r.Errors())
	}
}

func TestManyKeysAreQuick(t *testing.T) {
	var b strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&b, "k%d: 1\n", i)
	}
	begin := time.Now()
	r := document.Read("f", []byte(b.String()))
	if got := len(r.Top().Map().Keys()); got != 50_000 {
		t.Errorf("%d keys", got)
	}
	if d := time.Since(begin); d > 20*time.Second {
		t.Errorf("took %s", d)
	}
}

func TestProblemString(t *testing.T) {
	for _, c := range []struct {
		p    diagnostic.Diagnostic
		want string
	}{
		{diagnostic.Diagnostic{File: "a", Line: 1, Column: 2, Text: "x", Hint: "y"}, "a:1:2: x; y"},
		{diagnostic.Diagnostic{File: "a", Line: 1, Text: "x"}, "a:1: x"},
		{diagnostic.Diagnostic{File: "a", Text: "x"}, "a: x"},
		{diagnostic.Diagnostic{Text: "x"}, "x"},
	} {
		if got := c.p.Error(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// TestEmpty checks that a program without a parser can read an empty file.
func TestEmpty(t *testing.T) {
	defer document.Register(document.Registered())
	document.Register(nil)
	before := document.Unread()
	for _, text := range []string{"", "version: 1"} {
		if r := document.Read("f", []byte(text)); (len(r.Problems()) > 0) != (text != "") {
			t.Errorf("%q: %s", text, told(r))
		}
		if text == "" && document.Unread() != before {
			t.Error("an empty file is not read")
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"",
		"a: 1",
		"a: &x {b: *x}",
		"<<: [{a: 1}]",
		"- - - x",
		"a: !!binary x",
		"%YAML 1.1\n---\na: b",
		"a: |\n  x\n---\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := document.Read("f", data)
		r.Top().Any()
		m := r.Top().Map()
		for _, k := range m.Keys() {
			m.Texts(k)
		}
		for _, p := range r.Problems() {
			if p.File != "f" || p.Text == "" || p.Line < 1 || p.Column < 1 {
				t.Errorf("a problem without place or text: %#v", p)
			}
		}
	})
}

// TestCommentedParent checks that hints name the line of a commented key, for any YAML
// error.
func TestCommentedParent(t *testing.T) {
	const head = "version: 1\n#default:\n#  attended: ask # a word\n#rules:\n#  off: []\n"
	for _, c := range []struct{ text, want string }{
		{"version: 1\n#default:\n  attended: ask\n", `f:3:3: not valid YAML: there is no key above this line; take the # in front of "default" in line 2 away, too: this belongs to it`},
		{
			"version: 1\n# Prose: with a colon.\n#default:\n#  attended: ask\n#rules:\n  off: []\n",
			`f:6:3: not valid YAML: there is no key above this line; take the # in front of "rules" in line 5 away, too: this belongs to it`,
		},
		{"version: 1\n#rules:\n#  - id: x\n    tool: Bash\n", `f:4:5: not valid YAML: there is no key above this line; take the # in front of "id" in line 3 away, too: this belongs to it`},
		{"version: 1\n#rules:\n  - id: x\n    tool: Bash\n", `f:3:3: not valid YAML: there is no key above this line; take the # in front of "rules" in line 2 away, too: this belongs to it`},
		{"default:\n  attended: ask\n#rules:\n  off: []\n", `f:4:3: unknown key "off"; take the # in front of "rules" in line 3 away, too: this belongs to it`},
		{"default:\n#  attended: ask\n", `f:1:9: "default" must be a map, not null; take the # away from what belongs to it below, or make it a comment again`},
		{"a: [\n#b:\nc: ]]\n", `f:2:1: not valid YAML: did not find expected key; check indentation, quotes, brackets and colons in this line and those behind it`},
	} {
		r := document.Read("f", []byte(c.text))
		m := r.Top().Map()
		m.Know("version", "rules")
		d := m.Map("default")
		d.Know("attended")
		d.Only()
		var got []string
		for _, p := range r.Problems() {
			got = append(got, p.String())
		}
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%q:\n got %q\nwant %q", c.text, got, c.want)
		}
	}
	if r := document.Read("f", []byte(head)); len(r.Problems()) > 0 {
		t.Error(r.Problems())
	}
}

// TestForm checks that a compiled form yields the same document with the same places, and
// that anything else is rejected.
func TestForm(t *testing.T) {
	for _, text := range []string{
		"", "# a comment\n", "version: 1\non_error: defer\npacks: {web: off}\n", "a: &x [1, 0x10, .5, 1_000, null, true, 2026-01-01, 'q: \"']\nb: *x\n<<: {c: d}\n",
		"- |\n  many\n  lines\n- >-\n  folded\n  text\n- !!binary aGk=\n- {? [a, b] : c}\n",
	} {
		first := document.Read("f.yaml", []byte(text))
		form := first.Form()
		if form == "" {
			t.Fatalf("%q has no form", text)
		}
		again, err := document.ReadForm("f.yaml", []byte(text), form)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if again.Form() != form || !reflect.DeepEqual(first.Top().Any(), again.Top().Any()) || told(first) != told(again) {
			t.Errorf("%q: %v, %v", text, first.Top().Any(), again.Top().Any())
		}
		for i := range len(form) {
			if _, err := document.ReadForm("f.yaml", nil, form[:i]); err == nil && i > len(document.FormVersion)+1 {
				t.Errorf("%q: %d bytes of %d are a form", text, i, len(form))
			}
		}
	}
	for _, text := range []string{"a: [", "a: 1\n---\nb: 2\n", "a: &a [*a]\n"} {
		if form := document.Read("f.yaml", []byte(text)).Form(); form != "" {
			t.Errorf("%q has a form", text)
		}
	}
}

// FuzzReadForm checks that no form crashes the program or yields missing nodes.
func FuzzReadForm(f *testing.F) {
	f.Add(document.Read("f", []byte("a: &x [1, {b: c}]\nd: *x\n")).Form()[len(document.FormVersion)+1:])
	f.Add("\x04\x01\x01\x00")
	f.Add("\x03\x01\x01\xff\xff\xff\xff\x07")
	f.Fuzz(func(t *testing.T, body string) {
		if r, err := document.ReadForm("f", nil, document.FormVersion+"\n"+body); err == nil {
			r.Top().Any()
			r.Problems()
		}
	})
}

// TestDropNulls checks that null values are removed at any depth.
func TestDropNulls(t *testing.T) {
	r := document.Read("f.yaml", []byte("a:\nb: ~\nn: &n null\nc: {d: , e: [1, null, {f: null}]}\ng: *n\n"))
	r.DropNulls()
	m := r.Top().Map()
	for _, key := range []string{"a", "b", "n", "g"} {
		if m.Has(key) || len(m.Map(key).Keys()) > 0 || m.Text(key) != "" {
			t.Errorf("%s is there", key)
		}
	}
	if c := m.Map("c"); strings.Join(c.Keys(), " ") != "e" || len(c.List("e")) != 2 || len(c.List("e")[1].Map().Keys()) != 0 {
		t.Errorf("c: %v", c.Keys())
	}
	for _, text := range []string{"", "~", "# no\n"} {
		r := document.Read("f.yaml", []byte(text))
		if r.DropNulls(); r.Top().Present() || len(r.Top().Map().Keys()) > 0 || len(r.Problems()) > 0 {
			t.Errorf("%q: %v", text, r.Problems())
		}
	}
}
