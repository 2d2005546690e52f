package knowledge

import (
	"slices"
	"testing"

	"cardea.dev"
)

// TestPatternOfALoop checks that a loop over a pattern writes the files that match it.
func TestPatternOfALoop(t *testing.T) {
	system := &System{Names: func(string) ([]string, bool) { return []string{"lefthook.yml", "left.txt"}, true }}
	word := Word{Word: cardea.Word{Text: `"$f"`}, May: []string{"left*"}}
	for _, program := range []string{"tee", "truncate"} {
		m := Describe(Invocation{Words: []Word{Literal(program), word}, Paths: Paths{Dir: "/p"}, MayBecome: func(Word) []PotentialPath {
			return []PotentialPath{{Path: "/p/", Pattern: "/p/left*"}}
		}}, system)
		if !slices.ContainsFunc(m.Access, func(a cardea.Access) bool { return a.Kind == cardea.Write && a.Spelled == "/p/lefthook.yml" }) {
			t.Errorf("%s: %+v", program, m.Access)
		}
	}
}
