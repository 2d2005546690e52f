package inforce_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cardea.dev"
)

// TestProtectedPaths checks that protected paths become rules of their scope, and that only
// this scope or a stronger one can switch them off.
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
		s := newFixture(t)
		s.user("cardea.yaml", tt.user+"\n")
		s.project("cardea.yaml", tt.project+"\n")
		s.where.Trust = all
		v := s.try(tt.line)
		if by := strings.HasSuffix(v.By, ":protected-paths"); v.Effect != tt.want && !(tt.want == cardea.Abstain && !by) || by != (tt.want != cardea.Abstain) {
			t.Errorf("%s: %q is %s by %s, not %s", tt.name, tt.line, v.Effect, v.By, tt.want)
		}
	}
}

// TestProtectedPathsAreQuick evaluates a line of a few kilobytes with tens of thousands of
// accesses. A late verdict has no effect.
func TestProtectedPathsAreQuick(t *testing.T) {
	s := newFixture(t)
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

// TestSensitivePaths checks that sensitive paths become rules of their scope, and that
// another spelling does not bypass them.
func TestSensitivePaths(t *testing.T) {
	const deny, ask = "sensitive: {deny_read: [deploy/prod.key, vault, '~/notes', '*.pem']}", "sensitive: {ask_read: [report.txt], ask_write: [db/]}"
	for _, tt := range []struct {
		settings, line string
		want           cardea.Effect
	}{
		{deny, "cat deploy/prod.key", cardea.Deny},
		{deny, "cat ./x/../deploy//prod.key", cardea.Deny},
		{deny, "cd deploy && cat prod.key", cardea.Deny},
		{deny, "cat deploy/*", cardea.Deny},
		{deny, "cat deploy/prod.?ey", cardea.Deny},
		{deny, "grep -r x deploy", cardea.Deny},
		{deny, "base64 < deploy/prod.key", cardea.Deny},
		{deny, "f=deploy/prod.key; cat $f", cardea.Deny},
		{deny, "cat link", cardea.Deny},
		{deny, "cat linked/prod.key", cardea.Deny},
		{deny, "cp deploy/prod.key x", cardea.Deny},
		{deny, "cp -r deploy x", cardea.Deny},
		{deny, "mv deploy/prod.key x", cardea.Deny},
		{deny, "ln deploy/prod.key x", cardea.Deny},
		{deny, "tar cf x.tar deploy", cardea.Deny},
		{deny, "bash deploy/prod.key", cardea.Deny},
		{deny, ". deploy/prod.key", cardea.Deny},
		{deny, "cat a/vault/b/c", cardea.Deny},
		{deny, "cat vault/c", cardea.Deny},
		{deny, "cat ~/notes/today", cardea.Deny},
		{deny, "cat $HOME/notes", cardea.Deny},
		{deny, "cat x/y/z.pem", cardea.Deny},
		{deny, "cat \"$F\"", cardea.Ask},
		{deny, "cat deploy/prod.key.md", cardea.Abstain},
		{deny, "cat README.md", cardea.Abstain},
		{deny, "echo x > deploy/prod.key", cardea.Abstain},
		{ask, "cat report.txt", cardea.Ask},
		{ask, "cat a/report.txt", cardea.Ask},
		{ask, "echo x > db/a", cardea.Ask},
		{ask, "rm -r db", cardea.Ask},
		{ask, "mv db elsewhere", cardea.Ask},
		{ask, "cat db/a", cardea.Abstain},
		{"sensitive: {exempt: [.env]}", "cat .env", cardea.Abstain},
		{"sensitive: {exempt: [.env]}", "cat .env.local", cardea.Ask},
		{"sensitive: {exempt: [.env]}", "cat .env .env.local", cardea.Ask},
		{"sensitive: {exempt: [.env]}", "cat .env*", cardea.Ask},
		{"sensitive: {exempt: [safe/.env]}", "cat safe/../.env", cardea.Ask},
		{"sensitive: {exempt: [safe/.env]}", "cat safe/.env", cardea.Abstain},
		{"sensitive: {exempt: [plain]}", "cat plain/.env", cardea.Abstain},
		{"sensitive: {exempt: [link]}", "cat link", cardea.Ask},
		{"sensitive: {exempt: ['**'], deny_read: [.env]}", "cat .env", cardea.Deny},
		{"sensitive: {exempt: ['**']}", "rm -rf ~/.config/cardea", cardea.Deny},
	} {
		s := newFixture(t)
		s.user("cardea.yaml", tt.settings+"\n")
		write(t, s.where.Project+"/deploy/prod.key", "key")
		write(t, s.where.Project+"/.env", "A=b")
		target := "deploy/prod.key"
		if strings.Contains(tt.settings, "exempt") {
			target = ".env"
		}
		for name, to := range map[string]string{"link": target, "linked": "deploy"} {
			if err := os.Symlink(to, filepath.Join(s.where.Project, name)); err != nil {
				t.Fatal(err)
			}
		}
		v := s.try(tt.line)
		if v.Effect != tt.want && !(tt.want == cardea.Abstain && v.Effect == cardea.Allow) {
			t.Errorf("%s: %q is %s by %s, not %s", tt.settings, tt.line, v.Effect, v.By, tt.want)
		}
		if strings.Contains(tt.settings, "_read: [dep") && tt.want == cardea.Deny && !slices.ContainsFunc(v.Opinions, func(o cardea.Opinion) bool {
			return o.By() == "rules:sensitive-deny-read" && strings.HasSuffix(o.Source, "cardea.yaml:1")
		}) {
			t.Errorf("%q is denied by %s", tt.line, v.By)
		}
	}
}

// TestSensitivePathsByScope checks that an untrusted project may only restrict, and that a
// weaker scope cannot exempt paths of a stronger one.
func TestSensitivePathsByScope(t *testing.T) {
	for _, tt := range []struct {
		name, user, project string
		trusted             bool
		want                cardea.Effect
	}{
		{"an untrusted project tightens", "", "sensitive: {deny_read: [x]}", false, cardea.Deny},
		{"a trusted one does", "", "sensitive: {deny_read: [x]}", true, cardea.Deny},
		{"a project exempts nothing", "sensitive: {deny_read: [x]}", "sensitive: {exempt: [x]}", true, cardea.Deny},
		{"a project switches the person's off", "sensitive: {deny_read: [x]}", "packs: {sensitive-paths: off}", true, cardea.Deny},
		{"the person takes it back", "sensitive: {deny_read: [x]}\npacks: {sensitive-paths: off}", "", true, cardea.Abstain},
		{"the person's exemption is for built-in rules", "sensitive: {exempt: [x]}", "sensitive: {deny_read: [x]}", true, cardea.Deny},
	} {
		s := newFixture(t)
		s.user("cardea.yaml", tt.user+"\n")
		s.project("cardea.yaml", tt.project+"\n")
		if tt.trusted {
			s.where.Trust = all
		}
		if v := s.try("cat x"); v.Effect != tt.want && !(tt.want == cardea.Abstain && v.Effect == cardea.Allow) {
			t.Errorf("%s: %s by %s", tt.name, v.Effect, v.By)
		}
	}
}
