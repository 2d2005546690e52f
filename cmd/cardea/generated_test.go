package main

import (
	"math/rand/v2"
	"strings"
	"testing"

	"cardea.dev/internal/testing/testrun"
)

// TestGeneratedDenies puts denied commands into places that run them, gives them other names,
// and adds lines around both. A harmless command is not stopped because of its place.
func TestGeneratedDenies(t *testing.T) {
	w := newWall(t, `"Bash(git push:*)","Bash(rm -rf:*)","Read(.env)"`)
	denied := []string{
		"git push",
		"git push --force origin main",
		"rm -rf x",
		"cat .env",
		"cat ./.env",
		"/usr/bin/git push",
		"command git push",
		"git -C . push",
		"ls; git push",
	}
	harmless := []string{"git status", "ls -la", "cat README.md", "git log -1"}
	r := rand.New(rand.NewPCG(1, 2))
	table := func(name string) []string { return testrun.Texts(t, "../../testdata/holes/"+name+".txt") }
	codePlaces, otherNames, lines := table("places"), table("names"), table("around")
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	for i := range testrun.Pick(300, 6_000) {
		if i%4 == 0 {
			if line := strings.ReplaceAll(pick(lines), "{L}", pick(otherNames)); !shut(w.here([]string{"try", "--json", "--", line})) {
				t.Errorf("not stopped: %q", line)
			}
			continue
		}
		place, around, expands := pick(codePlaces), pick(lines), pick([]string{"$({C})", "`{C}`"})
		put := func(command string) string {
			return strings.ReplaceAll(around, "{L}", strings.NewReplacer("{P}", strings.ReplaceAll(expands, "{C}", command), "{C}", command).Replace(place))
		}
		if line := put(pick(denied)); !shut(w.here([]string{"try", "--json", "--", line})) {
			t.Errorf("not stopped: %q", line)
		}
		if line := put(pick(harmless)); i%10 == 0 && shut(w.here([]string{"try", "--json", "--", line})) && !shut(w.here([]string{"try", "--json", "--", put("true")})) {
			t.Errorf("stopped: %q", line)
		}
	}
}
