package knowledge

import (
	"slices"
	"strings"
	"testing"

	"cardea.dev"
)

// TestArchivesByPattern checks that unzip and 7z read the name of an archive as a pattern.
func TestArchivesByPattern(t *testing.T) {
	system := &System{
		Names:   func(string) ([]string, bool) { return []string{"a.zip", "b.zip"}, true },
		IsNew:   func(name string) bool { return name != "/p/a.zip" && name != "/p/b.zip" },
		Members: func(name string) ([]string, bool) { return []string{".hooks/x"}, name == "/p/b.zip" },
		IsDir:   func(string) bool { return false },
	}
	for line, want := range map[string]bool{
		"unzip b.zip": true, "unzip '*.zip'": true, "unzip 'b?zip' *x*": true, "7z x '[b].*'": true, "unzip 'c*'": false, "unzip c.zip": false,
	} {
		inv := Invocation{Paths: Paths{Dir: "/p"}}
		for _, w := range strings.Fields(line) {
			inv.Words = append(inv.Words, Literal(strings.Trim(w, "'")))
		}
		m := Describe(inv, system)
		got := slices.ContainsFunc(m.Potential.Touch, func(a cardea.Access) bool { return a.Path == "/p/.hooks/x" })
		if got != want {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
}
