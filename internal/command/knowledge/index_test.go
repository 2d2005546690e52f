package knowledge

import (
	"testing"

	"cardea.dev/internal/command/knowledge/form"
)

// TestIndexFindsWhatTheTableHas checks that a lookup finds every entry of the tables,
// and nothing else.
func TestIndexFindsWhatTheTableHas(t *testing.T) {
	if 2*len(holders) > holderBuckets {
		t.Fatalf("%d properties of programs are too many for an index of %d: double holderSlots", len(holders), holderBuckets)
	}
	has := map[form.Property]map[string]bool{}
	for _, h := range holders {
		if has[h.Property] == nil {
			has[h.Property] = map[string]bool{}
		}
		has[h.Property][h.Program] = true
	}
	for property, of := range has {
		for _, h := range holders {
			if Has(property, h.Program) != of[h.Program] {
				t.Errorf("Has(%s, %s) is %v", property, h.Program, !of[h.Program])
			}
		}
	}
	for _, name := range []string{"", "no such program"} {
		if Has(holders[0].Property, name) || Has("no such property", name) {
			t.Errorf("%q has a property", name)
		}
	}
}

// TestQuickLookAtWrappers checks that the quick test of a name agrees with the table.
func TestQuickLookAtWrappers(t *testing.T) {
	names := []string{"", "x", "no-such-wrapper", "an even longer name than the longest name of which a length is known by itself"}
	for _, w := range wrappers {
		for _, name := range w.Name {
			names = append(names, name, name+"x", name[1:], name+"-3.12")
		}
	}
	for _, name := range names {
		known := false
		for _, w := range wrappers {
			known = known || Matches(w.Name, name)
		}
		if (WrapperOf(name) != nil) != known {
			t.Errorf("WrapperOf(%q) is %v", name, WrapperOf(name))
		}
	}
}
