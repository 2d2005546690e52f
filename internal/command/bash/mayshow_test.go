package bash

import (
	"testing"

	"cardea.dev"
)

// TestMayShowTheEnvironment checks that a variable from outside that the line may also
// set still shows the value of the environment.
func TestMayShowTheEnvironment(t *testing.T) {
	for _, line := range []string{
		"false && MY_TOKEN=x; echo $MY_TOKEN",
		"true || MY_TOKEN=x; echo $MY_TOKEN",
		"if false; then MY_TOKEN=x; fi; echo $MY_TOKEN",
		"case a in b) MY_TOKEN=x;; esac; echo $MY_TOKEN",
		"for i in; do MY_TOKEN=1; done; echo $MY_TOKEN",
		"while false; do MY_TOKEN=x; done; echo $MY_TOKEN",
		"((0 && (MY_TOKEN=1))); echo $MY_TOKEN",
		"false && MY_TOKEN=1; echo $((MY_TOKEN))",
		"declare -r MY_TOKEN; echo $MY_TOKEN",
		"f() { return; MY_TOKEN=x; }; f; echo $MY_TOKEN",
		"a() { :; }; a() { :; }; echo $MY_TOKEN",
		`let "1/0" x=1; echo $MY_TOKEN`,
		"true {fd}>&1; echo $MY_TOKEN",
		`[ -n "${x:=1}" ]; echo $MY_TOKEN`,
		"echo $((1 && (x=1))); echo $MY_TOKEN",
		"trap 'x=1' INT; echo $MY_TOKEN",
		"false && unset MY_TOKEN; echo $MY_TOKEN",
		"f() { local MY_TOKEN=x; }; f; echo $MY_TOKEN",
		"f() { declare -g MY_TOKEN; echo $MY_TOKEN; }; f",
		"f() { local -I MY_TOKEN; echo $MY_TOKEN; }; f",
		"readonly MY_TOKEN; unset MY_TOKEN; echo $MY_TOKEN",
		"readonly MY_TOKEN; f() { local MY_TOKEN=a; echo $MY_TOKEN; }; f",
		`f() { local MY_TOKEN; bash -c 'echo $MY_TOKEN'; }; f`,
		"true && { MY_TOKEN=x; false; } || echo $MY_TOKEN",
	} {
		a := Analyse(line, system)
		if last := a.Parts[len(a.Parts)-1]; last.Knowledge == cardea.Complete && !opaque(a) {
			t.Errorf("%q: nothing says that it may show the variable", line)
		}
	}
	for _, line := range []string{"x=a; false && x=b; echo $x", "MY_TOKEN=x; echo $MY_TOKEN", "MY_TOKEN=$(date); echo $MY_TOKEN", "n=0; while [ $n -lt 3 ]; do n=$((n+1)); done; echo $n"} {
		a := Analyse(line, system)
		if last := a.Parts[len(a.Parts)-1]; last.Knowledge != cardea.Complete {
			t.Errorf("%q: %s", line, last.Doubt)
		}
	}
}
