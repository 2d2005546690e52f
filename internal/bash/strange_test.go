package bash

import (
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"cardea.dev/internal/bash/generate"
)

// A quick look at the text misses no strange construct.
func TestStrangeTexts(t *testing.T) {
	g, seen := generate.New(7), 0
	for range 4000 {
		line, _ := g.Line()
		f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
		if err != nil || !strange(f.Stmts) {
			continue
		}
		if seen++; !mayBeStrange(line) {
			t.Errorf("%q", line)
		}
	}
	if seen < 100 {
		t.Errorf("only %d strange lines", seen)
	}
	for line, want := range map[string]bool{
		`: "${PORT:=3000}"; echo $PORT`:                  false,
		"echo ${PORT:=3000}":                             true,
		"i=0; while ((i++ < 3)); do echo $i; done":       false,
		"for ((i=0; i<3; i++)); do echo $i; done":        false,
		"x=$((i++)); echo $((x + 1))":                    false,
		"((a && (b=1)))":                                 true,
		"f() { local n=$1; echo $((n + 1)); }; f 2":      false,
		"f() { if a; then local n=1; fi; }; f":           true,
		"f( ) { a; }; f(\t) { b; }; f":                   true,
		"let n=1 m=2":                                    false,
		"exec {fd}>x":                                    true,
		"cat <<< $((a=1))":                               true,
		"git commit -m x && npm test 2>&1 | tail -5":     false,
		"declare -A m=([a]=1); export X=1; readonly Y=2": false,
	} {
		f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
		if err != nil {
			t.Fatal(err)
		}
		if got := mayBeStrange(line) && strange(f.Stmts); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
