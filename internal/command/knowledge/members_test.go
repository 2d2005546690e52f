package knowledge

import (
	"slices"
	"testing"

	"cardea.dev"
)

// TestPatternOfALoop: what a loop over a pattern writes are the files that it finds.
func TestPatternOfALoop(t *testing.T) {
	world := &World{Names: func(string) ([]string, bool) { return []string{"lefthook.yml", "left.txt"}, true }}
	word := Word{Word: cardea.Word{Text: `"$f"`}, May: []string{"left*"}}
	for _, program := range []string{"tee", "truncate"} {
		m := Describe(Invocation{Words: []Word{Literal(program), word}, Paths: Paths{Dir: "/p"}, MayBecome: func(Word) []PossiblePath {
			return []PossiblePath{{Path: "/p/", Pattern: "/p/left*"}}
		}}, world)
		if !slices.ContainsFunc(m.Access, func(a cardea.Access) bool { return a.Kind == cardea.Write && a.Spelled == "/p/lefthook.yml" }) {
			t.Errorf("%s: %+v", program, m.Access)
		}
	}
}
