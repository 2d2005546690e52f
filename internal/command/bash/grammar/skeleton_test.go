package grammar_test

import (
	"testing"

	"cardea.dev/internal/command/bash/grammar"
)

// TestSkeleton checks that the skeleton has the constructs of the shell, but not the
// words of commands.
func TestSkeleton(t *testing.T) {
	same := [][2]string{
		{"pytest tests/a", "pytest   tests/b"},
		{"git commit -m 'a'", `git commit -m "b c"`},
		{"cd web && npm test 2>&1 | tail -5", "cd api && npm test  2>&1|tail -5"},
		{"pytest tests/a", "'pytest' tests/b"},
		{"a\nb", "a; b"},
	}
	for _, c := range same {
		a, ok := grammar.Skeleton(c[0])
		b, ok2 := grammar.Skeleton(c[1])
		if !ok || !ok2 || a != b {
			t.Errorf("%q and %q have the skeletons %q and %q", c[0], c[1], a, b)
		}
	}
	const line = "pytest tests/a"
	want, _ := grammar.Skeleton(line)
	for _, other := range []string{
		"pytest tests/a &",
		"! pytest tests/a",
		"(pytest tests/a)",
		"{ pytest tests/a; }",
		"pytest tests/a > x",
		"pytest tests/a 2>&1",
		"pytest tests/a < x",
		"pytest tests/a <<< x",
		"pytest tests/a <<E\nx\nE",
		"X=1 pytest tests/a",
		"pytest tests/a; a",
		"pytest tests/a | a",
		"pytest tests/a || a",
		"if a; then pytest tests/a; fi",
		"for x in a; do pytest tests/a; done",
		"while a; do pytest tests/a; done",
		"f() { pytest tests/a; }",
		"pytest tests/a $(a)",
		"case x in x) pytest tests/a;; esac",
		"time pytest tests/a",
		"coproc pytest tests/a",
		"[[ a ]] && pytest tests/a",
		"((1)) && pytest tests/a",
		"x=1",
		"if",
	} {
		got, ok := grammar.Skeleton(other)
		if other == "pytest tests/a $(a)" {
			continue // a word of the command: the parts in it are compared
		}
		if ok && got == want {
			t.Errorf("%q has the skeleton of %q: %q", other, line, got)
		}
	}
	for _, c := range [][2]string{{"for x in a; do y; done", "for x in b; do y; done"}, {"a <<E\nx\nE", "a <<E\ny\nE"}, {"a > x", "a > y"}, {"a > x", "a >> x"},
		{"X=1 a", "X=2 a"}, {"a && b", "a || b"}, {"a | b", "a |& b"}, {"a; b", "a & b"}, {"[[ -f x ]] && a", "[[ -f y ]] && a"}} {
		a, _ := grammar.Skeleton(c[0])
		if b, _ := grammar.Skeleton(c[1]); a == b {
			t.Errorf("%q and %q have the same skeleton %q", c[0], c[1], a)
		}
	}
}
