package shape_test

import (
	"slices"
	"strings"
	"testing"

	"cardea.dev/internal/command/knowledge"
	"cardea.dev/internal/command/knowledge/source"
)

// What command knowledge says of similar calls is so, and each of its entries has an
// example of what is similar and of what is not.
func TestExamplesOfKnowledge(t *testing.T) {
	files, problems, err := source.ReadFolder("../../../packs/commands")
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	b := newBench(t)
	for _, f := range files {
		for _, e := range f.Tests.Similar {
			for _, line := range e.Finds {
				if got := b.compare(e.Line, line); !got.Same {
					t.Errorf("%s:%d: %q is not similar to %q: %s", f.Path, e.At, line, e.Line, got.Words)
				}
			}
		}
		for _, e := range f.Tests.NotSimilar {
			for _, line := range e.Finds {
				if got := b.compare(e.Line, line); got.Same {
					t.Errorf("%s:%d: %q is similar to %q: %s", f.Path, e.At, line, e.Line, got.Words)
				}
			}
		}
		for _, s := range f.Similar {
			for name, list := range map[string][]source.Example{"similar": f.Tests.Similar, "not_similar": f.Tests.NotSimilar} {
				if !slices.ContainsFunc(list, func(e source.Example) bool {
					return slices.ContainsFunc(s.Commands, func(c string) bool { return strings.HasPrefix(e.Line+" ", c+" ") })
				}) {
					t.Errorf("%s: no example of %s for %s", f.Path, name, strings.Join(s.Commands, ", "))
				}
			}
		}
	}
}

// An entry is about a program that is described: otherwise the value of an option would be
// taken for an operand.
func TestCommandsAreKnown(t *testing.T) {
	for _, c := range knowledge.SimilarCommands() {
		if name, _, _ := strings.Cut(c, " "); !knowledge.IsKnown(name) {
			t.Errorf("%s is not described in packs/commands", c)
		}
	}
}
