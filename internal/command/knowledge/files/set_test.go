package files

import (
	"strings"
	"testing"

	"cardea.dev/internal/base/paths"
)

// TestNeededPiece checks that the quick test of a path never rejects a path that the
// pattern matches.
func TestNeededPiece(t *testing.T) {
	fillings := []string{"", "x", "rsa", ".a", "ä-b.c"}
	tried := 0
	for _, l := range lists {
		for _, glob := range append([]string{"a[bc]d*.key", `a\*b*cd`, "*"}, l.globs...) {
			e := newEntry(glob)
			for _, fill := range fillings {
				for _, deep := range []string{"", "/d", "/d/e"} {
					p := "/r" + deep + "/" + strings.NewReplacer("~/", "", "/**", deep+"/below", "**/", "", "*", fill, "?", "y", "[bc]", "b", `\`, "").Replace(strings.Trim(glob, "/")) + deep
					segs := paths.Segments(strings.ToLower(p))
					want := e.Match(segs)
					for n := len(segs) - 1; e.folder && n > 0; n-- {
						want = want || e.Match(segs[:n])
					}
					if want {
						tried++
					}
					if got := e.names(pathOf(p)); got != want {
						t.Errorf("%s and %s: %v", glob, p, got)
					}
				}
			}
		}
	}
	if tried < len(lists)*len(fillings) {
		t.Errorf("only %d paths were named", tried)
	}
}
