package bash

import (
	"testing"

	"cardea.dev"
	"cardea.dev/internal/command/knowledge"
)

// surely reports whether all parts of a line are completely known, except those without access.
func surely(line string) bool {
	for _, p := range Analyse(line, Env{Cwd: "/work/p", System: knowledge.System{Home: "/home/u"}}).Parts {
		if !p.NoEffect && p.Knowledge != cardea.Complete {
			return false
		}
	}
	return true
}

func TestOutsiders(t *testing.T) {
	for _, line := range []string{
		"cat a.txt",
		"cat \"$HOME/x\"",
		"x=1; cat a$x",
		"for f in a b; do cat \"$f\"; done",
		"cat <<EOF\nx $PWD\nEOF",
		"cat <<'EOF'\n$TOKEN\nEOF",
		"cat '$TOKEN'",
		"CI=1; cat a$CI",
		"((x=1)); cat \"a$x\"",
		"for ((i=0; i<3; i++)); do cat \"a$i\"; done",
	} {
		if !surely(line) {
			t.Errorf("not certain: %q", line)
		}
	}
	for _, line := range []string{
		"cat a.txt; echo $TOKEN",
		"cat a.txt \"$TOKEN\"",
		"cat <<EOF\n$TOKEN\nEOF",
		"cat <<< $TOKEN",
		"cat <<< \"${TOKEN:-x}\"",
		"x=$TOKEN; cat a.txt",
		"x=a$TOKEN; cat a.txt <<< $x",
		"cat 3<<EOF <&3\n$TOKEN\nEOF",
		"for x in $TOKEN; do cat <<< $x; done",
		"cat a.txt $(echo \"$TOKEN\")",
		"cat a.txt | while read x; do cat <<< $TOKEN; done",
		"for i in 1 2; do cat <<< $x; x=$TOKEN; done",
		"cat <<< ${TOKEN:0:4}",
		"cat <<< ${TOKEN/a/b}",
		"cat <<< ${TOKEN@Q}",
		"bash -c 'cat <<< $TOKEN'",
		"cat a$((PIN))",
		"((x=PIN)); cat a",
	} {
		if surely(line) {
			t.Errorf("certain: %q", line)
		}
	}
}

// TestVariablesFromOutside checks that a part that shows a variable from outside the
// line is not without effect.
func TestVariablesFromOutside(t *testing.T) {
	for line, null := range map[string]bool{`: "$TOKEN"`: true, `[ -n "$TOKEN" ]`: true, `: ${x:?$TOKEN}`: false, `x=${y?$TOKEN}`: false, `test "$TOKEN" -gt 0`: false,
		`[ "$TOKEN" -eq 0 ]`: false, `set -x; : $TOKEN`: false, `set -o xtrace; : $TOKEN`: false, `bash -xc ': $TOKEN'`: false, `x=1; : ${x:?$HOME}`: true, `[ "$RANDOM" -gt 0 ]`: true, `set -x; :`: true} {
		for _, p := range Analyse(line, system).Parts {
			if p.Text != "set -x" && p.Text != "set -o xtrace" && p.NoEffect != null {
				t.Errorf("%s: %q is null: %t", line, p.Text, p.NoEffect)
			}
		}
	}
}
