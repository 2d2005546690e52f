package bash

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"cardea.dev"
	"cardea.dev/internal/command/bash/generate"
	"cardea.dev/internal/testing/testrun"
)

// TestOracleGenerated compares random lines with bash: those of a fixed seed, and those
// of the day. CARDEA_ORACLE_LINES sets the number of lines of one seed instead,
// CARDEA_ORACLE_SEED its seed.
func TestOracleGenerated(t *testing.T) {
	lines, seeds := testrun.Pick(300, 1000), []int64{1, int64(time.Now().Year()*10000) + int64(time.Now().Month()*100) + int64(time.Now().Day())}
	if n, err := strconv.Atoi(os.Getenv("CARDEA_ORACLE_LINES")); err == nil {
		lines, seeds = n, seeds[:1]
	}
	if n, err := strconv.ParseInt(os.Getenv("CARDEA_ORACLE_SEED"), 10, 64); err == nil {
		seeds = []int64{n}
	}
	for _, seed := range seeds {
		t.Run("seed "+strconv.FormatInt(seed, 10), func(t *testing.T) { generated(t, seed, lines) })
	}
}

// TestGeneratedLinesAreSeenThrough checks that the analysis is not sound by giving up:
// of lines with fixed command names, at least 95 % have no opaque spot.
func TestGeneratedLinesAreSeenThrough(t *testing.T) {
	g := generate.New(1)
	plain, given, unusual := 0, 0, 0
	all := testrun.Pick(4000, 20000)
	for range all {
		line, dynamic := g.Line()
		if dynamic {
			continue
		}
		a := Analyse(line, oracleWorlds(nowhereToRun)[0])
		if slices.ContainsFunc(a.Opaque, func(o cardea.Opaque) bool { return o.Code == cardea.OpaqueZsh }) {
			unusual++ // zsh reads another line
			continue
		}
		plain++
		if opaque(a) {
			given++
		}
	}
	if unusual*8 > plain {
		t.Errorf("%d lines beside %d have a construct that is not followed", unusual, plain)
	}
	t.Logf("%d of %d lines carry an opaque spot (%.1f %%)", given, plain, 100*float64(given)/float64(plain))
	if given*100 > 10*plain || plain < all/2 {
		t.Errorf("%d of %d lines carry an opaque spot", given, plain)
	}
}

func generated(t *testing.T, seed int64, lines int) {
	g, begin := generate.New(seed), time.Now()
	o := newOracle(t)
	reasons, samples := map[string]int{}, map[string]string{}
	var list []string
	plain, given := 0, 0
	counts := nodeCounts{}
	for range lines {
		line, dynamic := g.Line()
		counts.add(line)
		list = append(list, line)
		if dynamic {
			continue
		}
		why := spots(Analyse(line, oracleWorlds(nowhereToRun)[0]))
		if slices.ContainsFunc(why, func(o cardea.Opaque) bool { return o.Code == cardea.OpaqueZsh }) {
			continue // zsh reads another line
		}
		plain++
		if len(why) > 0 {
			given++
			reasons[why[0].Reason]++
			if samples[why[0].Reason] == "" || len(line) < len(samples[why[0].Reason]) {
				samples[why[0].Reason] = line
			}
		}
	}
	t.Logf("%d of %d lines without a dynamic command name carry an opaque spot (%.1f %%)", given, plain, 100*float64(given)/float64(plain))
	for _, reason := range slices.SortedFunc(maps.Keys(reasons), func(a, b string) int { return reasons[b] - reasons[a] }) {
		t.Logf("%6d %s: %q", reasons[reason], reason, samples[reason])
	}
	if lines >= 20000 && given*100 > 5*plain {
		t.Errorf("%d of %d lines without a dynamic command name carry an opaque spot", given, plain)
	}
	o.compare(t, list)
	o.tell(t, lines, begin)
	if lines >= 200000 {
		for _, name := range nodeTypes(t) {
			if counts[name] < 100 {
				t.Errorf("%s: %d times", name, counts[name])
			}
		}
		t.Logf("\n%s", counts.list())
	}
}
