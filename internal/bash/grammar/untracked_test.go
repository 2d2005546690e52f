package grammar

import "testing"

func TestUntracked(t *testing.T) {
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
		if got := Parse(line, false).Untracked; got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
