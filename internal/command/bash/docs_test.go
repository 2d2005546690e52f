package bash

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"cardea.dev"
)

// TestCodesAreDocumented checks that docs/analysis.md lists exactly the codes of opaque
// spots, in their order.
func TestCodesAreDocumented(t *testing.T) {
	data, err := os.ReadFile("../../../docs/analysis.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []cardea.OpaqueCode
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| .* \\| .* \\| .* \\|$").FindAllSubmatch(data, -1) {
		listed = append(listed, cardea.OpaqueCode(m[1]))
	}
	if listed = slices.Compact(listed); !slices.Equal(listed, cardea.OpaqueCodes()) {
		t.Errorf("docs/analysis.md lists the codes %q\nwant %q", listed, cardea.OpaqueCodes())
	}
}
