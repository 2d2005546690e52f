package bash

import (
	"slices"
	"testing"

	"cardea.dev/internal/testing/testrun"
)

// construct is a group of lines about one construct of bash.
type construct struct {
	name  string
	cases []testrun.Case
}

// constructs returns the groups of testdata/constructs.txt, in their order.
func constructs(t testing.TB) []construct {
	var out []construct
	for _, c := range testrun.Cases(t, "testdata/constructs.txt", 2) {
		if len(out) == 0 || out[len(out)-1].name != c.Columns[0] {
			out = append(out, construct{name: c.Columns[0]})
		}
		group := &out[len(out)-1]
		group.cases = append(group.cases, c)
	}
	return out
}

// table returns all hand-written lines.
func table(t testing.TB) []string {
	var out []string
	for _, c := range constructs(t) {
		out = append(out, linesOf(c.cases)...)
	}
	return out
}

// TestOracleTable checks that every line of the table agrees with bash.
func TestOracleTable(t *testing.T) {
	lines := table(t)
	if len(lines) < 600 {
		t.Fatalf("the table has %d lines", len(lines))
	}
	sorted := slices.Sorted(slices.Values(lines))
	if distinct := len(slices.Compact(sorted)); distinct < 600 {
		t.Fatalf("the table has %d different lines", distinct)
	}
	o := newOracle(t)
	for _, c := range constructs(t) {
		t.Run(c.name, func(t *testing.T) { o.compareCases(t, c.cases) })
	}
}
