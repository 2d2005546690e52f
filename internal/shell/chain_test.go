package shell

import "testing"

func TestChained(t *testing.T) {
	for line, want := range map[string]int{
		"npm test": 1, "a && b && c": 3, "a 2>&1": 1, "X=1 a": 1, "a &&\nb": 2, "a # x": 1,
		"": -1, "a; b": -1, "a\nb": -1, "! a": -1, "a && ! b": -1, "a || b": -1, "a && b || c": -1, "a | b": -1, "a &": -1, "(a)": -1, "{ a; }": -1,
		"a() { b; }": -1, "a() { b; } && a": -1, "if a; then b; fi": -1, "a && (b)": -1, "time a": -1, "a '": -1, "[[ a ]] && b": -1, "declare a && b": -1,
	} {
		if got := Chained(line); got != want {
			t.Errorf("%q: %d, want %d", line, got, want)
		}
	}
}
