package rego

import (
	"context"
	"testing"

	"cardea.dev/internal/decide/policy/engine"
)

// Files are formatted as in OPA. Files that are empty or unreadable stay unchanged.
func TestFormat(t *testing.T) {
	for _, tt := range []struct {
		text, want string
		broken     bool
	}{
		{"package a\nimport rego.v1\nx={\"b\":1}\ny   =1 if { true }\n", "package a\n\nimport rego.v1\n\nx := {\"b\": 1}\ny := 1\n", false},
		{"\uFEFFpackage a\r\n\r\nx:=1\r\n", "package a\n\nx := 1\n", false},
		{"package a\n\n# why\nx := 1 # here\n", "package a\n\n# why\nx := 1 # here\n", false},
		{"#   nothing\n", "#   nothing\n", false},
		{"", "", false},
		{"package a\n\nx := {{{", "package a\n\nx := {{{", true},
		{"package a\n\ndeny[x] { x := 1 }\n", "package a\n\ndeny[x] { x := 1 }\n", true},
	} {
		got, err := Engine{}.Format(context.Background(), []engine.Source{{Path: "x.rego", Text: tt.text}})
		if err != nil || got[0].Text != tt.want || (got[0].Problems != nil) != tt.broken {
			t.Errorf("%q: %q, %v, %v", tt.text, got[0].Text, got[0].Problems, err)
		}
	}
}

// A change of the meaning is detected.
func TestSameMeaning(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"package a\nx := 1\n", "package a\n\nx = 1\n", true},
		{"package a\nx := 1\n", "package a\nx := 2\n", false},
		{"package a\nx := 1\n", "package b\nx := 1\n", false},
		{"package a\nimport data.b\nx := b\n", "package a\nimport data.c as b\nx := b\n", false},
		{"package a\nx := 1\ny := 1\n", "package a\nx := 1\n", false},
		{"# METADATA\n# title: T\npackage a\n", "# METADATA\n# title: U\npackage a\n", false},
		{"package a\nx := 1 if input.y else := 2\n", "package a\nx := 1 if input.y else := 3\n", false},
	} {
		a, err := parsedAs("a", tt.a)
		b, other := parsedAs("b", tt.b)
		if err != nil || other != nil {
			t.Fatal(err, other)
		}
		if got := sameMeaning(a, b); got != tt.same {
			t.Errorf("%q, %q: %v", tt.a, tt.b, got)
		}
	}
}
