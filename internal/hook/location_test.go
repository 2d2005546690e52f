package hook

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"cardea.dev/internal/base/paths"
	"cardea.dev/internal/config/project"
)

// An agent can make a .git in the home folder or above it. That changes neither the project
// nor the person's rules, whether or not HOME matches the password database.
func TestRepositoryInHomeIsNoProject(t *testing.T) {
	for _, where := range []string{"home", "."} {
		for _, known := range []bool{true, false} {
			base := new(paths.Links).Real(t.TempDir())
			home := filepath.Join(base, "home")
			work := filepath.Join(home, "work")
			if err := os.MkdirAll(work, 0o755); err != nil {
				t.Fatal(err)
			}
			vars := map[string]string{"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, "settings")}
			m := project.Machine{OS: "linux", Env: func(k string) string { return vars[k] }, Home: func() (string, error) { return map[bool]string{true: home, false: "/elsewhere"}[known], nil },
				Foreign: func(string) bool { return false }}
			p := Process{Env: m.Env, Machine: m, Dir: work}
			own := filepath.Join(home, "settings", "cardea")
			if before := Locate(p, "claude-code", "s1", work); before.Project != work || before.Dirs.User != own {
				t.Fatalf("before: project %s, user's folder %s", before.Project, before.Dirs.User)
			}
			if err := os.Mkdir(filepath.Join(base, where, ".git"), 0o755); err != nil {
				t.Fatal(err)
			}
			after := Locate(p, "claude-code", "s1", work)
			if after.Project != work {
				t.Errorf("a repository in %s: the project is %s, want %s", where, after.Project, work)
			}
			if known && after.Dirs.User != own || !known && !slices.Contains(after.Dirs.Doubted, own) {
				t.Errorf("a repository in %s: %s does not count: %+v", where, own, after.Dirs)
			}
		}
	}
}
