package inforce_test

import (
	"os"
	"path/filepath"
	"testing"

	"cardea.dev"
	"cardea.dev/internal/harness/permissionlist"
)

func link(t *testing.T, to, at string) {
	t.Helper()
	mkdir(t, filepath.Dir(at))
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

// TestSettingsBehindLinks checks that settings behind links are guarded at their real
// place, not only by the names that the rules know.
func TestSettingsBehindLinks(t *testing.T) {
	s := newFixture(t)
	home, project := s.where.Dirs.Home, s.where.Project
	s.where.Dirs.State, s.where.Dirs.Claude = filepath.Join(home, "state/cardea"), filepath.Join(home, ".claude")
	s.where.Program = filepath.Join(home, "tools/cardea")
	s.where.Lists = []permissionlist.Source{{Origin: permissionlist.Origin{File: filepath.Join(home, ".claude/settings.json")}}}
	write(t, filepath.Join(home, "dots/more/team.yaml"), "rules: []\n")
	write(t, filepath.Join(home, "dots/claude.json"), "{}")
	for _, f := range []string{"dots/cardea/cardea.yaml", "real/cardea", "real/cardea-engine", "store/ledger/x.jsonl"} {
		write(t, filepath.Join(home, f), "")
	}
	for _, f := range []string{"conf/gate/policies/notes.txt", "conf/gate/lessons/allow.jsonl", "conf/other.yaml", "src/signals/x.sh"} {
		write(t, filepath.Join(project, f), "")
	}
	link(t, filepath.Join(home, "dots/cardea"), s.where.Dirs.User)
	link(t, "../../more/team.yaml", filepath.Join(home, "dots/cardea/rules/team.yaml"))
	link(t, filepath.Join(home, "dots/claude.json"), filepath.Join(home, ".claude/settings.json"))
	link(t, filepath.Join(home, "real"), filepath.Join(home, "tools"))
	link(t, filepath.Join(home, "store"), s.where.Dirs.State)
	link(t, "conf/gate", filepath.Join(project, ".cardea"))
	link(t, "../../src/signals", filepath.Join(project, "conf/gate/signals"))
	for _, c := range []struct {
		command string
		want    cardea.Effect
	}{
		{"echo x > ~/dots/cardea/cardea.yaml", cardea.Deny},
		{"echo x > ~/dots/cardea/rules/new.yaml", cardea.Deny},
		{"echo x > ~/dots/more/team.yaml", cardea.Deny},
		{"rm -rf ~/dots", cardea.Deny},
		{"echo x > ~/dots/claude.json", cardea.Deny},
		{"echo x > conf/gate/policies/notes.txt", cardea.Deny},
		{"rm conf/gate/policies/*", cardea.Deny},
		{"rm -rf conf", cardea.Deny},
		{"mv conf/gate conf/away", cardea.Deny},
		{"echo x > conf/gate/cardea.yaml", cardea.Deny},
		{"cp -r away/. conf/gate", cardea.Deny},
		{"git checkout HEAD conf/gate", cardea.Deny},
		{"find conf -name '*.rego' -delete", cardea.Deny},
		{"cp x conf/", cardea.Abstain},
		{"echo x > src/signals/x.sh", cardea.Deny},
		{"rm ~/store/ledger/x.jsonl", cardea.Deny},
		{"cat ~/store/key", cardea.Deny},
		{"echo x > ~/real/cardea-engine", cardea.Deny},
		{"mv ~/real ~/away", cardea.Deny},

		{"echo x > conf/other.yaml", cardea.Abstain},
		{"echo x >> conf/gate/lessons/allow.jsonl", cardea.Abstain},
		{"cat ~/store/ledger/x.jsonl", cardea.Abstain},
		{"echo x > ~/dots/more/other.yaml", cardea.Abstain},
		{"cp tool ~/real/tool", cardea.Abstain},
	} {
		if v := s.try(c.command); v.Effect != c.want {
			t.Errorf("%s: %s by %s, want %s", c.command, v.Effect, v.By, c.want)
		}
	}
}

// TestLinksOutOfTheProject checks that targets of a project's links outside of it are
// neither read nor guarded.
func TestLinksOutOfTheProject(t *testing.T) {
	s := newFixture(t)
	mkdir(t, filepath.Join(s.where.Dirs.Home, "notes"))
	link(t, filepath.Join(s.where.Dirs.Home, "notes"), filepath.Join(s.where.Project, ".cardea"))
	if v := s.try("echo x > ~/notes/cardea.yaml"); v.Effect != cardea.Abstain {
		t.Errorf("%s by %s", v.Effect, v.By)
	}
}
