package bash

import (
	"slices"
	"testing"

	"cardea.dev"
)

// TestEntriesAreDeleted checks that a word for all entries of a folder deletes its
// contents, however the line forms it.
func TestEntriesAreDeleted(t *testing.T) {
	for line, want := range map[string]string{
		`for f in ~/d/*; do rm -rf "$f"; done`:          "/home/u/d",
		`for f in ~/d/* ~/d/.*; do rm -rf $f; done`:     "/home/u/d",
		`x=(~/d/*); rm -rf "${x[@]}"`:                   "/home/u/d",
		`set -- ~/d/.[!.]*; rm -rf "$1"`:                "/home/u/d",
		`ls -A ~/d | xargs rm -rf`:                      "/home/u/d",
		`ls -d ~/d/* | xargs rm -rf`:                    "/home/u/d",
		`printf '%s\n' ~/d/* | xargs rm -rf`:            "/home/u/d",
		`echo ~/d/* | xargs rm -rf`:                     "/home/u/d",
		`rm -rf $(ls -d ~/d/*)`:                         "/home/u/d",
		`rm -rf ~/d/$(true)`:                            "/home/u/d",
		`rm -rf ~/d/$(echo)`:                            "/home/u/d",
		"rm -rf ~/d/`:`":                                "/home/u/d",
		`for f in ~/d/*.log; do rm -rf "$f"; done`:      "",
		`ls -d ~/d/*.log | xargs rm -rf`:                "",
		`rm -rf ~/d/$(date)`:                            "",
		`for f in ~/d/*; do rm -rf "$f/build"; done`:    "",
		`for f in ~/d/*; do cat "$f"; done; rm -rf ~/e`: "",
	} {
		parts := Analyse(line, system).Parts
		last := parts[len(parts)-1]
		got := slices.ContainsFunc(last.Access, func(a cardea.Access) bool {
			return a.Kind == cardea.Delete && slices.Contains([]string{"/home/u/d", "/home/u/d/"}, a.Spelled)
		})
		if got != (want != "") {
			t.Errorf("%s: %+v", line, last.Access)
		}
	}
}
