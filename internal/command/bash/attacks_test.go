package bash

import (
	"testing"

	"cardea.dev/internal/testing/testrun"
)

// attacks are lines that bash reads in another way than a simpler analysis
// does. Each was allowed once, or is a sibling of one that was.
func attacks(t testing.TB) []testrun.Case {
	return testrun.Cases(t, "testdata/attacks.txt", 1)
}

// Every attack is either seen for what it starts and writes, or carries a spot.
func TestOracleAttacks(t *testing.T) {
	o := newOracle(t)
	o.compareCases(t, attacks(t))
	o.compareCases(t, testrun.Cases(t, "testdata/state.txt", 1))
}
