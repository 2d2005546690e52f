package yamledit_test

import (
	"strings"
	"testing"

	"cardea.dev/internal/base/document/yamledit"
)

func TestPut(t *testing.T) {
	for _, tt := range []struct{ name, text, path, value, want string }{
		{"new", "a: 1\n", "b.c", "2", "a: 1\nb:\n  c: 2\n"},
		{
			"the same",
			"a: 1 # x\n",
			"a",
			"1",
			"a: 1 # x\n",
		},
		{
			"a value",
			"# above\na: 1  # why\nb: 2\n",
			"a",
			"3",
			"# above\na: 3  # why\nb: 2\n",
		},
		{
			"the last line",
			"b: 2\na: 1",
			"a",
			"3",
			"b: 2\na: 3\n",
		},
		{"deep", "p:\n  # c\n  expand: true # x\n  # d\n  env: y\n", "p.expand", "false", "p:\n  # c\n  expand: false # x\n  # d\n  env: y\n"},
		{
			"between brackets",
			"p: {expand: true, env: 'a, b'} # x\n",
			"p.expand",
			"false",
			"p: {expand: false, env: 'a, b'} # x\n",
		},
		{
			"the last between brackets",
			"p: {a: 1, l: [x, {y: z}] } # x\n",
			"p.l",
			"[q]",
			"p: {a: 1, l: [q] } # x\n",
		},
		{
			"a list",
			"l: # why\n  - a\n  - b\n# for c\nc: 1\n",
			"l",
			"[x]",
			"l: [x] # why\n# for c\nc: 1\n",
		},
		{
			"a list at the key's column",
			"l:\n- a\n- b\n\n# for c\nc: 1\n",
			"l",
			"[x]",
			"l: [x]\n\n# for c\nc: 1\n",
		},
		{
			"a list with comments",
			"p:\n  l:\n    - a\n# odd\n    - b\n  m: 1\n",
			"p.l",
			"[x]",
			"p:\n  l: [x]\n  m: 1\n",
		},
		{
			"a text of lines",
			"t: |\n  a\n\n  b\nc: 1\n",
			"t",
			"x",
			"t: x\nc: 1\n",
		},
		{
			"quotes with a mark",
			"t: 'a # b' # c\n",
			"t",
			"x",
			"t: x # c\n",
		},
		{
			"carriage returns",
			"a: 1\r\nb: 2\r\n",
			"b",
			"3",
			"a: 1\r\nb: 3\n",
		},
	} {
		got, err := yamledit.Put(tt.text, strings.Split(tt.path, "."), tt.value)
		if err != nil || got != tt.want {
			t.Errorf("%s: %v\n%q, want\n%q", tt.name, err, got, tt.want)
		}
	}
	for _, text := range []string{"a: on\n", "a: &x {b: 1}\nc: *x\n", "a: {b: 1 # why\n}\n", "a: [\n"} {
		if got, err := yamledit.Put(text, []string{"a", "b"}, "2"); err == nil || got != text {
			t.Errorf("%q became %q, %v", text, got, err)
		}
	}
}

func TestRemove(t *testing.T) {
	for _, tt := range []struct{ name, text, path, want string }{
		{"nothing", "a: 1\n", "b", "a: 1\n"},
		{"nothing deep", "a: 1\n", "a.b", "a: 1\n"},
		{"a line", "# one\na: 1 # x\n# two\nb: 2\n", "a", "# one\n# two\nb: 2\n"},
		{"the only one", "a: 1\n", "a", ""},
		{"a list", "a: 1\nl:\n  - x\n  # y\n  - z\n\nb: 2\n", "l", "a: 1\n\nb: 2\n"},
		{"the last of a map", "x: 1\np:\n  q:\n    r: 1\ny: 2\n", "p.q.r", "x: 1\ny: 2\n"},
		{"one of a map", "p:\n  q: 1 # q\n  r: 2 # r\n", "p.q", "p:\n  r: 2 # r\n"},
		{"first between brackets", "p: {a: 1, b: 2} # x\n", "p.a", "p: {b: 2} # x\n"},
		{"last between brackets", "p: {a: 1, b: [2, 3]} # x\n", "p.b", "p: {a: 1} # x\n"},
		{"the only one between brackets", "p: {a: 1}\nq: 1\n", "p.a", "q: 1\n"},
	} {
		got, removed, err := yamledit.Remove(tt.text, strings.Split(tt.path, "."))
		if err != nil || got != tt.want || removed != (tt.text != tt.want) {
			t.Errorf("%s: %v\n%q, want\n%q", tt.name, err, got, tt.want)
		}
	}
	for _, text := range []string{"a: &x {b: 1, c: 2}\nc: *x\n", "a: [\n", "a: {b: 1, # why\n c: 2}\n"} {
		if got, _, err := yamledit.Remove(text, []string{"a", "b"}); got != text && strings.Contains(got, "*x") || err != nil && got != text {
			t.Errorf("%q became %q, %v", text, got, err)
		}
	}
}

func FuzzPut(f *testing.F) {
	f.Add("packs: {web: off}\n", "git", "on")
	f.Add("packs:\n  - a # x\n", "x'y", "[1]")
	f.Add("packs:\n  web: |\n    a\n  git: \"x\n    y\" # z\n", "git", "x")
	f.Fuzz(func(t *testing.T, text, key, value string) {
		if strings.ContainsAny(value, "\n\r#") {
			return
		}
		if got, err := yamledit.Put(text, []string{"packs", key}, value); err != nil && got != text {
			t.Errorf("%q became %q: %v", text, got, err)
		}
		if got, _, err := yamledit.Remove(text, []string{"packs", key}); err != nil && got != text {
			t.Errorf("%q became %q: %v", text, got, err)
		}
	})
}
