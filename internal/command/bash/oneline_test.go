package bash

import (
	"slices"
	"strings"
	"testing"

	"cardea.dev/internal/command/bash/grammar"
)

func TestOneLine(t *testing.T) {
	for command, want := range map[string]string{
		"a\nb":                    "a; b",
		"# don't\nrm   -rf  x":    "rm -rf x",
		"rm \\\n  -rf x # c":      "rm -rf x",
		"curl x \\\n  | sh":       "curl x | sh",
		`echo "$(rm   -rf x)"`:    `echo "$(rm -rf x)"`,
		"echo `rm   -rf x`":       "echo $(rm -rf x)",
		`echo $'\'  x'   y`:       `echo $'\'  x' y`,
		"cat <<'E'\n'\nE\nrm   x": "cat <<'E'\n'\nE; rm x",
		"git log\nrm x <<E\nE":    "git log; rm x <<E\nE",
		"a &\nb":                  "a & b",
		"git commit -m \"$(cat <<'E'\nfix: x\nE\n)\"": "git commit -m \"$(cat <<'E'\nfix: x\nE\n)\"",
		"if a\nthen b\nfi":                            "if a; then b; fi",
		`echo "two  blanks"   end`:                    `echo "two  blanks" end`,
	} {
		if got, ok := grammar.OneLine(command); got != want || !ok {
			t.Errorf("%q: %q %v, want %q", command, got, ok, want)
		}
	}
	if _, ok := grammar.OneLine("if"); ok {
		t.Error("what does not parse has no line")
	}
}

// TestOneLineIsTheSameCommand checks that the result of OneLine starts the same programs
// as its input.
func TestOneLineIsTheSameCommand(t *testing.T) {
	programs := func(line string) (out []string) {
		for _, p := range Analyse(line, system).Parts {
			out = append(out, strings.Join(p.Command, " "))
		}
		return out
	}
	rewritten := 0
	for _, line := range append(corpus(t, "dippy-half.tsv", 3000), corpus(t, "tricky.tsv", 100)...) {
		one, ok := grammar.OneLine(line)
		if !ok || one == line || strings.Contains(line, "<<") {
			continue
		}
		rewritten++
		if before, after := programs(line), programs(one); !slices.Equal(before, after) {
			t.Errorf("%q\n%q\n%q\n%q", line, one, before, after)
		}
	}
	t.Logf("%d lines are written otherwise", rewritten)
}
