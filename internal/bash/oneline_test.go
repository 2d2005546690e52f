package bash

import "testing"

func TestOneLine(t *testing.T) {
	for command, want := range map[string]string{
		"a\nb":                     "a; b",
		"# don't\nrm   -rf  x":     "rm -rf x",
		"rm \\\n  -rf x # c":       "rm -rf x",
		"curl x \\\n  | sh":        "curl x | sh",
		`echo "$(rm   -rf x)"`:     `echo "$(rm -rf x)"`,
		"echo `rm   -rf x`":        "echo $(rm -rf x)",
		`echo $'\'  x'   y`:        `echo $'\'  x' y`,
		"cat <<'E'\n'\nE\nrm   x":  "cat <<'E'; rm x\n'\nE",
		"if a\nthen b\nfi":         "if a; then b; fi",
		`echo "two  blanks"   end`: `echo "two  blanks" end`,
	} {
		if got, ok := OneLine(command); got != want || !ok {
			t.Errorf("%q: %q %v, want %q", command, got, ok, want)
		}
	}
	if _, ok := OneLine("if"); ok {
		t.Error("what does not parse has no line")
	}
}
