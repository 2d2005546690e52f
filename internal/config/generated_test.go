package config

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cardea.dev"
)

// What settings protect is protected by rules of their scope, and the scope that
// said so, or a stronger one, takes it back.
func TestProtectedPaths(t *testing.T) {
	for _, tt := range []struct {
		name, project, user, line string
		want                      cardea.Effect
	}{
		{"nothing is said", "", "", "rm yarn.lock", cardea.Abstain},
		{"the person's", "", "policies: {protected: ['*.lock']}", "rm yarn.lock", cardea.Deny},
		{"in the root of the project alone", "", "policies: {protected: ['*.lock']}", "rm x/yarn.lock", cardea.Abstain},
		{"at any depth", "", "policies: {protected: ['**/*.lock']}", "rm x/yarn.lock", cardea.Deny},
		{"the project's", "policies: {protected: ['*.lock']}", "", "rm yarn.lock", cardea.Deny},
		{"both", "policies: {protected: [a]}", "policies: {protected: [b]}", "rm a", cardea.Deny},
		{"it is off", "", "policies: {protected: ['*.lock']}\npacks: {protected-paths: off}", "rm yarn.lock", cardea.Abstain},
		{"off by a project", "packs: {protected-paths: off}", "policies: {protected: ['*.lock']}", "rm yarn.lock", cardea.Deny},
		{"a folder by each spelling", "", "policies: {protected: [src/legacy/**]}", "rm -r src", cardea.Deny},
		{"brackets are letters", "", "policies: {protected: ['app/[id]/']}", "rm app/i/x", cardea.Abstain},
		{"brackets are letters", "", "policies: {protected: ['app/[id]/']}", "rm 'app/[id]/x'", cardea.Deny},
		{"everything", "", "policies: {protected: [/]}", "touch /srv/x", cardea.Deny},
		{"not known", "", "policies: {protected: [x]}", "rm \"$F\"", cardea.Ask},
		{"not known, and nothing protected", "", "", "rm \"$F\"", cardea.Abstain},
	} {
		s := newSite(t)
		s.user("cardea.yaml", tt.user+"\n")
		s.project("cardea.yaml", tt.project+"\n")
		s.where.Trust = all
		v := s.try(tt.line)
		if by := strings.HasSuffix(v.By, ":protected-paths"); v.Effect != tt.want && !(tt.want == cardea.Abstain && !by) || by != (tt.want != cardea.Abstain) {
			t.Errorf("%s: %q is %s by %s, not %s", tt.name, tt.line, v.Effect, v.By, tt.want)
		}
	}
}

// A line of a few kilobytes has tens of thousands of accesses, and a verdict that
// comes too late is none.
func TestProtectedPathsAreQuick(t *testing.T) {
	s := newSite(t)
	var names strings.Builder
	for i := range 20 {
		fmt.Fprintf(&names, ", lib%d/", i)
	}
	s.user("cardea.yaml", "policies: {protected: ['*.lock', 'docs/**/*.md'"+names.String()+"]}\n")
	begin := time.Now()
	if v := s.try("rm -f f{1..5000} g{1..4000} yarn.lock"); v.Effect != cardea.Deny {
		t.Errorf("%s by %s", v.Effect, v.By)
	}
	if d := time.Since(begin); d > 20*time.Second {
		t.Errorf("took %s", d)
	}
}
