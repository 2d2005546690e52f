package bash

import (
	"fmt"
	"strings"
	"testing"
)

// FuzzAnalyse checks that the analysis of any line ends, does not panic, gives the same
// answer twice, and shows something for text other than blanks and comments.
func FuzzAnalyse(f *testing.F) {
	for _, line := range []string{
		"git add . && git push --force",
		"timeout 30 npm test 2>&1 | tee x",
		"echo hi # \\\nrm x",
		"bash -c '$0 -rf /' rm",
		"a=(b c); \"${a[@]}\"",
		"f() { f; }; f",
		"cat <<E\n$(a)\nE",
		"[[ a -eq 'b[$(c)]' ]]",
		"for ((i=0;i<3;i++)); do a $((i)); done",
		"{a,{b,c}}{1..3}",
		"find . -exec a {} \\;",
		"env -S 'a b'",
		"x=$'\\x41'; $x ${x:-$(y)}",
		"trap 'a' EXIT",
		"alias a=b; a",
		"case x in a) b;; esac",
		"exec {fd}<<< a",
		"a | b | sh",
		"\x00",
		"\r",
		"$((",
		"`",
		"!(x)",
		"${!x}",
		"docker run -it x y",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		a := Analyse(line, system)
		if b := Analyse(line, system); fmt.Sprint(a) != fmt.Sprint(b) {
			t.Fatalf("two answers for %q:\n%v\n%v", line, a, b)
		}
		for _, p := range a.Parts {
			for _, acc := range p.Access {
				if acc.Path != "" && !strings.HasPrefix(acc.Path, "/") {
					t.Fatalf("%q: the path %q is not absolute", line, acc.Path)
				}
			}
			for _, i := range p.Operands {
				if i <= 0 || i >= len(p.Argv) {
					t.Fatalf("%q: operand %d of %v", line, i, p.Argv)
				}
			}
			if p.NoEffect && len(p.Opaque)+len(p.Access) > 0 {
				t.Fatalf("%q: a null part with access or spots: %+v", line, p)
			}
		}
	})
}

// FuzzOracle checks that everything that bash starts is among the parts, for any bytes.
// Lines that could reach files outside of the test are skipped.
func FuzzOracle(f *testing.F) {
	o := newOracle(f)
	for _, c := range constructs(f) {
		f.Add(c.cases[len(c.cases)/2].Text())
	}
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) > 2000 || wild.MatchString(line) {
			return
		}
		if why := o.unsound(t, line); why != "" && o.unsound(t, line) != "" {
			t.Fatalf("%q: %s", line, why)
		}
	})
}
