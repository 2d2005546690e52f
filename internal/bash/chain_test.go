package bash

import (
	"strings"
	"testing"
)

func TestLinks(t *testing.T) {
	for line, want := range map[string]string{
		"npm test": "npm test", "a && b && c": "a|b|c", "a 2>&1": "a 2>&1", "X=1  a": "X=1 a", "a &&\nb": "a|b", "a # x": "a",
		"": "", "a; b": "", "a\nb": "", "! a": "", "a && ! b": "", "a || b": "", "a && b || c": "", "a | b": "", "a &": "", "(a)": "", "{ a; }": "",
		"a() { b; }": "", "a() { b; } && a": "", "if a; then b; fi": "", "a && (b)": "", "time a": "", "a '": "", "[[ a ]] && b": "", "declare a && b": "",
	} {
		if got := strings.Join(Links(line), "|"); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestTidy(t *testing.T) {
	for line, same := range map[string]string{
		" npm  test ;": "npm test", "npm test # all": "npm test", "npm test&&npm run lint": "npm test && npm run lint", "a &&\n  b": "a && b",
		"a \\\n b": "a b", "( npm test )": "(npm test)", "a\nb": "a; b", "go vet ./... 2>& 1": "go vet ./... 2>&1", "a \"b  c\"": "a \"b  c\"",
	} {
		got, err := Tidy(line)
		want, wrong := Tidy(same)
		if err != nil || wrong != nil || got != want {
			t.Errorf("%q is %q (%v), %q is %q (%v)", line, got, err, same, want, wrong)
		}
	}
	for line, other := range map[string]string{
		"a 'b  c'": "a 'b c'", "a": "! a", "a; b": "a && b", "a b#c": "a b", "X=1 a": "a", "(a)": "a", "a 'x'": "a x", "a |& b": "a | b",
		"a <<E\nx  y\nE": "a <<E\nx y\nE",
	} {
		got, err := Tidy(line)
		if same, wrong := Tidy(other); err != nil || wrong != nil || got == same {
			t.Errorf("%q and %q are both %q (%v, %v)", line, other, got, err, wrong)
		}
	}
	for _, line := range []string{"", " # x", "a '", "a &", "a; b &", "coproc a"} {
		if got, err := Tidy(line); err == nil {
			t.Errorf("%q is %q", line, got)
		}
	}
}
