package dialect

import "cardea.dev/internal/harness"

// Find returns the adapter of a harness, nil for none.
func Find(name string) *Dialect {
	name = harness.Canonical(name)
	for _, d := range all {
		if d.name == name {
			return d
		}
	}
	return nil
}
