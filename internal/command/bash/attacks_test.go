package bash

import (
	"testing"

	"cardea.dev/internal/testing/testrun"
)

// attacks returns lines that bash reads in another way than a simpler analysis does.
// Each was allowed once, or is similar to one that was.
func attacks(t testing.TB) []testrun.Case {
	return testrun.Cases(t, "testdata/attacks.txt", 1)
}

// TestOracleAttacks checks that the analysis of every attack has all that it starts and
// writes, or an opaque spot.
func TestOracleAttacks(t *testing.T) {
	o := newOracle(t)
	o.compareCases(t, attacks(t))
	o.compareCases(t, testrun.Cases(t, "testdata/state.txt", 1))
}
