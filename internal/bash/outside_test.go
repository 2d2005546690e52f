package bash

import (
	"testing"

	"cardea.dev"
)

// surely reports whether everything is known that the parts of a line do,
// apart from those without access.
func surely(line string) bool {
	for _, p := range Analyse(line, Env{Cwd: "/work/p", Home: "/home/u"}).Parts {
		if !p.NoEffect && p.Knowledge != cardea.Complete {
			return false
		}
	}
	return true
}

func TestOutsiders(t *testing.T) {
	for _, line := range []string{"cat a.txt", "cat \"$HOME/x\"", "x=1; cat a$x", "for f in a b; do cat \"$f\"; done", "cat <<EOF\nx $PWD\nEOF", "cat <<'EOF'\n$TOKEN\nEOF", "cat '$TOKEN'", "CI=1; cat a$CI", "((x=1)); cat \"a$x\"", "for ((i=0; i<3; i++)); do cat \"a$i\"; done"} {
		if !surely(line) {
			t.Errorf("not certain: %q", line)
		}
	}
	for _, line := range []string{"cat a.txt; echo $TOKEN", "cat a.txt \"$TOKEN\"", "cat <<EOF\n$TOKEN\nEOF", "cat <<< $TOKEN", "cat <<< \"${TOKEN:-x}\"", "x=$TOKEN; cat a.txt", "x=a$TOKEN; cat a.txt <<< $x",
		"cat 3<<EOF <&3\n$TOKEN\nEOF", "for x in $TOKEN; do cat <<< $x; done", "cat a.txt $(echo \"$TOKEN\")", "cat a.txt | while read x; do cat <<< $TOKEN; done", "for i in 1 2; do cat <<< $x; x=$TOKEN; done",
		"cat <<< ${TOKEN:0:4}", "cat <<< ${TOKEN/a/b}", "cat <<< ${TOKEN@Q}", "bash -c 'cat <<< $TOKEN'", "cat a$((PIN))", "((x=PIN)); cat a"} {
		if surely(line) {
			t.Errorf("certain: %q", line)
		}
	}
}

func TestFits(t *testing.T) {
	for _, tt := range []struct {
		word, pattern string
		want          bool
	}{{"@x", "@*", true}, {"x@", "@*", false}, {"a=b", "*=*", true}, {"=", "*=*", true}, {"ab", "*=*", false}, {"x.yml", "*.yml", true}, {"x", "x", true}, {"xy", "x", false}} {
		if got := fits(tt.word, tt.pattern); got != tt.want {
			t.Errorf("fits(%q, %q) = %v", tt.word, tt.pattern, got)
		}
	}
}
