package bash

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/testing/sharedtest"
)

// corpus reads the lines of a corpus.
func corpus(t *testing.T, name string, enough int) []string {
	t.Helper()
	var out []string
	for _, line := range sharedtest.Corpus(t, name, enough) {
		out = append(out, line.Command)
	}
	return out
}

// TestEverydayLinesAreSeenThrough checks that the analysis is not sound by giving up: at
// most three in a hundred everyday lines have an opaque spot.
func TestEverydayLinesAreSeenThrough(t *testing.T) {
	lines, given := corpus(t, "dippy-half.tsv", 3000), 0
	for _, line := range lines {
		if a := Analyse(line, system); opaque(a) {
			given++
			t.Logf("%q: %s", line, spots(a)[0].Reason)
		}
	}
	t.Logf("%d of %d lines carry an opaque spot", given, len(lines))
	if given*100 > 3*len(lines) {
		t.Errorf("%d of %d lines carry an opaque spot", given, len(lines))
	}
}

// spots returns the reasons why a line is opaque.
func spots(a Analysis) []cardea.Opaque {
	out := slices.Clone(a.Opaque)
	for _, p := range a.Parts {
		out = append(out, p.Opaque...)
	}
	return out
}

// systemWord matches a word that may name a program or a file of the machine.
var systemWord = regexp.MustCompile(`[\w./+-]+`)

// tamed returns a line in which every program of this machine has another name, so that
// only stubs can start, whatever the line does to PATH. It also returns the names of
// these stubs, or false if the line uses something that cannot be replaced.
func (o *oracle) tamed(line string) (string, []string, bool) {
	var names []string
	tame := systemWord.ReplaceAllStringFunc(line, func(word string) string {
		if o.known[word] && !strings.Contains(" rm ls git npm touch id ", " "+word+" ") {
			return word
		}
		if _, err := exec.LookPath(word); err != nil || word == "." || word == ".." || strings.HasSuffix(word, "/") {
			return word
		}
		name := "z" + strings.NewReplacer("/", "_", ".", "_").Replace(word)
		names = append(names, name)
		return name
	})
	return tame, names, !wild.MatchString(tame)
}

// TestOracleTricky checks lines that fool other gates: the analysis of every tricky line
// whose programs can be stubbed agrees with bash.
func TestOracleTricky(t *testing.T) {
	o := newOracle(t)
	var lines []string
	all := corpus(t, "tricky.tsv", 100)
	for _, line := range all {
		tame, names, ok := o.tamed(line)
		if !ok {
			continue
		}
		for _, name := range names {
			o.stub(t, name, record)
		}
		lines = append(lines, tame)
	}
	t.Logf("%d of %d lines can be stubbed", len(lines), len(all))
	if sharedtest.Available(t) && len(lines) < 120 {
		t.Errorf("only %d of %d lines can be stubbed", len(lines), len(all))
	}
	o.compare(t, lines)
}
