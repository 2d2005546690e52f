package yamledit_test

import (
	"strings"
	"testing"

	"cardea.dev/internal/base/document/yamledit"
)

func TestSet(t *testing.T) {
	for _, tt := range []struct {
		name, text, path, value, want string
		result                        yamledit.Result
	}{
		{"an empty file", "", "packs.git", "off", "packs:\n  git: off\n", yamledit.Added},
		{
			"only comments",
			"# mine\n# packs: {}",
			"packs.git",
			"off",
			"# mine\n# packs: {}\npacks:\n  git: off\n",
			yamledit.Added,
		},
		{
			"a new key",
			"version: 1 # one\n",
			"on_error",
			"deny",
			"version: 1 # one\non_error: deny\n",
			yamledit.Added,
		},
		{
			"beside comments",
			"packs: # what\n  # why\n  web: off\nx: 1\n",
			"packs.git",
			"off",
			"packs: # what\n  git: off\n  # why\n  web: off\nx: 1\n",
			yamledit.Added,
		},
		{
			"another indentation",
			"packs:\n     web: off\n",
			"packs.git",
			"off",
			"packs:\n     git: off\n     web: off\n",
			yamledit.Added,
		},
		{
			"between brackets",
			"packs: {web: off} # it's\n",
			"packs.git",
			"off",
			"packs: {web: off, git: off} # it's\n",
			yamledit.Added,
		},
		{
			"over several lines",
			"packs: {\n  web: 'o}ff', # }\n}\n",
			"packs.git",
			"off",
			"packs: {\n  web: 'o}ff', # }\n git: off}\n",
			yamledit.Added,
		},
		{
			"empty brackets",
			"packs: {}\n",
			"packs.git",
			"off",
			"packs: {git: off}\n",
			yamledit.Added,
		},
		{
			"nothing below the key",
			"packs: # none\nx: 1\n",
			"packs.git",
			"off",
			"packs: # none\n  git: off\nx: 1\n",
			yamledit.Added,
		},
		{"the same", "packs: {git: off}\n", "packs.git", "off", "", yamledit.Same},
		{"another value", "packs: {git: on}\n", "packs.git", "off", "", yamledit.Cached},
		{"no map", "packs: on\n", "packs.git", "off", "", yamledit.Cached},
		{
			"deep",
			"a: {b: {c: 1}}\n",
			"a.b.d",
			"{e: [1]}",
			"a: {b: {c: 1, d: {e: [1]}}}\n",
			yamledit.Added,
		},
		{
			"a whole flow file",
			"{version: 1}\n",
			"a.b",
			"x",
			"{version: 1, a: {b: x}}\n",
			yamledit.Added,
		},
		{"letters of several bytes", "é: {ü: {}, ö: 1}\n", "é.ä", "x", "", yamledit.Added},
	} {
		got, result, err := yamledit.Set(tt.text, strings.Split(tt.path, "."), tt.value)
		if tt.want == "" {
			tt.want = tt.text
		}
		if err != nil || result != tt.result || got != tt.want && !strings.Contains(tt.name, "bytes") {
			t.Errorf("%s: %d %v\n%s", tt.name, result, err, got)
		}
	}
}

func TestAppend(t *testing.T) {
	for _, tt := range []struct{ text, path, items, want string }{
		{"", "policies.checks", "a|b", "policies:\n  checks:\n    - a\n    - b\n"},
		{"policies:\n  checks:\n  - a # mine\n", "policies.checks", "a|b", "policies:\n  checks:\n  - b\n  - a # mine\n"},
		{"policies: {checks: [a]}\n", "policies.checks", "'b, c'|a", "policies: {checks: [a, 'b, c']}\n"},
		{"policies: {checks: [a]}\n", "policies.checks", "a", "policies: {checks: [a]}\n"},
		{"policies: {context: [a]}\n", "policies.checks", "a", "policies: {context: [a], checks: [a]}\n"},
	} {
		got, _, err := yamledit.Append(tt.text, strings.Split(tt.path, "."), strings.Split(tt.items, "|"))
		if err != nil || got != tt.want {
			t.Errorf("%q: %v\n%s", tt.text, err, got)
		}
	}
}

// TestNothingIsBroken checks that a file that cannot be extended is left as it is.
func TestNothingIsBroken(t *testing.T) {
	for _, text := range []string{
		"a: 1\n---\nb: 2\n",
		"[1]\n",
		"a: [\n",
		"a: 1\n...\n",
		"packs: &x {web: off}\ny: *x\npacks2: *x\n",
		"packs: *none\n",
	} {
		got, result, err := yamledit.Set(text, []string{"packs", "git"}, "off")
		if err == nil && result == yamledit.Added && !strings.Contains(got, "git: off") || err != nil && got != text {
			t.Errorf("%q: %d %v %q", text, result, err, got)
		}
	}
}

func FuzzSet(f *testing.F) {
	f.Add("packs: {web: off}\n", "git")
	f.Add("packs:\n  - a\n", "x'y")
	f.Fuzz(func(t *testing.T, text, key string) {
		got, result, err := yamledit.Set(text, []string{"packs", key}, "off")
		if (err != nil || result != yamledit.Added) && got != text {
			t.Errorf("%q became %q", text, got)
		}
	})
}
