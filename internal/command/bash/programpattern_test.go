package bash

import (
	"slices"
	"testing"

	"cardea.dev"
)

// TestProgramPattern checks the pattern of a program's name that is only known when the
// line runs.
func TestProgramPattern(t *testing.T) {
	for line, want := range map[string]string{
		"/usr/bin/gi? push":       "gi?",
		`"/usr/bin/"*it push`:     "*it",
		"g[i]t push":              "g[i]t",
		"$x push":                 "*",
		"$BIN/git push":           "git",
		`"$BIN"/g${x}t push`:      "g*t",
		"$(which git) push":       "*",
		"/usr/bin/@(git|hg) push": "*",
		"xargs -I% % push":        "*",
		"x='a b'; $y$x push":      "**",
		"git push":                "",
		"x=git; $x push":          "",
	} {
		parts := Analyse(line, system).Parts
		last := parts[len(parts)-1]
		if last.ProgramPattern != want {
			t.Errorf("%s: %q, want %q", line, last.ProgramPattern, want)
		}
	}
}

// TestPatternsMayRun checks that a line shows which programs a variable may name, even
// by a pattern.
func TestPatternsMayRun(t *testing.T) {
	for _, line := range []string{
		"for i in /usr/bin/gi?; do $i push --force; done",
		`set -- /usr/bin/gi?; "$@" push --force`,
		`sh -c '"$@"' _ /usr/bin/gi? push --force`,
		`x=(/usr/bin/gi?); "${x[0]}" push --force`,
	} {
		parts := Analyse(line, system).Parts
		may := parts[len(parts)-1].MayRun
		if !slices.ContainsFunc(may, func(p cardea.Part) bool { return p.ProgramPattern == "gi?" && p.Text == "/usr/bin/gi? push --force" }) {
			t.Errorf("%s may run %v", line, may)
		}
	}
}
