package shell

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpus reads the first column of a file of the shared test data, whose
// escapes are \n, \t and \\.
func corpus(t *testing.T, name string) []string {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "corpus", name))
	if err != nil {
		if os.Getenv("CARDEA_SHARED") == "require" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	defer f.Close()
	var out []string
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		line, _, ok := strings.Cut(s.Text(), "\t")
		if ok && line != "" && line[0] != '#' {
			out = append(out, strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`).Replace(line))
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// The analysis does not get its soundness by giving up: at most three in a
// hundred everyday lines carry an opaque spot.
func TestEverydayLinesAreSeenThrough(t *testing.T) {
	lines, given := corpus(t, "dippy-half.tsv"), 0
	for _, line := range lines {
		if a := Analyse(line, world); opaque(a) {
			given++
			t.Logf("%q: %s", line, spots(a)[0])
		}
	}
	t.Logf("%d of %d lines carry an opaque spot", given, len(lines))
	if len(lines) < 3000 || given*100 > 3*len(lines) {
		t.Errorf("%d of %d lines carry an opaque spot", given, len(lines))
	}
}

// spots lists why a line is opaque.
func spots(a Analysis) []string {
	var out []string
	for _, o := range a.Opaque {
		out = append(out, o.Reason)
	}
	for _, p := range a.Parts {
		for _, o := range p.Opaque {
			out = append(out, o.Reason)
		}
	}
	return out
}
