package cli

import (
	"strings"
	"testing"

	"cardea.dev/packs"
)

// Every command of the packs matches when it is typed.
func TestPacksNameCommands(t *testing.T) {
	for _, r := range packs.Rules() {
		for _, c := range r.Match.Command {
			if text, hint := neverStarted(strings.Join(c, " ")); text != "" {
				t.Errorf("%s, %s: %s; %s", r.Source, r.ID, text, hint)
			}
		}
		for _, m := range r.Match.Any {
			for _, c := range m.Command {
				if text, hint := neverStarted(strings.Join(c, " ")); text != "" {
					t.Errorf("%s, %s: %s; %s", r.Source, r.ID, text, hint)
				}
			}
		}
	}
}

func TestNeverStarted(t *testing.T) {
	for _, c := range []struct{ command, word, hint string }{
		{"npm publish *", "no globs", "write command: npm publish, which"},
		{"npm publish:*", "no globs", "write command: npm publish, which"},
		{"npm run *:prod", "no globs", "write command: npm run, and args: '^.*:prod$'"},
		{"npm*", "no globs", "name the programs"},
		{"*", "no globs", "name the programs"},
		{"git push --force", "--force is an option", "write command: git push, and flags: [--force]"},
		{"git push && rm", `"&&" joins two`, "write command: git push, and another rule"},
		{"^git push", "plain words", "pattern:"},
		{"git push$", "plain words", "pattern:"},
		{"git 'push'", "plain words", "pattern:"},
		{"git-lfs push", "counts as git lfs", "write command: git lfs push"},
		{"some-tool deploy --now", "--now is an option", "flags: [--now]"},
	} {
		text, hint := neverStarted(c.command)
		if !strings.Contains(text, c.word) || !strings.Contains(hint, c.hint) {
			t.Errorf("%s: %q; %q", c.command, text, hint)
		}
	}
	for _, c := range []string{
		"npm publish",
		"git",
		"sudo apt install",
		"docker-compose up",
		"./gradlew build",
		"make",
		"kubectl delete pod",
		"[",
		"cd",
		"export",
		"source",
		"bash",
		"time",
		"xargs",
		"env",
		"find",
		"sh",
	} {
		if text, hint := neverStarted(c); text != "" {
			t.Errorf("%s: %q; %q", c, text, hint)
		}
	}
}
